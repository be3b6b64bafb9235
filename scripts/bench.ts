import { Console } from 'node:console'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { numberToHex } from 'viem'
import { createClient, issueKey } from '../admin/operations/clients.ts'
import { seedClient } from '../admin/operations/seed-client.ts'
import { createTable } from '../lib/aws/table.ts'
import { sharedCache } from '../lib/cache/cache.ts'
import { cacheStore } from '../lib/cache/store.ts'
import { findChain } from '../lib/chain/readers.ts'
import { pricesKey } from '../lib/markets/cache-keys.ts'
import { campaignsKey } from '../lib/rewards/campaigns.ts'
import type { Vault } from '../lib/vaults/vault.ts'
import { type Backends, startBackends } from '../sandbox/backends.ts'
import type { LocalChain } from '../sandbox/chains.ts'
import { copyVault } from '../sandbox/copies.ts'
import { callRpc } from '../sandbox/rpc.ts'
import type { BenchVaults, ReadDuration, Reader } from './bench/readers.ts'
import { startProcess } from './load/process.ts'

// Script of `npm run bench`. Measures the cost of the endpoint that lists vaults, and of two other ways to read the same values: viem's
// multicall and the official SDK. A proxy with 50 ms delay in front of each local chain counts HTTP requests, calls and bytes. The three
// readers run in a separate process, whose CPU time is summed over all rounds. No reader uses cached values of another.

const USAGE = `Usage: npm run bench -- [vaults …]

Measures a list of each of these numbers of vaults, half of them on each of two chains: even numbers from 2 to 2000; 10,
50 and 200 unless given. Ends with 1 if a chain got no call in a round.
`
const DEFAULT_SIZES = [10, 50, 200]
const READERS: readonly Reader[] = ['list', 'viem multicall', 'official SDK']
const MAX_VAULTS = 2_000
const WARM_UP = 20
const ROUNDS = 20
const LATENCY_MS = 50
const BLOCK_MS = 200

/** Requests, calls and bytes through a proxy since the last query of these counts. */
type Traffic = { requests: number; calls: number; bytes: number }

type Round = ReadDuration & {
  readonly traffic: readonly Traffic[]
}

/** Runs a proxy in its own thread, so that other work of this process does not delay the proxy's responses. */
async function runProxy(target: string): Promise<void> {
  let traffic: Traffic = { requests: 0, calls: 0, bytes: 0 }
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
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

/** Starts a proxy in front of a chain. `traffic` returns the proxy's requests, calls and bytes since the last call of `traffic`. */
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

const say = (text: string) => process.stderr.write(`${text}\n`)
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/**
 * Creates a client with this many vaults, half of them on each chain. The vaults are copies of the local chains' vaults; four of five are
 * asynchronous.
 */
async function clientOf({ admin, chains }: Backends, seededVaults: readonly Vault[], size: number) {
  const { clientId } = await createClient(admin, `${size} vaults`)
  const { text } = await issueKey(admin, { clientId, name: 'bench' })
  const vaults = chains.flatMap(({ chainId }) => {
    const originals = seededVaults.filter((vault) => vault.chainId === chainId)
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

/**
 * Stores market prices and reward campaigns of the chains in the cache, as scheduled jobs do. Otherwise each measured list of vaults would
 * fetch both again.
 */
async function keepMarkets({ dynamo, chains }: Backends): Promise<void> {
  const cache = sharedCache({
    table: cacheStore(createTable(dynamo.connection, dynamo.tableNames.cache)),
    now: Date.now,
  })
  for (const { chainId } of chains) {
    await cache.put(pricesKey(findChain(chainId).key), {})
    await cache.put(campaignsKey(chainId), {})
  }
}

function parseSizes(args: readonly string[]): number[] | undefined {
  if (args.length === 0) return DEFAULT_SIZES
  const sizes = args.map(Number)
  return sizes.every((size) => size >= 2 && size <= MAX_VAULTS && size % 2 === 0) ? sizes : undefined
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
  const urls = Object.fromEntries(backends.chains.map(({ chainId }, i) => [chainId, proxies[i]?.url ?? '']))
  backends.setRpcUrls(Object.fromEntries(Object.entries(urls).map(([chainId, url]) => [chainId, [url]])))
  const seeded = await seedClient(backends.admin, {
    name: 'bench',
    vaults: backends.chains.flatMap(({ vaults }) => vaults.map(({ chainId, address }) => ({ chainId, address }))),
  })
  await keepMarkets(backends)
  const readers = await startProcess<string>(new URL('bench/readers.ts', import.meta.url), [], {
    ...backends.environment,
    SERVICE_VERSION: 'bench',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  })
  const read = async (reader: Reader): Promise<Round> => {
    await Promise.all(proxies.map((proxy) => proxy.traffic()))
    const took = await readers.ask<ReadDuration>({ reader })
    return { ...took, traffic: await Promise.all(proxies.map((proxy) => proxy.traffic())) }
  }

  const rows: ReturnType<typeof row>[] = []
  for (const size of sizes) {
    say(`Deploying ${size} vaults …`)
    const benchVaults: BenchVaults = { ...(await clientOf(backends, seeded.vaults, size)), urls }
    await readers.ask({ benchVaults })
    for (const [blocks, milliseconds] of [
      ['still', 0],
      [`${BLOCK_MS / 1000} s`, BLOCK_MS],
    ] as const) {
      const mine = () =>
        Promise.all(backends.chains.map((chain) => callRpc(chain, [{ method: 'evm_mine', params: [] }]))).catch(
          () => {},
        )
      const mining = milliseconds > 0 ? setInterval(mine, milliseconds) : undefined
      const measured = READERS.map((reader) => ({ reader, rounds: [] as Round[] }))
      for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
        // The readers alternate, so that other work on the machine slows all of them equally.
        for (const { reader, rounds } of measured) {
          const one = await read(reader)
          if (round >= WARM_UP) rounds.push(one)
        }
      }
      clearInterval(mining)
      for (const { reader, rounds } of measured) {
        rows.push(row({ vaults: size, blocks, reader }, rounds))
        say(`  ${JSON.stringify(rows.at(-1))}`)
        if (rounds.some(isSilent)) {
          say(`In a round of ${reader} a chain got no call: the figures are not of reads.`)
          process.exitCode = 1
        }
      }
    }
  }
  new Console(process.stdout).table(rows)
  await Promise.all([readers, ...proxies].map((one) => one.stop()))
  await backends.stop()
}

function row(
  of: { readonly vaults: number; readonly blocks: string; readonly reader: Reader },
  rounds: readonly Round[],
) {
  const traffic = rounds.flatMap((round) => round.traffic)
  const perChain = (field: keyof Traffic) => traffic.reduce((sum, of) => sum + of[field], 0) / traffic.length
  return {
    ...of,
    'requests/chain': perChain('requests'),
    'calls/chain': perChain('calls'),
    'KB/chain': Math.round(perChain('bytes') / 1000),
    'wall ms': Math.round(median(rounds.map(({ wall }) => wall))),
    'CPU ms': Math.round((10 * rounds.reduce((sum, { cpu }) => sum + cpu, 0)) / rounds.length) / 10,
  }
}

function isSilent({ traffic }: Round): boolean {
  return traffic.some(({ calls }) => calls === 0)
}

await (isMainThread ? main(process.argv.slice(2)) : runProxy(workerData))
