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
import { type Answer, exchange } from '../../sandbox/exchange.ts'
import { startGateway } from '../../sandbox/gateway.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { checkInterface } from '../interface/interface.ts'
import { NO_RATE, someClient, someKey } from './clients.ts'
import { findEndpoint } from './examples.ts'
import { isSignedBy } from './http-signatures.ts'
import { type MemoryDynamo, memoryDynamo } from './memory-dynamo.ts'
import { type Restore, rememberChain, restorer } from './restore.ts'
import { openTables, rememberTable, type Tables, TEST_TABLES } from './tables.ts'
import { startWire, type Wire } from './wire.ts'

/** A reply as a caller sees it. */
export type HttpReply = {
  readonly status: number
  readonly headers: Headers
  // Tests look into replies freely; what they must look like is the contracts' business.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

/** A transaction as the service hands it out. */
export type HandedOut = { readonly to: Address; readonly data: Hash; readonly value: string }

/** The whole service, seen from outside: its HTTP interface, its chains and the wires between. */
export type Service = {
  readonly backends: Backends
  readonly baseUrl: string
  /** The first client's key: it has all vaults. */
  readonly apiKey: string
  /** The wire to each chain's RPC, by chain id. */
  readonly rpc: Readonly<Record<number, Wire>>
  /** DynamoDB as the functions reach it: the requests that they make, and faults on demand. */
  readonly table: MemoryDynamo
  /** The tables, past the faults. */
  readonly tables: Tables
  /** Calls the service with the first client's key unless told; `key: null` sends none. */
  call(method: string, path: string, options?: CallOptions): Promise<HttpReply>
  /** A new client of its own with these vaults, and its key. */
  createClient(vaults: readonly Pick<Vault, 'chainId' | 'address'>[], limits?: KeyLimits): Promise<string>
  /** Has the functions of queues work on all that can be had there now, and what comes of it; how many messages that were. */
  consume(): Promise<number>
  /** Lets this much time pass for all containers: what requests share for a moment is over after half a second. */
  readonly pass: (seconds: number) => void
  /** Does this while the time of all containers stands still but for what is let pass, however busy the machine is. */
  standingStill<T>(work: () => Promise<T>): Promise<T>
  /** Takes the chains, the clients with their vaults, the records and the users back to what was built under a name. */
  readonly restore: Restore
  /** Signs and sends transactions in order as a plain wallet does; the receipts, reverted or not. */
  send(chainId: number, user: LocalAccount, transactions: readonly HandedOut[]): Promise<TransactionReceipt[]>
}

/** `body` is sent as JSON, unless it is text or bytes already. */
type CallOptions = { readonly key?: string | null; readonly body?: unknown; readonly headers?: Record<string, string> }

/** Tests of the running service: one service per test file, every wire faithful again before each test. */
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
  /** The time as new containers see it; ask for it before them. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('clock', ({}, { onCleanup }) => {
    const { now } = Date
    let passed = 0
    Date.now = () => now() + passed
    onCleanup(() => {
      Date.now = now
      // For what was started meanwhile and holds on to this clock.
      passed = 0
    })
    return {
      /** Lets this many seconds pass. */
      pass(seconds: number) {
        passed += seconds * 1000
      },
    }
  })
  /** The same service in new containers, which remember nothing and read their configuration afresh. */
  .extend('coldService', async ({ service }, { onCleanup }): Promise<Service> => {
    const cold = await startAnew(service)
    onCleanup(cold.stop)
    return cold.service
  })

/**
 * The same service in new containers, which remember nothing and read their environment and configuration afresh. A
 * function is loaded when it is first asked. That is too late once there are newer containers, as it would be one of
 * theirs: containers that stand side by side are whole.
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

/** A gateway as tests have it. */
export const GATEWAY = {
  port: 0,
  cors: { allowOrigins: ['https://wallet.example', 'http://localhost:3000'] },
  schedule: false,
}

/** A URL at which nobody listens, for whoever goes round the database in memory. */
const NOWHERE = 'http://127.0.0.1:1'

async function startService(options: BackendsOptions): Promise<{ service: Service; stop: () => Promise<void> }> {
  const { now } = Date
  let passed = 0
  let standing: number | undefined
  Date.now = () => (standing ?? now()) + passed
  const table = memoryDynamo()
  // A test that names a database has its functions reach it over HTTP.
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
    restore: restorer([
      ...backends.chains.map(rememberChain),
      ...[tables.clients, tables.deposits, tables.users, tables.webhooks].map(rememberTable),
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

/** Gives the key of a new client with these vaults. An operator's commands do the same, and first look what is there. */
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

/** Signs and sends transactions on these chains, in order, as a plain wallet does. */
export function senderOn(chains: readonly LocalChain[]): Service['send'] {
  return async (chainId, user, transactions) => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (!chain) throw new Error(`There is no chain ${chainId}`)
    const account = privateKeyToAccount(user.privateKey)
    const [nonce] = await callRpc(chain, [{ method: 'eth_getTransactionCount', params: [account.address, 'latest'] }])
    // With a gas limit of its own a transaction that reverts is mined too, instead of refused.
    const terms = { chainId, gas: 3_000_000n, maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: 0n }
    const receipts: TransactionReceipt[] = []
    for (const [index, { to, data, value }] of transactions.entries()) {
      const sent = { ...terms, to, data, value: BigInt(value), nonce: Number(nonce) + index }
      const params = [await account.signTransaction(sent)]
      const [receipt] = await callRpc(chain, [{ method: 'eth_sendRawTransactionSync', params }])
      // The chain's own answer to this call, as viem reads it.
      receipts.push(formatTransactionReceipt(receipt as RpcTransactionReceipt))
    }
    return receipts
  }
}

/**
 * Calls the service, and verifies each response: it is signed only where its contract says so, the client package knows its
 * transactions, and it is as the interface's document has it.
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
      // As of when it was made: tests move the clocks of some containers and not of others.
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

/** Throws where an answer has transactions that the client package does not know for the request. */
function verifyPrepared(
  preparation: Preparation | undefined,
  input: unknown,
  { status, text }: Pick<Answer, 'status' | 'text'>,
): void {
  if (status !== 200 || preparation === undefined) return
  const asked = isRaw(input) ? JSON.parse(Buffer.from(input).toString()) : input
  const answer = JSON.parse(text)
  // A protocol that a test has made up, which the client package cannot know.
  if (answer.protocol === 'bond') return
  // Who asks has seen the quote.
  const mostSent = BigInt(answer.quote?.inputAmount ?? 0)
  const verdict = verifyTransactions(preparation, asked, answer, undefined, mostSent)
  if (!verdict.ok) throw new Error(`The client package refuses the transactions: ${verdict.message}.`)
}

function headersOf({ headers }: Answer): Headers {
  return new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]))
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
}

function placeOf({ chainId, address }: Pick<Vault, 'chainId' | 'address'>) {
  return { chainId, address }
}

/** Tests of the running service without a chain: it starts in a moment. */
export const chainlessTest = test.extend(
  'backendsOptions',
  { scope: 'file' },
  (): BackendsOptions => ({ chainIds: [] }),
)

/** The accounts that tests may spend from. */
export const USERS = ACCOUNTS.users
