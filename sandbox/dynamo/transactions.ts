import { EventEmitter } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { type HttpResponse, passRequestToServer } from '../exchange.ts'
import { guardHost } from '../listen.ts'
import { findItemsLimitError, findLimitError, itemSize, measureItemsInBytes } from './limits.ts'

type ExecuteAction = (action: string, input: object) => Promise<HttpResponse>

type Item = Readonly<Record<string, unknown>>

const Key = z.object({ pk: z.unknown(), sk: z.unknown() })
const Write = z.looseObject({ TableName: z.string() })
const PutWrite = Write.extend({ Item: Key.loose() })
const KeyedWrite = Write.extend({ Key })
const PlainWrite = z.union([PutWrite, KeyedWrite])
const BatchWrite = z.object({
  RequestItems: z.record(
    z.string(),
    z.array(
      z.union([z.object({ PutRequest: z.object({ Item: Key }) }), z.object({ DeleteRequest: z.object({ Key }) })]),
    ),
  ),
})
const Input = z.object({
  TransactItems: z.array(
    z.union([
      z.strictObject({ Put: PutWrite }),
      z.strictObject({ Update: KeyedWrite }),
      z.strictObject({ Delete: KeyedWrite }),
      z.strictObject({ ConditionCheck: KeyedWrite.extend({ ConditionExpression: z.string() }) }),
    ]),
  ),
  ClientRequestToken: z.string().optional(),
  ReturnConsumedCapacity: z.string().optional(),
})

/** Milliseconds for which DynamoDB remembers the idempotency token of a transaction. */
const KNOWN_MS = 600_000

const PLAIN_WRITES: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem'])

/** Settings by which tests control transactions. */
export type TransactionSettings = {
  /** Promise that transactions await before they write; undefined for no wait. */
  hold: Promise<unknown> | undefined
}

/**
 * Adds transactions and DynamoDB's limits to dynalite, which lacks both. Other requests wait while a transaction
 * writes. While `hold` delays the transaction, they do not wait and read the old values. A write to an item of a
 * running transaction fails. The idempotency token of a running transaction is rejected. A repeated request with the
 * token of a completed transaction succeeds without writing. `now` returns epoch milliseconds. Source:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
export function addTransactions(server: EventEmitter, { now }: { readonly now: () => number }): TransactionSettings {
  measureItemsInBytes()
  const dynalite = new EventEmitter()
  for (const listener of server.listeners('request')) {
    // The cast is safe: request listeners take a request and a response.
    dynalite.on('request', listener as (request: unknown, response: unknown) => void)
  }
  server.removeAllListeners('request')

  const transactions: TransactionSettings = { hold: undefined }
  const underWay = new Set<Promise<unknown>>()
  let writingTransaction: Promise<unknown> | undefined
  /** Running transactions by the keys of their items. */
  const busy = new Map<string, Promise<unknown>>()
  const completed = new Map<string, { readonly items: unknown; readonly at: number }>()
  const begun = new Set<string>()

  /** Runs `make` after all running requests have ended. Later requests wait until `make` has ended. */
  const runExclusively = async (make: () => Promise<HttpResponse>): Promise<HttpResponse> => {
    while (writingTransaction) await writingTransaction
    const answer = Promise.allSettled(underWay).then(make)
    writingTransaction = Promise.allSettled([answer]).then(() => {
      writingTransaction = undefined
    })
    return await answer
  }

  const write = async (headers: IncomingMessage['headers'], input: unknown): Promise<HttpResponse> => {
    const parsed = Input.safeParse(input)
    // DynamoDB's response to actions that it cannot parse is undocumented, and the SDK never sends such actions.
    if (!parsed.success) return refusal('ValidationException', parsed.error.message)
    const {
      TransactItems: items,
      ClientRequestToken: token,
      ReturnConsumedCapacity: returnCapacity = 'NONE',
    } = parsed.data
    const capacity = (units: number) =>
      returnCapacity === 'NONE'
        ? {}
        : { ConsumedCapacity: [{ TableName: writes[0]?.location.TableName, CapacityUnits: units }] }
    const writes = items.map(describe)
    const keys = writes.map(({ location }) => keyOf(location))
    if (new Set(keys).size < keys.length) {
      return refusal('ValidationException', 'Transaction request cannot include multiple operations on one item')
    }
    if (token !== undefined && begun.has(token)) {
      return refusal('TransactionInProgressException', 'The transaction with the given request token is in progress.')
    }
    if (keys.some((key) => busy.has(key))) {
      return cancel(keys.map((key) => (busy.has(key) ? { Code: 'TransactionConflict', Message: ONGOING } : NONE)))
    }
    const act: ExecuteAction = (action, input) =>
      passRequestToServer(dynalite, {
        headers: { ...headers, 'x-amz-target': `DynamoDB_20120810.${action}` },
        body: JSON.stringify(input),
      })
    if (token !== undefined) begun.add(token)
    const make = async () => {
      const earlier = token === undefined ? undefined : completed.get(token)
      if (earlier && now() - earlier.at < KNOWN_MS) {
        if (isDeepStrictEqual(earlier.items, items)) return success(capacity(0))
        return refusal('IdempotentParameterMismatchException', 'The token is of another transaction')
      }
      const answer = await makeAll(act, writes, (units) => success(capacity(units)))
      if (answer.status === 200 && token !== undefined) completed.set(token, { items, at: now() })
      return answer
    }
    const mine = Promise.allSettled([transactions.hold]).then(() => runExclusively(make))
    for (const key of keys) busy.set(key, mine)
    return await mine.finally(() => {
      for (const key of keys) busy.delete(key)
      if (token !== undefined) begun.delete(token)
    })
  }

  const serve = async (headers: IncomingMessage['headers'], bytes: Buffer): Promise<HttpResponse> => {
    const [, action = ''] = String(headers['x-amz-target']).split('.')
    const body = bytes.toString()
    // The body is decoded as latin1, where each byte is one character, so that counting characters counts bytes.
    const excess = findLimitError(bytes.toString('latin1'))
    if (excess !== undefined) return refusal('ValidationException', excess)
    if (action === 'TransactWriteItems') return await write(headers, JSON.parse(body))
    if (busy.size > 0 && PLAIN_WRITES.has(action) && busy.has(keyOf(locationOf(PlainWrite.parse(JSON.parse(body)))))) {
      return refusal('TransactionConflictException', ONGOING)
    }
    // DynamoDB's documentation does not cover a batch write to an item in a running transaction; here the batch waits.
    if (busy.size > 0 && action === 'BatchWriteItem') {
      const locations = locationsOf(BatchWrite.parse(JSON.parse(body)))
      await Promise.allSettled(locations.map((location) => busy.get(keyOf(location))))
    }
    while (writingTransaction) await writingTransaction
    const answer = passRequestToServer(dynalite, { headers, body })
    underWay.add(answer)
    return await answer.finally(() => underWay.delete(answer))
  }

  const answer: RequestListener = (request, response) => {
    void buffer(request)
      .then((bytes) => serve(request.headers, bytes))
      .catch((error: unknown): HttpResponse => ({ status: 500, headers: {}, text: String(error) }))
      .then(({ status, headers, text }) => {
        response.statusCode = status
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value))
        response.end(text)
      })
  }
  server.on('request', guardHost(answer))
  return transactions
}

type ItemLocation = { readonly TableName: string; readonly Key: z.output<typeof Key> }

function locationOf({ TableName, ...input }: z.output<typeof PlainWrite>): ItemLocation {
  return { TableName, Key: Key.parse('Item' in input ? input.Item : input.Key) }
}

function locationsOf({ RequestItems: batches }: z.output<typeof BatchWrite>): ItemLocation[] {
  return Object.entries(batches).flatMap(([TableName, writes]) =>
    writes.map((write) =>
      locationOf({ TableName, ...('PutRequest' in write ? write.PutRequest : write.DeleteRequest) }),
    ),
  )
}

function keyOf({ TableName, Key: { pk, sk } }: ItemLocation): string {
  return JSON.stringify([TableName, pk, sk])
}

type Described = {
  readonly action: string
  readonly input: object
  readonly location: ItemLocation
  readonly isCheck: boolean
}

function describe(item: z.output<typeof Input>['TransactItems'][number]): Described {
  const [[name, write] = ['', undefined]] = Object.entries(item)
  const input = PlainWrite.parse(write)
  return {
    // dynalite has no condition checks. A check is executed as a conditional deletion, which is then undone.
    action: name === 'ConditionCheck' ? 'DeleteItem' : `${name}Item`,
    input,
    location: locationOf(input),
    isCheck: name === 'ConditionCheck',
  }
}

async function makeAll(
  act: ExecuteAction,
  writes: readonly Described[],
  respond: (units: number) => HttpResponse,
): Promise<HttpResponse> {
  const done: { readonly answer: HttpResponse; readonly size: number; readonly undo: () => Promise<unknown> }[] = []
  const read = async (location: ItemLocation): Promise<Item | undefined> => {
    const { text } = await act('GetItem', { ...location, ConsistentRead: true })
    return JSON.parse(text).Item
  }
  for (const { action, input, location, isCheck } of writes) {
    const { TableName, Key } = location
    const before = await read(location)
    const undo = () => (before ? act('PutItem', { TableName, Item: before }) : act('DeleteItem', { TableName, Key }))
    const answer = await act(action, input)
    if (answer.status === 200 && isCheck) await undo()
    const item = (await read(location)) ?? before ?? Key
    const size = itemSize(item)
    done.push({ answer, size, undo: async () => answer.status === 200 && !isCheck && (await undo()) })
  }
  const excess = findItemsLimitError(done.map(({ size }) => size))
  if (excess === undefined && done.every(({ answer }) => answer.status === 200)) {
    // A write in a transaction consumes twice as many capacity units as a single write.
    return respond(done.reduce((sum, { size }) => sum + 2 * Math.max(1, Math.ceil(size / 1024)), 0))
  }
  for (const { undo } of done) await undo()
  if (excess !== undefined) return refusal('ValidationException', excess)
  const reasons = done.map(({ answer }) => reasonOf(answer))
  const failed = done.find((_, index) => reasons[index] === undefined)
  return failed ? failed.answer : cancel(reasons.flatMap((reason) => reason ?? []))
}

type Reason = { readonly Code: string; readonly Message?: string }

const NONE: Reason = { Code: 'None' }
const ONGOING = 'Transaction is ongoing for the item'

/** Pattern of error messages that DynamoDB reports as the reason of a cancelled transaction. Other errors reject the whole request. */
const FOUND_LATE = /^Item size to update|Type mismatch for|does not match the schema/

/** Returns the cancellation reason for a failed write; undefined for an error that rejects the whole request. */
function reasonOf({ status, text }: HttpResponse): Reason | undefined {
  if (status === 200) return NONE
  const { __type: type, message }: { __type: string; message: string } = JSON.parse(text)
  if (type.endsWith('#ConditionalCheckFailedException')) return { Code: 'ConditionalCheckFailed', Message: message }
  return FOUND_LATE.test(message) ? { Code: 'ValidationError', Message: message } : undefined
}

function success(body: object): HttpResponse {
  return { status: 200, headers: {}, text: JSON.stringify(body) }
}

function refusal(type: string, message: string, more: object = {}): HttpResponse {
  const text = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more })
  return { status: 400, headers: {}, text }
}

function cancel(reasons: readonly Reason[]): HttpResponse {
  const codes = reasons.map(({ Code }) => Code).join(', ')
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`
  return refusal('TransactionCanceledException', message, { CancellationReasons: reasons })
}
