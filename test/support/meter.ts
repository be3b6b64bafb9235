import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import { vi } from 'vitest'
import * as z from 'zod'
import { dynamoClient } from '../../lib/aws/dynamo.ts'
import { connectOperator } from '../../lib/aws/operator-table.ts'
import type { Fetch } from '../../lib/core/outbound.ts'
import type { Send } from '../../lib/webhooks/send.ts'
import { localConfig } from '../../sandbox/dynamo.ts'
import { sendHttpRequest } from '../../sandbox/exchange.ts'
import { createRoundScheduler, type Rounds } from './rounds.ts'

/** Counted request that a Lambda container of the service sent. */
export type MeteredRequest = {
  readonly kind: 'table' | 'secrets' | 'queue' | 'rpc' | 'sources'
  /** Requested operations: an AWS action, all methods of a JSON-RPC batch, or the first path segment of an HTTP API. */
  readonly operations: readonly string[]
  /** Consumed DynamoDB capacity units, 0 for other services. */
  readonly units: number
  /**
   * Number of the round trip. Requests with the same number are sent together, so none of them waits for another's response.
   */
  readonly round: number
}

/** Counts the requests that Lambda containers in this process send. */
export type Meter = {
  /** Returns the requests that `work` causes, including requests that continue after its promise resolves. */
  during(work: () => Promise<unknown>): Promise<MeteredRequest[]>
  stop(): void
}

/** Blockchain node. `before` runs before each of the node's responses. */
export type ChainNode = { readonly url: string; readonly before: () => Promise<unknown> }

type Options = {
  /** URL of the DynamoDB server. Requests to this URL count as table requests. */
  readonly tables: string
  /** Returns the local node that replaces a configured node URL. */
  readonly nodeAt: (url: string) => ChainNode | undefined
}

type AwsRequest = {
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

const Call = z.object({ jsonrpc: z.string(), method: z.string() })
const Calls = z.union([z.array(Call), Call.transform((call) => [call])])

const Capacity = z.object({ CapacityUnits: z.number() })
const Consumed = z.object({
  ConsumedCapacity: z.union([z.array(Capacity), Capacity.transform((capacity) => [capacity])]).default([]),
})

const MOCKED = [
  'node:timers/promises',
  '../../lib/core/outbound.ts',
  '../../lib/aws/client-defaults.ts',
  '../../lib/webhooks/send.ts',
]

/**
 * Counts the requests of containers that load from now on, grouped into round trips. Time stands still for the containers'
 * timers. So no deadline passes and no hedged (duplicate) request is sent.
 */
export function startMeter({ tables, nodeAt }: Options): Meter {
  const rounds = createRoundScheduler()
  const metered: MeteredRequest[] = []
  const note = (kind: MeteredRequest['kind'], operations: readonly string[], units = 0) =>
    metered.push({ kind, operations, units, round: rounds.current() })

  const fetchDirectly: Fetch = (url, { method = 'GET', headers, body }) =>
    rounds.ask(async () => {
      const calls = body ? parseCalls(body) : undefined
      note(calls ? 'rpc' : 'sources', calls ?? [new URL(url).pathname.split('/')[1] ?? ''])
      const node = nodeAt(url)
      await node?.before()
      const answer = await sendHttpRequest(node?.url ?? url, { method, headers, ...(body !== undefined && { body }) })
      const get = (name: string) => answer.headers[name]?.toString() ?? null
      return {
        status: answer.status,
        headers: { get },
        body: Object.assign(Readable.from([answer.bytes]), { cancel: async () => {} }),
      }
    })

  const requestHandler = {
    handle: ({ hostname, port, path, headers, body }: AwsRequest) =>
      rounds.ask(async () => {
        const [service = '', action = ''] = (headers['x-amz-target'] ?? '').split('.')
        const kind = service.startsWith('DynamoDB') ? 'table' : service === 'secretsmanager' ? 'secrets' : 'queue'
        const isTable = kind === 'table'
        const sent = isTable ? JSON.stringify({ ...JSON.parse(`${body}`), ReturnConsumedCapacity: 'TOTAL' }) : body
        const { 'content-length': _, ...others } = headers
        const answer = await sendHttpRequest(`http://${hostname}:${port}${path}`, { headers: others, body: sent })
        note(kind, [action], isTable ? unitsIn(action, `${body}`, answer.text) : 0)
        return {
          response: { statusCode: answer.status, headers: answer.headers, body: Readable.from([answer.bytes]) },
        }
      }),
    destroy: () => {},
  }

  vi.doMock('node:timers/promises', async (importOriginal) => ({
    ...(await importOriginal<object>()),
    // Timers with `ref: false` are deadlines and hedged requests. They never fire while requests are counted.
    setTimeout: (milliseconds: number, value: unknown, { ref = true }: { readonly ref?: boolean } = {}) =>
      ref ? rounds.sleep(milliseconds).then(() => value) : new Promise(() => {}),
  }))
  vi.doMock('../../lib/core/outbound.ts', async (importOriginal) => ({
    ...(await importOriginal<object>()),
    fetchDirectly,
  }))
  vi.doMock('../../lib/aws/client-defaults.ts', async (importOriginal) => {
    const original = await importOriginal<typeof import('../../lib/aws/client-defaults.ts')>()
    return { CLIENT_DEFAULTS: { ...original.CLIENT_DEFAULTS, requestHandler } }
  })
  vi.doMock('../../lib/webhooks/send.ts', async (importOriginal) => {
    const original = await importOriginal<typeof import('../../lib/webhooks/send.ts')>()
    const createSender = (options: Parameters<typeof original.createSender>[0]): Send => {
      const send = original.createSender(options)
      return (...delivery) => rounds.ask(() => send(...delivery))
    }
    return { ...original, createSender }
  })
  const { functionsDatabase } = globalThis
  const client = dynamoClient({ ...localConfig(tables), requestHandler })
  globalThis.functionsDatabase = connectOperator(client)
  const restoreThreads = watchThreads(rounds)
  return {
    async during(work) {
      const before = metered.length
      await work()
      await rounds.settle()
      return metered.slice(before)
    },
    stop() {
      restoreThreads()
      client.destroy()
      globalThis.functionsDatabase = functionsDatabase
      for (const path of MOCKED) vi.doUnmock(path)
    },
  }
}

/** Makes round trips wait for crypto work on other threads. Returns a function that restores `crypto`. */
function watchThreads(rounds: Rounds): () => void {
  const { scrypt } = crypto
  const { digest, importKey, verify } = crypto.subtle
  const watched =
    <Args extends unknown[], T>(compute: (...args: Args) => Promise<T>) =>
    (...args: Args) =>
      rounds.during(compute.apply(crypto.subtle, args))
  Object.assign(crypto.subtle, { digest: watched(digest), importKey: watched(importKey), verify: watched(verify) })
  crypto.scrypt = ((password, salt, length, options, callback) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    void rounds.during(promise)
    // The cast is safe because the service calls only this overload of scrypt.
    scrypt(password, salt, length, options, (error, key) => {
      resolve()
      callback(error, key)
    })
  }) as typeof scrypt
  syncBuiltinESMExports()
  return () => {
    for (const name of ['digest', 'importKey', 'verify']) Reflect.deleteProperty(crypto.subtle, name)
    crypto.scrypt = scrypt
    syncBuiltinESMExports()
  }
}

function parseCalls(body: string): string[] | undefined {
  return Calls.safeParse(JSON.parse(body)).data?.map(({ method }) => method)
}

/**
 * Computes the capacity units of a request. DynamoDB charges at least half a unit for a read, and one for a consistent
 * read or a write. A request costs the same if its item is missing or its condition fails.
 */
function unitsIn(action: string, requestBody: string, answer: string): number {
  const { success, data } = Consumed.safeParse(JSON.parse(answer))
  const units = success ? data.ConsumedCapacity.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0) : 0
  return Math.max(units, isReading(action) && !requestBody.includes('"ConsistentRead":true') ? 0.5 : 1)
}

/** Returns true for a DynamoDB action that reads. */
export function isReading(action: string): boolean {
  return /(Get|BatchGet)Item$|Query$|Scan$/.test(action)
}
