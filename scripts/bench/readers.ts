import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { type Address, createPublicClient, http, numberToHex, parseAbi } from 'viem'
import { MULTICALL3 } from '../../lib/chain/multicall.ts'
import type { Vault } from '../../lib/vaults/vault.ts'
import { readByOfficialSdk } from '../../sandbox/official-sdk.ts'
import { reportToParent } from '../load/process.ts'

// Three ways to read vaults, which `npm run bench` compares. They run in a separate process, whose CPU time therefore excludes chains and
// tables.

/** Name of a way to read vaults. */
export type Reader = 'list' | 'viem multicall' | 'official SDK'

/** Vaults that the readers read next, and the API key of the client that has them. `urls` are node URLs by chain id. */
export type BenchVaults = {
  readonly apiKey: string
  readonly vaults: readonly Vault[]
  readonly urls: Record<number, string>
}

/** Elapsed time and CPU time of a read, in milliseconds. */
export type ReadDuration = { readonly wall: number; readonly cpu: number }

/**
 * Milliseconds by which the clock moves ahead before each request for the list of vaults. The service then reads the
 * chains again, because its last read is too old to be shared.
 */
const PASSING_MS = 2_000

let passed = 0
const { now } = Date
Date.now = () => now() + passed

function clientOf(chainId: number, url: string) {
  return createPublicClient({
    chain: {
      id: chainId,
      name: '',
      nativeCurrency: { name: '', symbol: '', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
      contracts: { multicall3: { address: MULTICALL3 } },
    },
    transport: http(url, { batch: { batchSize: 100_000 } }),
  })
}
type Client = ReturnType<typeof clientOf>

/** Ten storage slots of a vault. The endpoint that lists vaults reads as many slots of an asynchronous vault. */
const WORDS = Array.from({ length: 10 }, (_, index) =>
  numberToHex(0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a00n + BigInt(index)),
)

const OF_VAULT = parseAbi([
  'function version() view returns (string)',
  'function pendingSilo() view returns (address)',
  'function owner() view returns (address)',
  'function safe() view returns (address)',
  'function isTotalAssetsValid() view returns (bool)',
  'function paused() view returns (bool)',
  'function totalAssets() view returns (uint256)',
  'function symbol() view returns (string)',
  'function totalSupply() view returns (uint256)',
  'function convertToAssets(uint256) view returns (uint256)',
  'function maxDeposit(address) view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
])
const PLAIN = [
  'version',
  'pendingSilo',
  'owner',
  'safe',
  'isTotalAssetsValid',
  'paused',
  'totalAssets',
  'symbol',
  'totalSupply',
] as const

/** Reads the values that the list of vaults shows: getters through viem's multicall, storage through its batched transport. */
async function readByMulticall(client: Client, vaults: readonly Vault[]): Promise<void> {
  const calls = vaults.flatMap((vault) => {
    const { address, asset, shareDecimals } = vault
    const call = (functionName: string, args: unknown[] = [], to: Address = address) => ({
      address: to,
      abi: OF_VAULT,
      functionName,
      args,
    })
    const price = call('convertToAssets', [10n ** BigInt(shareDecimals)])
    if (!('pendingSilo' in vault)) return [price, call('maxDeposit', [MULTICALL3])]
    const silo = vault.pendingSilo
    return [...PLAIN.map((name) => call(name)), price, call('balanceOf', [silo], asset), call('balanceOf', [silo])]
  })
  const words = vaults.flatMap((vault) =>
    'pendingSilo' in vault ? WORDS.map((slot) => ({ address: vault.address, slot })) : [],
  )
  await Promise.all([
    // The cast: TypeScript takes long to check the types of so many calls.
    client.multicall({ contracts: calls as never, batchSize: 0, allowFailure: true }),
    client.getBlock(),
    ...words.map((word) => client.getStorageAt(word)),
  ])
}

/** Reads a chain's vaults with the official SDK if it supports them, and all other vaults by multicall. */
async function readBySdk(client: Client, vaults: readonly Vault[]): Promise<void> {
  const { supported = [], others = [] } = Object.groupBy(vaults, (vault) =>
    'pendingSilo' in vault ? 'supported' : 'others',
  )
  await Promise.all([
    readByOfficialSdk(
      client,
      supported.map(({ address }) => address),
    ),
    readByMulticall(client, others),
  ])
}

const { handler } = await import('../../functions/vaults/list/handler.ts')

/** Calls the endpoint that lists vaults. Throws if the list is incomplete or stale. */
async function readList({ apiKey, vaults }: BenchVaults): Promise<void> {
  passed += PASSING_MS
  const reply = (await handler(
    // The cast: the function reads only these parts of an event.
    listEvent(apiKey) as never,
    // The cast: the function reads only these parts of its context.
    { getRemainingTimeInMillis: () => 10_000, awsRequestId: '', functionName: 'list' } as never,
    // The cast: the function returns no other form of response.
  )) as APIGatewayProxyStructuredResultV2
  const { data } = JSON.parse(reply.body ?? '{}')
  if (data?.length !== vaults.length)
    throw new Error(`The list answered ${reply.statusCode} ${reply.body?.slice(0, 200)}`)
  if (data.some((vault: { stateAsOf?: { stale: boolean } }) => vault.stateAsOf?.stale))
    throw new Error('The list is stale.')
}

function listEvent(apiKey: string) {
  const path = '/defi-vaults/v1/vaults'
  return {
    version: '2.0',
    routeKey: `GET ${path}`,
    rawPath: path,
    rawQueryString: '',
    headers: { 'x-join-key': apiKey },
    requestContext: {
      requestId: 'bench',
      http: { method: 'GET', path, sourceIp: '127.0.0.1', protocol: 'HTTP/1.1', userAgent: '' },
    },
    isBase64Encoded: false,
  }
}

function readersOf(benchVaults: BenchVaults): Record<Reader, () => Promise<unknown>> {
  const chains = Object.entries(benchVaults.urls).map(([chainId, url]) => ({
    client: clientOf(Number(chainId), url),
    vaults: benchVaults.vaults.filter((vault) => vault.chainId === Number(chainId)),
  }))
  return {
    list: () => readList(benchVaults),
    'viem multicall': () => Promise.all(chains.map(({ client, vaults }) => readByMulticall(client, vaults))),
    'official SDK': () => Promise.all(chains.map(({ client, vaults }) => readBySdk(client, vaults))),
  }
}

let readers: ReturnType<typeof readersOf> | undefined

async function measure(reader: Reader): Promise<ReadDuration> {
  const start = performance.now()
  const before = process.cpuUsage()
  await readers?.[reader]()
  const { user, system } = process.cpuUsage(before)
  return { wall: performance.now() - start, cpu: (user + system) / 1000 }
}

reportToParent(
  'ready',
  async () => {},
  async (message) => {
    // The cast: the script bench.ts sends no other messages.
    const command = message as { readonly benchVaults: BenchVaults } | { readonly reader: Reader }
    if ('reader' in command) return measure(command.reader)
    readers = readersOf(command.benchVaults)
    return 'ready'
  },
)
