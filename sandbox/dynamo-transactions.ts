import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { type Answer, handTo } from './exchange.ts'

/** Has one action of DynamoDB's done. */
type Act = (action: string, input: object) => Promise<Answer>

type Item = Readonly<Record<string, unknown>>

const Key = z.object({ pk: z.unknown(), sk: z.unknown() })
const Write = z.looseObject({ TableName: z.string() })
const Input = z.object({
  TransactItems: z
    .array(
      z.union([
        z.strictObject({ Put: Write.extend({ Item: Key.loose() }) }),
        z.strictObject({ Update: Write.extend({ Key }) }),
        z.strictObject({ Delete: Write.extend({ Key }) }),
        z.strictObject({ ConditionCheck: Write.extend({ Key, ConditionExpression: z.string() }) }),
      ]),
    )
    .min(1)
    .max(100),
  ClientRequestToken: z.string().optional(),
})

/** For so long DynamoDB knows a transaction by its token. */
const KNOWN_MS = 600_000

const TRANSACTION = 'DynamoDB_20120810.TransactWriteItems'

/**
 * Has a server of dynalite's make transactions, which it lacks: all of their writes or none, one transaction after the other,
 * while all other requests wait. One that comes while another of the same items is under way is refused, and one that was made
 * or is under way is not made again for the same token. `now` is in epoch milliseconds.
 */
export function addTransactions(server: EventEmitter, { now }: { readonly now: () => number }): void {
  const dynalite = new EventEmitter()
  for (const listener of server.listeners('request')) {
    // What listens to a server's requests takes a request and a response.
    dynalite.on('request', listener as (request: unknown, response: unknown) => void)
  }
  server.removeAllListeners('request')

  const underWay = new Set<Promise<unknown>>()
  const track = <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work)
    return work.finally(() => underWay.delete(work))
  }
  let last: Promise<unknown> | undefined
  const busy = new Set<string>()
  const made = new Map<string, { readonly items: unknown; readonly at: number }>()
  const begun = new Set<string>()

  const write = async (headers: IncomingMessage['headers'], body: string): Promise<Answer> => {
    const parsed = Input.safeParse(JSON.parse(body))
    if (!parsed.success) return refusal('ValidationException', parsed.error.message)
    const { TransactItems: items, ClientRequestToken: token } = parsed.data
    const writes = items.map(describe)
    const keys = writes.map(({ key }) => key)
    if (new Set(keys).size < keys.length) {
      return refusal('ValidationException', 'Transaction request cannot include multiple operations on one item')
    }
    if (token !== undefined && begun.has(token)) {
      return refusal('TransactionInProgressException', 'The transaction with the given request token is in progress.')
    }
    if (keys.some((key) => busy.has(key))) {
      return cancel(keys.map((key) => (busy.has(key) ? 'TransactionConflict' : 'None')))
    }
    const act: Act = (action, input) =>
      handTo(dynalite, {
        headers: { ...headers, 'x-amz-target': `DynamoDB_20120810.${action}` },
        body: JSON.stringify(input),
      })
    for (const key of keys) busy.add(key)
    if (token !== undefined) begun.add(token)
    const mine = Promise.allSettled([...underWay, last]).then(async () => {
      const known = token === undefined ? undefined : made.get(token)
      if (known && now() - known.at < KNOWN_MS) {
        if (isDeepStrictEqual(known.items, items)) return success()
        return refusal('IdempotentParameterMismatchException', 'The token is of another transaction')
      }
      const answer = await makeAll(act, writes)
      if (answer.status === 200 && token !== undefined) made.set(token, { items, at: now() })
      return answer
    })
    last = mine
    return await mine.finally(() => {
      for (const key of keys) busy.delete(key)
      if (token !== undefined) begun.delete(token)
      if (last === mine) last = undefined
    })
  }

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { headers } = request
    const isTransaction = headers['x-amz-target'] === TRANSACTION
    if (!isTransaction && !last) {
      void track(endOf(response))
      dynalite.emit('request', request, response)
      return
    }
    const answer = bodyOf(request).then(async (body) => {
      if (isTransaction) return await write(headers, body)
      await last
      return await handTo(dynalite, { headers, body })
    })
    void (isTransaction ? answer : track(answer)).then(({ status, headers, text }) => {
      response.statusCode = status
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value))
      response.end(text)
    })
  })
}

/** What ends with a response. */
function endOf(response: ServerResponse): Promise<void> {
  const { end } = response
  return new Promise((resolve) => {
    response.end = (...args: unknown[]) => {
      resolve()
      // The arguments are those that `end` itself was given.
      return Reflect.apply(end, response, args)
    }
    // Whoever asked may have gone. A request that is handed over has no connection.
    if (response instanceof EventEmitter) response.once('close', resolve)
  })
}

/** The body of a request, also of one that is handed over. */
function bodyOf(request: EventEmitter): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks).toString()))
  })
}

type Described = {
  readonly key: string
  readonly action: string
  readonly input: object
  readonly place: { readonly TableName: string; readonly Key: z.output<typeof Key> }
  /** Whether it only looks. */
  readonly isCheck: boolean
}

function describe(item: z.output<typeof Input>['TransactItems'][number]): Described {
  const [[name, input] = ['', undefined]] = Object.entries(item)
  const { TableName, ...rest } = Write.parse(input)
  const { pk, sk } = Key.parse('Item' in rest ? rest['Item'] : rest['Key'])
  return {
    key: JSON.stringify([TableName, pk, sk]),
    // A condition alone is tried by a deletion that is undone.
    action: name === 'ConditionCheck' ? 'DeleteItem' : `${name}Item`,
    input: { TableName, ...rest },
    place: { TableName, Key: { pk, sk } },
    isCheck: name === 'ConditionCheck',
  }
}

/** Makes each write, and undoes all where one was refused. */
async function makeAll(act: Act, writes: readonly Described[]): Promise<Answer> {
  const done: { readonly answer: Answer; readonly undo: () => Promise<unknown> }[] = []
  for (const { action, input, place, isCheck } of writes) {
    const { TableName, Key } = place
    const { text } = await act('GetItem', { ...place, ConsistentRead: true })
    const { Item: before }: { Item?: Item } = JSON.parse(text)
    const undo = () => (before ? act('PutItem', { TableName, Item: before }) : act('DeleteItem', { TableName, Key }))
    const answer = await act(action, input)
    if (answer.status === 200 && isCheck) await undo()
    done.push({ answer, undo: async () => answer.status === 200 && !isCheck && (await undo()) })
  }
  if (done.every(({ answer }) => answer.status === 200)) return success()
  for (const { undo } of done) await undo()
  const isOfCondition = ({ status, text }: Answer) => status === 200 || text.includes('ConditionalCheckFailedException')
  const failed = done.map(({ answer }) => answer).find((answer) => !isOfCondition(answer))
  return failed ?? cancel(done.map(({ answer }) => (answer.status === 200 ? 'None' : 'ConditionalCheckFailed')))
}

function success(): Answer {
  return { status: 200, headers: {}, text: '{}' }
}

function refusal(type: string, message: string, more: object = {}): Answer {
  const text = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more })
  return { status: 400, headers: {}, text }
}

function cancel(codes: readonly string[]): Answer {
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`
  return refusal('TransactionCanceledException', message, { CancellationReasons: codes.map((Code) => ({ Code })) })
}
