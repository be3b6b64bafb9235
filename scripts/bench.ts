import { Console } from 'node:console'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { type Address, createPublicClient, http, numberToHex, parseAbi } from 'viem'
import { createClient, issueKey } from '../admin/operations/clients.ts'
import { seedClient } from '../admin/operations/seed-client.ts'
import { MULTICALL3 } from '../lib/chain/multicall.ts'
import type { Vault } from '../lib/vaults/vault.ts'
import { type Backends, startBackends } from '../sandbox/backends.ts'
import type { LocalChain } from '../sandbox/chains.ts'
import { copyVault } from '../sandbox/copies.ts'
import { callRpc } from '../sandbox/rpc.ts'

// Run by `npm run bench`, which keeps the functions' logs out of the result.
// Measures what lists of vaults cost: HTTP requests, calls and bytes, as a proxy 50 ms before each local chain counts
// them, and time, beside a reader of the same values that is built on viem's multicall.

const USAGE = `Usage: npm run bench -- [vaults …]

Measures a list of each of these numbers of vaults, half of them on each of two chains: even numbers from 2 to 2000; 10,
50 and 200 unless given.
`
const DEFAULT_SIZES = [10, 50, 200]
const MOST_VAULTS = 2_000
const WARM_UP = 20
const ROUNDS = 20
const LATENCY_MS = 50
const BLOCK_MS = 200

/** What went through a proxy since it was last asked. */
type Traffic = { requests: number; calls: number; bytes: number }

/** In a thread of its own, so that its work is not counted as the reader's. */
async function runProxy(target: string): Promise<void> {
  let traffic: Traffic = { requests: 0, calls: 0, bytes: 0 }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const [answer] = await Promise.all([
      fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then((reply) =>
        reply.text(),
      ),
      sleep(LATENCY_MS),
    ])
    traffic.requests += 1
    traffic.calls += [JSON.parse(body.toString())].flat().length
    traffic.bytes += body.length + Buffer.byteLength(answer)
    response.setHeader('content-type', 'application/json').end(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  parentPort?.on('message', () => {
    parentPort?.postMessage(traffic)
    traffic = { requests: 0, calls: 0, bytes: 0 }
  })
  parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

/** A proxy in front of a chain: its URL, and what went through it since this was last asked. */
async function startProxy({ rpcUrl }: LocalChain) {
  const worker = new Worker(new URL(import.meta.url), { workerData: rpcUrl })
  const next = async () => (await once(worker, 'message'))[0]
  const url: string = await next()
  const traffic = (): Promise<Traffic> => {
    worker.postMessage('traffic')
    return next()
  }
  return { url, traffic, stop: () => worker.terminate() }
}

/** Reads what the list shows of a vault, by getters through viem's multicall and words through its batched transport. */
function viemReader(chainId: number, url: string) {
  const contracts = { multicall3: { address: MULTICALL3 } }
  const client = createPublicClient({
    chain: {
      id: chainId,
      name: '',
      nativeCurrency: { name: '', symbol: '', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
      contracts,
    },
    transport: http(url, { batch: { batchSize: 100_000 } }),
  })
  const ofVault = parseAbi([
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
  const plain = [
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
  return async (vaults: readonly Vault[]) => {
    const calls = vaults.flatMap((vault) => {
      const { address, asset, shareDecimals } = vault
      const call = (functionName: string, args: unknown[] = [], to: Address = address) => ({
        address: to,
        abi: ofVault,
        functionName,
        args,
      })
      const price = call('convertToAssets', [10n ** BigInt(shareDecimals)])
      if (!('pendingSilo' in vault)) return [price, call('maxDeposit', [MULTICALL3])]
      const silo = vault.pendingSilo
      return [...plain.map((name) => call(name)), price, call('balanceOf', [silo], asset), call('balanceOf', [silo])]
    })
    const words = vaults.flatMap((vault) =>
      'pendingSilo' in vault ? WORDS.map((slot) => ({ address: vault.address, slot })) : [],
    )
    await Promise.all([
      client.multicall({ contracts: calls as never, batchSize: 0, allowFailure: true }),
      client.getBlock(),
      ...words.map((word) => client.getStorageAt(word)),
    ])
  }
}

const say = (text: string) => process.stderr.write(`${text}\n`)
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** As many words as the list reads of an asynchronous vault. */
const WORDS = Array.from({ length: 10 }, (_, index) =>
  numberToHex(0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a00n + BigInt(index)),
)

/** A client with this many vaults, half of them on each chain, four of five asynchronous; copies of those of the local world. */
async function clientOf({ admin, chains }: Backends, known: readonly Vault[], size: number) {
  const { clientId } = await createClient(admin, `${size} vaults`)
  const { text } = await issueKey(admin, { clientId, name: 'bench' })
  const vaults = chains.flatMap(({ chainId }) => {
    const originals = known.filter((vault) => vault.chainId === chainId)
    return Array.from({ length: size / chains.length }, (_, i) => {
      const original = originals[i % originals.length] as Vault
      const address = numberToHex(BigInt(chainId * 1_000_000 + size * 1_000 + i) << 64n, { size: 20 })
      return { original, copy: { ...original, address, shareToken: address, poolId: `${chainId}-${address}` } }
    })
  })
  for (const [original, copies] of Map.groupBy(vaults, (vault) => vault.original)) {
    const chain = chains.find(({ chainId }) => chainId === original.chainId) as LocalChain
    await copyVault(
      chain,
      original.address,
      copies.map(({ copy }) => copy.address),
    )
  }
  for (const { copy } of vaults) await admin.clients.putVault(clientId, copy)
  return { apiKey: text, vaults: vaults.map(({ copy }) => copy) }
}

/** The numbers of vaults that these arguments name; undefined where one of them is none. */
function parseSizes(args: readonly string[]): number[] | undefined {
  if (args.length === 0) return DEFAULT_SIZES
  const sizes = args.map(Number)
  return sizes.every((size) => size >= 2 && size <= MOST_VAULTS && size % 2 === 0) ? sizes : undefined
}

async function main(args: readonly string[]): Promise<void> {
  const sizes = parseSizes(args)
  if (!sizes) {
    say(USAGE)
    process.exitCode = args.includes('--help') ? 0 : 1
    return
  }
  say('Starting two chains …')
  const backends = await startBackends()
  const proxies = await Promise.all(backends.chains.map(startProxy))
  backends.setRpcUrls(Object.fromEntries(backends.chains.map(({ chainId }, i) => [chainId, [proxies[i]?.url ?? '']])))
  Object.assign(process.env, backends.environment, { SERVICE_VERSION: 'bench' })
  const seeded = await seedClient(backends.admin, {
    name: 'bench',
    vaults: backends.chains.flatMap(({ vaults }) => vaults.map(({ chainId, address }) => ({ chainId, address }))),
  })
  const { handler } = await import('../functions/vaults/list/handler.ts')

  const rows: unknown[] = []
  const measure = async (name: string, size: number, blocks: string, read: () => Promise<unknown>) => {
    for (let round = 0; round < WARM_UP; round += 1) await read()
    await Promise.all(proxies.map((proxy) => proxy.traffic()))
    const wall: number[] = []
    const cpu: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const start = performance.now()
      const before = process.threadCpuUsage()
      await read()
      const { user, system } = process.threadCpuUsage(before)
      wall.push(performance.now() - start)
      cpu.push((user + system) / 1000)
    }
    const traffic = await Promise.all(proxies.map((proxy) => proxy.traffic()))
    const per = (field: keyof Traffic) => traffic.reduce((sum, of) => sum + of[field], 0) / ROUNDS / proxies.length
    rows.push({
      vaults: size,
      blocks,
      reader: name,
      'requests/chain': per('requests'),
      'calls/chain': per('calls'),
      'KB/chain': Math.round(per('bytes') / 1000),
      'wall ms': Math.round(median(wall)),
      'CPU ms': Math.round(median(cpu) * 10) / 10,
    })
    say(`  ${JSON.stringify(rows.at(-1))}`)
  }

  for (const size of sizes) {
    say(`Deploying ${size} vaults …`)
    const { apiKey, vaults } = await clientOf(backends, seeded.vaults, size)
    const readers = backends.chains.map(({ chainId }, i) => viemReader(chainId, proxies[i]?.url ?? ''))
    const list = async () => {
      const reply = (await handler(
        listEvent(apiKey) as never,
        { getRemainingTimeInMillis: () => 10_000, awsRequestId: '', functionName: 'list' } as never,
      )) as APIGatewayProxyStructuredResultV2
      const { data } = JSON.parse(reply.body ?? '{}')
      if (data?.length !== size) throw new Error(`The list answered ${reply.statusCode} ${reply.body?.slice(0, 200)}`)
      if (data.some((vault: { stateAsOf?: { stale: boolean } }) => vault.stateAsOf?.stale))
        throw new Error('The list is stale.')
    }
    const byViem = () =>
      Promise.all(
        readers.map((read, i) => read(vaults.filter(({ chainId }) => chainId === backends.chains[i]?.chainId))),
      )
    for (const [blocks, milliseconds] of [
      ['still', 0],
      [`${BLOCK_MS / 1000} s`, BLOCK_MS],
    ] as const) {
      const mine = () =>
        Promise.all(backends.chains.map((chain) => callRpc(chain, [{ method: 'evm_mine', params: [] }]))).catch(
          () => {},
        )
      const mining = milliseconds > 0 ? setInterval(mine, milliseconds) : undefined
      await measure('list', size, blocks, list)
      await measure('viem multicall', size, blocks, byViem)
      clearInterval(mining)
    }
  }
  new Console(process.stdout).table(rows)
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  await backends.stop()
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

await (isMainThread ? main(process.argv.slice(2)) : runProxy(workerData))
