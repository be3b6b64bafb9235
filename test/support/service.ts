import {
  type Address,
  formatTransactionReceipt,
  type Hash,
  parseGwei,
  type RpcTransactionReceipt,
  type TransactionReceipt,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { test as base, vi } from 'vitest'
import type { Admin } from '../../admin/admin.ts'
import { type Preparation, preparationOf, verifyTransactions } from '../../client/src/verify.ts'
import type { KeyLimits } from '../../lib/clients/key-limits.ts'
import { isSigned } from '../../lib/frame/contract.ts'
import type { Vault } from '../../lib/vaults/vault.ts'
import { ACCOUNTS, type LocalAccount } from '../../sandbox/accounts.ts'
import { type Backends, type BackendsOptions, startBackends } from '../../sandbox/backends.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import { exchange, type HttpResponse } from '../../sandbox/exchange.ts'
import { startGateway } from '../../sandbox/gateway.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { checkInterface } from '../interface/interface.ts'
import { NO_RATE, someClient, someKey } from './clients.ts'
import { findEndpoint } from './examples.ts'
import { isSignedBy } from './http-signatures.ts'
import { type MemoryDynamo, memoryDynamo } from './memory-dynamo.ts'
import { createChainSnapshots, createRestore, type Restore } from './restore.ts'
import { createTableSnapshots, openTables, type Tables, TEST_TABLES } from './tables.ts'
import { startWire, type Wire } from './wire.ts'

/** An HTTP response as a caller sees it. */
export type HttpReply = {
  readonly status: number
  readonly headers: Headers
  // Tests read response bodies freely; the endpoint contracts check their shape.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

/** A transaction as the service's responses contain it. */
export type HandedOut = { readonly to: Address; readonly data: Hash; readonly value: string }

/** The whole service from outside: its HTTP interface, its chains, and a proxy in front of each chain. */
export type Service = {
  readonly backends: Backends
  readonly baseUrl: string
  /** API key of the first client, which has all vaults. */
  readonly apiKey: string
  readonly rpc: Readonly<Record<number, Wire>>
  /** DynamoDB as the service's functions reach it, with their recorded requests, and faults that tests switch on. */
  readonly table: MemoryDynamo
  /** The same tables, opened without faults and recording. */
  readonly tables: Tables
  /** Calls the service, by default with the first client's key; `key: null` sends none. */
  call(method: string, path: string, options?: CallOptions): Promise<HttpReply>
  createClient(vaults: readonly Pick<Vault, 'chainId' | 'address'>[], limits?: KeyLimits): Promise<string>
  /** Runs the functions that consume queues until all queues are empty. Returns the number of messages. */
  consume(): Promise<number>
  /** Advances the clock of all containers by this many seconds. Reads that requests share expire after half a second. */
  readonly pass: (seconds: number) => void
  /** Runs `work` while the containers' clock stands still, except for `pass`, however slow the machine is. */
  standingStill<T>(work: () => Promise<T>): Promise<T>
  /** Restores the chains, the clients with their vaults, the records and the users to a named state, which it builds at first. */
  readonly restore: Restore
  /** Signs and sends transactions in order as an ordinary wallet does. Returns the receipts, also of reverted transactions. */
  send(chainId: number, user: LocalAccount, transactions: readonly HandedOut[]): Promise<TransactionReceipt[]>
}

/** Options of an HTTP call. `body` is sent as JSON, unless it is text or bytes. */
type CallOptions = { readonly key?: string | null; readonly body?: unknown; readonly headers?: Record<string, string> }

/** Tests of the running service, with one service per test file. All proxies forward faithfully again before each test. */
export const test = base
  .extend('backendsOptions', { scope: 'file' }, (): BackendsOptions => ({}))
  .extend('sharedService', { scope: 'file' }, async ({ backendsOptions }, { onCleanup }) => {
    const { service, stop } = await startService(backendsOptions)
    onCleanup(stop)
    return service
  })
  .extend('service', ({ sharedService }) => {
    for (const wire of [...Object.values(sharedService.rpc), sharedService.table]) wire.reset()
    return sharedService
  })
  /** Clock of containers that start later. A test must request it before they start. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('clock', ({}, { onCleanup }) => {
    const { now } = Date
    let passed = 0
    Date.now = () => now() + passed
    onCleanup(() => {
      Date.now = now
      // Requests that started meanwhile may still read this clock, so its advance is reset.
      passed = 0
    })
    return {
      pass(seconds: number) {
        passed += seconds * 1000
      },
    }
  })
  /** The same service in new containers, whose memory is empty and which read their configuration again. */
  .extend('coldService', async ({ service }, { onCleanup }): Promise<Service> => {
    const cold = await startAnew(service)
    onCleanup(cold.stop)
    return cold.service
  })

/**
 * Starts the same service in new containers, whose memory is empty and which read their environment and configuration again. A
 * function loads at its first request, and throws if newer containers have started by then. With `isWhole` all functions load
 * now.
 */
export async function startAnew(
  service: Service,
  { isWhole = false } = {},
): Promise<{ service: Service; stop: () => Promise<void> }> {
  vi.resetModules()
  const { startGateway, loadHandler } = await import('../../sandbox/gateway.ts')
  const load = async (name: string) => {
    const newest = await import('../../sandbox/gateway.ts')
    if (newest.loadHandler !== loadHandler) throw new Error(`${name} is first asked when there are newer containers.`)
    return await loadHandler(name)
  }
  const handlers = new Map<string, ReturnType<typeof loadHandler>>()
  const handlerOf = (name: string) => {
    const handler = handlers.get(name) ?? load(name)
    handlers.set(name, handler)
    return handler
  }
  const { url: baseUrl, consume, stop } = await startGateway({ ...GATEWAY, ...(!isWhole && { handlerOf }) })
  return { service: { ...service, baseUrl, consume, call: callerOf({ ...service, baseUrl }) }, stop }
}

/** Settings of the API gateway in tests. */
export const GATEWAY = {
  port: 0,
  cors: { allowOrigins: ['https://wallet.example', 'http://localhost:3000'] },
  schedule: false,
}

/** A URL where no server listens: requests fail if they do not use the database in memory. */
const NOWHERE = 'http://127.0.0.1:1'

async function startService(options: BackendsOptions): Promise<{ service: Service; stop: () => Promise<void> }> {
  const { now } = Date
  let passed = 0
  let standing: number | undefined
  Date.now = () => (standing ?? now()) + passed
  const table = memoryDynamo()
  // A test with its own database leaves this undefined, so that the functions reach DynamoDB over HTTP.
  globalThis.functionsDatabase = options.database ? undefined : table.dynamo
  const database = { endpoint: NOWHERE, tableNames: TEST_TABLES, connection: table.direct, stop: async () => {} }
  const backends = await startBackends({ database, ...options })
  const wires = await Promise.all(
    backends.chains.map(async ({ chainId, rpcUrl }) => [chainId, await startWire(rpcUrl)] as const),
  )
  const rpc = Object.fromEntries(wires)
  backends.setRpcUrls(Object.fromEntries(wires.map(([chainId, { url }]) => [chainId, [url]])))
  Object.assign(process.env, backends.environment, { SERVICE_VERSION: '0.0.0-test' })
  const gateway = await startGateway(GATEWAY)
  const { url: baseUrl } = gateway

  const tables = openTables(backends.dynamo.connection, backends.dynamo.tableNames)
  const createClient = clientCreator(backends.admin)
  const apiKey = await createClient(backends.chains.flatMap(({ vaults }) => vaults.map(placeOf)))

  const service: Service = {
    backends,
    baseUrl,
    apiKey,
    rpc,
    table,
    tables,
    call: callerOf({ baseUrl, apiKey, backends }),
    createClient,
    consume: () => gateway.consume(),
    pass(seconds) {
      passed += seconds * 1000
    },
    async standingStill(work) {
      standing = now()
      return await work().finally(() => {
        standing = undefined
      })
    },
    restore: createRestore([
      ...backends.chains.map(createChainSnapshots),
      ...[tables.clients, tables.deposits, tables.users, tables.webhooks].map(createTableSnapshots),
    ]),
    send: senderOn(backends.chains),
  }
  const stop = async () => {
    Date.now = now
    await gateway.stop()
    await Promise.all([...Object.values(rpc), backends].map((part) => part.stop()))
  }
  return { service, stop }
}

/** Returns a function that creates a client with these vaults and returns its key. It skips the checks of an operator's commands. */
function clientCreator({ clients, describeVault }: Admin): Service['createClient'] {
  return async (places, limits = NO_RATE) => {
    const client = someClient()
    const { clientId } = client
    const { text, key } = someKey(clientId, { limits })
    const addVault = async ({ chainId, address }: Pick<Vault, 'chainId' | 'address'>) => {
      const { version: _, unknownVersion: __, firstBlock, ...described } = await describeVault(chainId, address)
      const presentation = {
        description: 'A made-up vault on a local chain',
        logoUrl: '',
        riskProfile: 'balanced',
        riskProtocol: 'low',
      }
      const own = { poolId: `${chainId}-${address}`, firstBlock: firstBlock ?? 0, addedAt: new Date() }
      await clients.putVault(clientId, { ...described, ...presentation, ...own })
    }
    await Promise.all([clients.create(client), clients.putKey(clientId, key), ...places.map(addVault)])
    return text
  }
}

/** Returns a function that signs and sends transactions on these chains in order, as an ordinary wallet does. */
export function senderOn(chains: readonly LocalChain[]): Service['send'] {
  return async (chainId, user, transactions) => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (!chain) throw new Error(`There is no chain ${chainId}`)
    const account = privateKeyToAccount(user.privateKey)
    const [nonce] = await callRpc(chain, [{ method: 'eth_getTransactionCount', params: [account.address, 'latest'] }])
    // A fixed gas limit makes a reverting transaction be mined instead of refused.
    const terms = { chainId, gas: 3_000_000n, maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: 0n }
    const receipts: TransactionReceipt[] = []
    for (const [index, { to, data, value }] of transactions.entries()) {
      const sent = { ...terms, to, data, value: BigInt(value), nonce: Number(nonce) + index }
      const params = [await account.signTransaction(sent)]
      const [receipt] = await callRpc(chain, [{ method: 'eth_sendRawTransactionSync', params }])
      // The cast is safe because the chain returned this receipt for the call.
      receipts.push(formatTransactionReceipt(receipt as RpcTransactionReceipt))
    }
    return receipts
  }
}

/**
 * Returns a function that calls the service and verifies each response. Responses are signed only if their contract says so. The
 * client package must recognise the transactions, and responses must match the API document.
 */
export function callerOf({
  baseUrl,
  apiKey,
  backends,
}: Pick<Service, 'baseUrl' | 'apiKey' | 'backends'>): Service['call'] {
  return async (method, path, { key = apiKey, body, headers = {} } = {}) => {
    const url = `${baseUrl}${path}`
    const sent = { ...(key !== null && { 'x-join-key': key }), 'content-type': 'application/json', ...headers }
    const answer = await exchange(url, {
      method,
      headers: sent,
      ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    })
    const { status, text } = answer
    const received = headersOf(answer)
    if (received.has('signature') || (status < 300 && text !== '' && isSigned(findEndpoint(method, path).contract))) {
      const response = { status, headers: Object.fromEntries(received) }
      const asked = { method, url, headers: sent }
      // A signature is verified as of the time it was created, because tests advance the clocks of some containers.
      const [, created] = /;created=(\d+)/.exec(received.get('signature-input') ?? '') ?? []
      const isRight = await isSignedBy(backends.signingKey, { request: asked, response }, text, Number(created) * 1000)
      if (!isRight || status >= 300) throw new Error(`The answer to ${method} ${path} is not signed as it should be.`)
    }
    verifyPrepared(preparationOf({ method, url }), body, { status, text })
    const reply = { status, headers: received, body: text === '' ? undefined : JSON.parse(text) }
    checkInterface(`${method} ${path}`, reply)
    return reply
  }
}

/** Throws if the client package does not recognise a response's transactions for its request. */
function verifyPrepared(
  preparation: Preparation | undefined,
  input: unknown,
  { status, text }: Pick<HttpResponse, 'status' | 'text'>,
): void {
  if (status !== 200 || preparation === undefined) return
  const asked = isRaw(input) ? JSON.parse(Buffer.from(input).toString()) : input
  const answer = JSON.parse(text)
  // `bond` is a made-up protocol that the client package does not know.
  if (answer.protocol === 'bond') return
  // The caller accepts the quote's input amount, as a user who has seen it does.
  const mostSent = BigInt(answer.quote?.inputAmount ?? 0)
  const verdict = verifyTransactions(preparation, asked, answer, undefined, mostSent)
  if (!verdict.ok) throw new Error(`The client package refuses the transactions: ${verdict.message}.`)
}

function headersOf({ headers }: HttpResponse): Headers {
  return new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]))
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
}

function placeOf({ chainId, address }: Pick<Vault, 'chainId' | 'address'>) {
  return { chainId, address }
}

/** Tests of the running service without a chain, which makes it start quickly. */
export const chainlessTest = test.extend(
  'backendsOptions',
  { scope: 'file' },
  (): BackendsOptions => ({ chainIds: [] }),
)

/** Local accounts whose tokens tests may spend. */
export const USERS = ACCOUNTS.users
