import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import { seedClient } from '../admin/operations.ts'
import { accountSettings, ENVIRONMENTS } from '../infra/environments.ts'
import { buildVariables } from '../lib/frame/resources.ts'
import packageJson from '../package.json' with { type: 'json' }
import { ACCOUNTS } from './accounts.ts'
import { type Backends, startBackends } from './backends.ts'
import { areContractsCompiled, COMPILED_FILE, compileContracts } from './contracts.ts'
import { startCurator } from './curator.ts'
import { isNodeProfile, NODE_PROFILES, type NodeProfileName } from './node-profiles.ts'
import type { ServiceSettings } from './start/service.ts'
import { removeState, STATE_FILE, writeState } from './start/state.ts'

const SETTLE_SECONDS = 20
const FILL_SECONDS = 3
const LOG_FILE = '.local/service.log'
/** Where the script of the reference's viewer is kept. */
const VIEWER_FOLDER = '.local'

/** Prices, charts and lists of tokens from the real services, with `MARKETS=real`. */
const REAL_MARKETS = process.env['MARKETS'] === 'real'
/** Whether the chains have some months of a past; with `PAST=none` they have none. */
const WITH_PAST = process.env['PAST'] !== 'none'

const DEFAULT_BLOCK_SECONDS = 1

const startedAt = Date.now()
const stops: (() => Promise<unknown>)[] = []
let stopping: Promise<void> | undefined

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(0))
try {
  await start()
} catch (error) {
  say(`Not started: ${messageOf(error)}`)
  await stop(1)
}

async function start(): Promise<void> {
  // First, so that a wrong setting is reported at once.
  const port = await choosePort()
  const nodes = chooseNodes()
  const blockSeconds = chooseBlockSeconds()
  if (!(await areContractsCompiled())) {
    say('Compiling the local contracts, because their sources have changed …')
    await writeFile(COMPILED_FILE, await compileContracts())
  }
  say(
    `Starting two chains ${WITH_PAST ? 'with some months of a past' : 'without a past'}, the tables and the providers …`,
  )
  if (nodes.length === 0 && blockSeconds === DEFAULT_BLOCK_SECONDS) {
    say('Blocks come each second from nodes that refuse nothing; NODES and BLOCK_SECONDS choose others (README).')
  }
  for (const name of nodes) say(`Reading the chains at ${name}: ${NODE_PROFILES[name].about}`)
  const [service, backends] = await Promise.all([
    loadService(),
    startBackends({ blockSeconds, withPast: WITH_PAST, realMarkets: REAL_MARKETS, nodes }),
  ])
  stops.push(backends.stop)

  say('Registering two clients with their vaults …')
  const { apiKey, otherApiKey } = await seed(backends)

  say('Starting the functions …')
  await startService(service, { port, environment: backends.environment, apiKey })
  const curator = startCurator({
    chains: backends.chains.map((chain) => ({
      chain,
      vaults: chain.vaults.filter(({ type }) => type === 'async').map(({ address }) => address),
    })),
    everySeconds: SETTLE_SECONDS,
    onError: (error) => say(`The curator will try again: ${messageOf(error)}`),
  })
  stops.push(curator.stop)

  const { relayer } = backends
  relayer.settings.delaySeconds = FILL_SECONDS
  relayer.start({ onError: (error) => say(`The relayer will try again: ${messageOf(error)}`) })

  const baseUrl = `http://localhost:${port}`
  await writeState({
    baseUrl,
    apiKey,
    otherClient: { apiKey: otherApiKey },
    chains: backends.chains.map(({ chainId, rpcUrl }) => ({
      chainId,
      rpcUrl,
      nodeUrls: backends.rpcUrls[chainId] ?? [rpcUrl],
    })),
    vaults: backends.chains.flatMap(({ vaults }) => vaults),
    tokens: backends.chains.flatMap(({ tokens }) => tokens),
    accounts: ACCOUNTS.users,
    curator: {
      settlesEverySeconds: SETTLE_SECONDS,
      safe: ACCOUNTS.safe.address,
      valuationManager: ACCOUNTS.valuationManager.address,
    },
    providersUrl: backends.providers.url,
    relayer: { controlUrl: `${backends.providers.url}/relayer`, address: relayer.address },
    dynamoEndpoint: backends.dynamo.endpoint,
    tables: backends.dynamo.tableNames,
  })
  stops.push(removeState)
  introduce(baseUrl, apiKey, `${backends.providers.url}/relayer`)
}

async function seed({ admin, chains }: Backends): Promise<{ apiKey: string; otherApiKey: string }> {
  const vaults = chains
    .flatMap(({ vaults }) => vaults)
    .map(({ chainId, address, type, name }) => ({
      chainId,
      address,
      name,
      description: 'A made-up vault on a chain of this machine.',
      riskProfile: type === 'sync' ? 'conservative' : 'balanced',
      riskProtocol: 'low',
    }))
  const [demo, other] = await Promise.all([
    seedClient(admin, { name: 'Demo wallet', vaults }),
    seedClient(admin, { name: 'Other wallet', vaults: vaults.slice(0, 1) }),
  ])
  return { apiKey: demo.apiKey, otherApiKey: other.apiKey }
}

/** The thread of the gateway and the functions, when it has loaded them; it logs into a file. */
async function loadService(): Promise<Worker> {
  await mkdir('.local', { recursive: true })
  const log = createWriteStream(LOG_FILE)
  const service = new Worker(new URL('start/service.ts', import.meta.url), { env: {}, stdout: true, stderr: true })
  service.stdout.pipe(log)
  service.stderr.pipe(log, { end: false })
  stops.push(() => service.terminate())
  await once(service, 'message')
  return service
}

/** Lets the thread serve the functions and their reference at this port, and run their jobs. */
async function startService(
  service: Worker,
  { port, environment, apiKey }: { port: number; environment: Readonly<Record<string, string>>; apiKey: string },
): Promise<void> {
  // A page served from the service's own port may register credentials too.
  const corsOrigins = [...new Set([...ENVIRONMENTS.local.corsOrigins, `http://localhost:${port}`])]
  const settings = buildVariables(accountSettings({ ...ENVIRONMENTS.local, corsOrigins }))
  const serviceSettings: ServiceSettings = {
    environment: { ...environment, ...settings, SERVICE_VERSION: packageJson.version },
    gateway: { port, cors: { allowOrigins: ENVIRONMENTS.local.corsOrigins }, schedule: true },
    reference: { apiKey, folder: VIEWER_FOLDER, env: { ...process.env } },
  }
  service.postMessage(serviceSettings)
  await once(service, 'message')
}

/** The port that PORT names, else the first free one from 3000 up; throws where there is none. */
async function choosePort(): Promise<number> {
  const { PORT } = process.env
  if (PORT) {
    const port = Number(PORT)
    if (!(Number.isInteger(port) && port > 0 && port < 65_536)) throw new Error(`PORT is ${PORT}, which is no port.`)
    if (!(await isFree(port))) throw new Error(`Port ${port} is taken; choose another with PORT.`)
    return port
  }
  for (let port = 3000; port < 3100; port += 1) {
    if (await isFree(port)) return port
  }
  throw new Error('No free port between 3000 and 3099; choose one with PORT.')
}

/** The kinds of nodes that NODES names, in their order; throws for a name that is none. */
function chooseNodes(): NodeProfileName[] {
  const names = (process.env['NODES'] ?? '').split(',').filter(Boolean)
  return names.map((name) => {
    if (isNodeProfile(name)) return name
    throw new Error(`NODES is ${name}, which is none of ${Object.keys(NODE_PROFILES).join(', ')}.`)
  })
}

/** The seconds between blocks: BLOCK_SECONDS or 1; throws for anything but 0.1 to 60. */
function chooseBlockSeconds(): number {
  const { BLOCK_SECONDS } = process.env
  if (!BLOCK_SECONDS) return DEFAULT_BLOCK_SECONDS
  const seconds = Number(BLOCK_SECONDS)
  if (!(seconds >= 0.1 && seconds <= 60)) throw new Error(`BLOCK_SECONDS is ${BLOCK_SECONDS}; it can be 0.1 to 60.`)
  return seconds
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  const answer = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  probe.close()
  return answer
}

function introduce(baseUrl: string, apiKey: string, controlUrl: string): void {
  say('Ready.')
  process.stdout.write(`
  Reference  ${baseUrl}/docs      in the browser, with the key filled in
  Base URL   ${baseUrl}
  API key    ${apiKey}
  Logs       ${LOG_FILE}      State  ${STATE_FILE}

  Two local chains: Base (8453) and Arbitrum (42161). Async vaults are settled every ${SETTLE_SECONDS} s.
  Transfers between them are filled after ${FILL_SECONDS} s; the relayer is told otherwise at ${controlUrl}

  Prices ${REAL_MARKETS ? 'come from the real services.' : 'are made up; MARKETS=real npm start takes real ones.'}

  Try, in another terminal:

    curl -s ${baseUrl}/defi-vaults/v1/vaults -H 'x-join-key: ${apiKey}'
    npm run demo
    curl -s ${baseUrl}/openapi.json

  Ctrl-C stops everything.
`)
}

function stop(exitCode: number): Promise<void> {
  stopping ??= (async () => {
    say('Stopping …')
    for (const end of stops.reverse()) await end().catch((error) => say(String(error)))
    process.exit(exitCode)
  })()
  return stopping
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function say(text: string): void {
  process.stdout.write(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${text}\n`)
}
