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
import { type HttpResponse, sendHttpRequest } from '../../sandbox/exchange.ts'
import { startGateway } from '../../sandbox/gateway.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { checkInterface } from '../interface/interface.ts'
import { someClient, someKey, UNRESTRICTED_LIMITS } from './clients.ts'
import { findEndpoint } from './examples.ts'
import { isSignedBy } from './http-signatures.ts'
import { type MemoryDynamo, memoryDynamo } from './memory-dynamo.ts'
import { createChainSnapshotTaker, createStateRestorer, type StateRestorer } from './restore.ts'
import { createTableSnapshotTaker, openTables, type Tables, TEST_TABLES } from './tables.ts'
import { type RecordingProxy, startRecordingProxy } from './wire.ts'

/** HTTP response as a caller receives it. */
export type HttpReply = {
  readonly status: number
  readonly headers: Headers
  // Tests read response bodies freely. The endpoint contracts check the bodies' shape.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

/** Unsigned transaction in a response of the service. */
export type UnsignedTransaction = { readonly to: Address; readonly data: Hash; readonly value: string }

/** Running service with local chains, tables and queues. A proxy in front of each chain's node can change its responses. */
export type Service = {
  readonly backends: Backends
  readonly baseUrl: string
  /** API key of the first client, which has access to all vaults. */
  readonly apiKey: string
  readonly rpc: Readonly<Record<number, RecordingProxy>>
  /** DynamoDB in memory, as the service's functions use it. It records their requests, and tests switch on faults. */
  readonly table: MemoryDynamo
  /** Direct access to the service's tables. Simulated faults do not affect it, and its requests are not recorded. */
  readonly tables: Tables
  /** Sends an HTTP request to the service, by default with the first client's API key. `key: null` sends no API key. */
  call(method: string, path: string, options?: CallOptions): Promise<HttpReply>
  createClient(vaults: readonly Pick<Vault, 'chainId' | 'address'>[], limits?: KeyLimits): Promise<string>
  /** Runs the functions that consume queues until all queues are empty. Returns the number of consumed messages. */
  consume(): Promise<number>
  readonly pass: (seconds: number) => void
  /** Runs `work` while the containers' clock stands still, however slow the machine is. Only `pass` advances the clock. */
  standingStill<T>(work: () => Promise<T>): Promise<T>
  /** Restores chains, clients, recorded events and users to a named state. The first call builds the state. */
  readonly restore: StateRestorer
  /** Signs and sends transactions in order, as an ordinary wallet does. Returns all receipts, also of reverted transactions. */
  send(chainId: number, user: LocalAccount, transactions: readonly UnsignedTransaction[]): Promise<TransactionReceipt[]>
}

type CallOptions = { readonly key?: string | null; readonly body?: unknown; readonly headers?: Record<string, string> }

/**
 * Test fixtures of the running service, with one service per test file. Before each test, all proxies forward unchanged
 * responses again.
 */
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
  /** Clock of containers that start later. A test must request this fixture before the containers start. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('clock', ({}, { onCleanup }) => {
    const { now } = Date
    let passed = 0
    Date.now = () => now() + passed
    onCleanup(() => {
      Date.now = now
      // Code of the ended test may still call the replaced `Date.now`. So this replacement must return the real time
      // too.
      passed = 0
    })
    return {
      pass(seconds: number) {
        passed += seconds * 1000
      },
    }
  })
  /** The same service in new containers: their memory is empty, and they read their configuration again. */
  .extend('coldService', async ({ service }, { onCleanup }): Promise<Service> => {
    const cold = await startNewContainers(service)
    onCleanup(cold.stop)
    return cold.service
  })

/**
 * Starts the same service in new containers, which read environment and configuration again. Each Lambda function loads
 * at its first request. This request throws if the test has started other new containers before it. `isWhole` loads all
 * functions immediately.
 */
export async function startNewContainers(
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
  return { service: { ...service, baseUrl, consume, call: createVerifyingCaller({ ...service, baseUrl }) }, stop }
}

/** Settings of the local API gateway in tests. */
export const GATEWAY = {
  port: 0,
  cors: { allowOrigins: ['https://wallet.example', 'http://localhost:3000'] },
  schedule: false,
}

/** URL where no server listens. Requests fail unless they use the in-memory database. */
const NOWHERE = 'http://127.0.0.1:1'

async function startService(options: BackendsOptions): Promise<{ service: Service; stop: () => Promise<void> }> {
  const { now } = Date
  let passed = 0
  let standing: number | undefined
  Date.now = () => (standing ?? now()) + passed
  const table = memoryDynamo()
  // Undefined makes the functions connect to the test's own database over HTTP.
  globalThis.functionsDatabase = options.database ? undefined : table.dynamo
  const database = { endpoint: NOWHERE, tableNames: TEST_TABLES, connection: table.direct, stop: async () => {} }
  const backends = await startBackends({ database, ...options })
  const wires = await Promise.all(
    backends.chains.map(async ({ chainId, rpcUrl }) => [chainId, await startRecordingProxy(rpcUrl)] as const),
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
    call: createVerifyingCaller({ baseUrl, apiKey, backends }),
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
    restore: createStateRestorer([
      ...backends.chains.map(createChainSnapshotTaker),
      ...[tables.clients, tables.deposits, tables.users, tables.webhooks].map(createTableSnapshotTaker),
    ]),
    send: createTransactionSender(backends.chains),
  }
  const stop = async () => {
    Date.now = now
    await gateway.stop()
    await Promise.all([...Object.values(rpc), backends].map((part) => part.stop()))
  }
  return { service, stop }
}

/**
 * Returns a function that creates a client directly in the table, without the checks of the operator's commands. The
 * function returns the client's API key.
 */
function clientCreator({ clients, describeVault }: Admin): Service['createClient'] {
  return async (places, limits = UNRESTRICTED_LIMITS) => {
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

/** Returns a function that signs and sends transactions in order on these chains, as an ordinary wallet does. */
export function createTransactionSender(chains: readonly LocalChain[]): Service['send'] {
  return async (chainId, user, transactions) => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (!chain) throw new Error(`There is no chain ${chainId}`)
    const account = privateKeyToAccount(user.privateKey)
    const [nonce] = await callRpc(chain, [{ method: 'eth_getTransactionCount', params: [account.address, 'latest'] }])
    // With a fixed gas limit, the wallet skips the gas estimate. So a reverting transaction is mined instead of refused.
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
 * Returns a function that sends a request to the service and verifies the response. It checks the signature, if the endpoint's
 * contract demands one. It checks the transactions with the client package, and the body against the API document.
 */
export function createVerifyingCaller({
  baseUrl,
  apiKey,
  backends,
}: Pick<Service, 'baseUrl' | 'apiKey' | 'backends'>): Service['call'] {
  return async (method, path, { key = apiKey, body, headers = {} } = {}) => {
    const url = `${baseUrl}${path}`
    const sent = { ...(key !== null && { 'x-join-key': key }), 'content-type': 'application/json', ...headers }
    const answer = await sendHttpRequest(url, {
      method,
      headers: sent,
      ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    })
    const { status, text } = answer
    const received = headersOf(answer)
    if (received.has('signature') || (status < 300 && text !== '' && isSigned(findEndpoint(method, path).contract))) {
      const response = { status, headers: Object.fromEntries(received) }
      const request = { method, url, headers: sent }
      // The signature is verified at its creation time, because tests advance the clocks of some containers.
      const [, created] = /;created=(\d+)/.exec(received.get('signature-input') ?? '') ?? []
      const isRight = await isSignedBy(backends.signingKey, { request, response }, text, Number(created) * 1000)
      if (!isRight || status >= 300) throw new Error(`The answer to ${method} ${path} is not signed as it should be.`)
    }
    verifyPrepared(preparationOf({ method, url }), body, { status, text })
    const reply = { status, headers: received, body: text === '' ? undefined : JSON.parse(text) }
    checkInterface(`${method} ${path}`, reply)
    return reply
  }
}

function verifyPrepared(
  preparation: Preparation | undefined,
  input: unknown,
  { status, text }: Pick<HttpResponse, 'status' | 'text'>,
): void {
  if (status !== 200 || preparation === undefined) return
  const parsedInput = isRaw(input) ? JSON.parse(Buffer.from(input).toString()) : input
  const answer = JSON.parse(text)
  // The client package does not know the made-up test protocol `bond`.
  if (answer.protocol === 'bond') return
  // A real user sees and accepts the quote's input amount, so the check accepts it too.
  const mostSent = BigInt(answer.quote?.inputAmount ?? 0)
  const verdict = verifyTransactions(preparation, parsedInput, answer, undefined, mostSent)
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

/** Test fixtures of the running service without any chain, which makes it start quickly. */
export const chainlessTest = test.extend(
  'backendsOptions',
  { scope: 'file' },
  (): BackendsOptions => ({ chainIds: [] }),
)

/** Local accounts with test tokens. */
export const USERS = ACCOUNTS.users
