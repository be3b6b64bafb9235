import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { seedClient } from '../admin/operations/seed-client.ts'
import { confirmVault } from '../admin/operations/vaults.ts'
import { buildAccountVariables, LOCAL_ENVIRONMENT } from '../infra/environments.ts'
import { buildVariables } from '../lib/frame/resources.ts'
import packageJson from '../package.json' with { type: 'json' }
import { ACCOUNTS, SOLANA_WALLET } from './accounts.ts'
import { type Backends, startBackends } from './backends.ts'
import { areContractsCompiled, COMPILED_FILE, compileContracts } from './contracts.ts'
import { showStates } from './controls/states.ts'
import { startControls } from './controls.ts'
import { startCurator } from './curator.ts'
import { NODE_PROFILES } from './node-profiles.ts'
import type { QueueFaults } from './queues/broker.ts'
import { startReceiver } from './receiver.ts'
import type { BehaviourMessage, ServiceSettings } from './start/service.ts'
import { readSettings } from './start/settings.ts'
import { followTransfers, seedStates } from './start/states.ts'
import { startWallet } from './start/wallet.ts'
import { registerReceiver } from './start/webhook.ts'
import { ENV_FILE, type LocalState, lockFolder, releaseFolder, removeState, STATE_FILE, writeState } from './state.ts'

const SETTLE_SECONDS = 20
const FILL_SECONDS = 3
/** Interval in seconds of the job that reads the chains. AWS runs it every minute; here it is shorter so that events arrive sooner. */
const REFRESH_SECONDS = 3
const LOG_FILE = '.local/service.log'
const DOCS_FOLDER = 'dist/docs'

const WALLET_FOLDER = '.local/wallet'

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
  // Settings are read first, so that an invalid setting is reported before anything starts.
  const settings = await readSettings(process.env)
  await lockFolder()
  stops.push(releaseFolder)
  const { port, walletPort, nodes, blockSeconds, withPast, realMarkets, indexes } = settings
  if (!(await areContractsCompiled())) {
    say('Compiling the local contracts, because their sources have changed …')
    await writeFile(COMPILED_FILE, await compileContracts())
  }
  say(
    `Starting two chains ${withPast ? 'with months of history' : 'without history'}, the tables and the outside services …`,
  )
  const isPlain = nodes.every((name) => name === 'plain')
  if (isPlain && blockSeconds === 1) {
    const doors = nodes.length === 1 ? 'one node' : `${nodes.length} nodes`
    say(
      `Each chain mines every second behind ${doors} without limits; NODES and BLOCK_SECONDS change this (docs/sandbox.md).`,
    )
  }
  for (const name of isPlain ? [] : nodes)
    say(`Simulating ${name} in front of the chains: ${NODE_PROFILES[name].about}`)
  const [service, backends] = await Promise.all([
    loadService(),
    startBackends({ blockSeconds, withPast, withStates: withPast, realMarkets, nodes, indexes }),
  ])
  for (const { name, why } of backends.states?.missing ?? []) say(`The state "${name}" is missing: ${why}`)
  // The functions stop before the backends. Otherwise the database would wait for the functions' requests, and frequent jobs would keep
  // sending more.
  stops.push(backends.stop, () => service.terminate())
  // Real SQS has these faults at times. They are switched on, so that developers meet such faults before production.
  const faults: Partial<QueueFaults> = { twice: 0.05, disorder: true, missedShare: 0.5, refused: 0.05 }
  Object.assign(backends.queues.faults, faults)

  say('Registering the clients with their vaults …')
  const [{ clientId, apiKey, otherApiKey }, states] = await Promise.all([
    seed(backends),
    backends.states && seedStates(backends, backends.states),
  ])

  const curator = startCurator({
    chains: backends.chains.map((chain) => ({
      chain,
      vaults: chain.vaults.filter(({ type }) => type === 'async').map(({ address }) => address),
    })),
    everySeconds: SETTLE_SECONDS,
    onError: (error) => reportRetry('curator', error),
  })
  // The curator's end is not awaited: a settlement whose block is never mined ends only with its chain.
  stops.push(async () => void curator.stop())

  const { relayer } = backends
  relayer.settings.delaySeconds = FILL_SECONDS
  relayer.start({ onError: (error) => reportRetry('relayer', error) })

  say('Starting the functions and the wallet …')
  const baseUrl = `http://localhost:${port}`
  const walletUrl = `http://localhost:${walletPort}`
  const controlsUrl = `${baseUrl}/sandbox`
  const roomUrl = `${walletUrl}/sandbox`
  const receivedUrl = `${controlsUrl}/webhooks/received`
  const origins = [...new Set([walletUrl, baseUrl, ...LOCAL_ENVIRONMENT.corsOrigins, ...settings.origins])]
  const { acrossApi, coinGecko, defiLlama, liFi, goldRush, alchemy, solana, merkl } = backends.providers
  const receiver = await startReceiver(Date.now)
  stops.push(receiver.stop)
  const { admin, hosts } = backends
  const switchService = (switches: BehaviourMessage) => service.postMessage(switches)
  const controls = await startControls(
    {
      ...{ relayer, curator, receiver, rewards: backends.rewards },
      chains: backends.chains.map((chain) => ({ ...chain, hosts: hosts[chain.chainId] ?? [] })),
      sources: {
        coingecko: coinGecko,
        defillama: defiLlama,
        lifi: liFi,
        goldrush: goldRush,
        alchemy,
        bridge: acrossApi,
        solana,
        merkl,
      },
      confirmVault: async (vault) => {
        const { digest } = await confirmVault(admin, vault, { shown: undefined })
        await confirmVault(admin, vault, { shown: digest })
      },
      throttle: (throttleSeconds) => switchService({ throttleSeconds }),
      tamper: (tampers) => switchService({ tampers }),
      states: states && backends.states ? showStates(states, backends.states, await relayer.listDeposits()) : [],
    },
    { origins, shownUrl: controlsUrl, roomUrl },
  )
  stops.push(controls.stop)
  // Pages of all origins that may call the API may also register passkeys.
  const variables = buildVariables(buildAccountVariables({ ...LOCAL_ENVIRONMENT, corsOrigins: origins }))
  await startService(service, {
    environment: { ...backends.environment, ...variables, SERVICE_VERSION: packageJson.version },
    gateway: {
      port,
      cors: { allowOrigins: origins },
      schedule: true,
      everySeconds: { 'jobs/refresh-chain': REFRESH_SECONDS },
    },
    docs: { apiKey, folder: DOCS_FOLDER, path: process.env['PATH'] },
    controlsUrl: controls.url,
  })
  const webhook = await registerReceiver(backends.admin, receiver, { clientId, baseUrl, receivedUrl })
  const wallet = await startWallet({
    port: walletPort,
    folder: WALLET_FOLDER,
    config: () => ({
      apiUrl: baseUrl,
      apiKey,
      signingKeys: backends.listSigningKeys(),
      chains: backends.chains.map(({ chainId, nodes: { url } }) => ({
        chainId,
        rpcUrl: url,
        explorerUrl: `${walletUrl}/sandbox/explorer/${chainId}`,
      })),
      sandbox: {
        accounts: ACCOUNTS.users.map(({ address }) => address),
        solanaWallet: SOLANA_WALLET,
        smartAccount: ACCOUNTS.smart.address,
        controlsUrl,
        receivedUrl,
      },
    }),
  })
  stops.push(wallet.stop)

  const state: LocalState = {
    walletUrl,
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
    controlsUrl,
    webhook,
    ...(states && { states }),
    signingKey: backends.signingKey,
    dynamoEndpoint: backends.dynamo.endpoint,
    deliveryQueueUrl: backends.queues.urls.deliveryQueue,
    tables: backends.dynamo.tableNames,
  }
  await writeState(state)
  stops.push(removeState)
  introduce(state, { origins, realMarkets })
  // `followTransfers` is not awaited, because its requests take half a second.
  if (states && backends.states) void followTransfers(baseUrl, backends.states, states).catch(() => undefined)
}

async function seed({ admin, chains }: Backends): Promise<{ clientId: string; apiKey: string; otherApiKey: string }> {
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
  return { clientId: demo.clientId, apiKey: demo.apiKey, otherApiKey: other.apiKey }
}

async function loadService(): Promise<Worker> {
  await mkdir('.local', { recursive: true })
  const log = createWriteStream(LOG_FILE)
  const service = new Worker(new URL('start/service.ts', import.meta.url), { env: {}, stdout: true, stderr: true })
  service.stdout.pipe(log)
  service.stderr.pipe(log, { end: false })
  await once(service, 'message')
  return service
}

async function startService(service: Worker, settings: ServiceSettings): Promise<void> {
  service.postMessage(settings)
  await once(service, 'message')
}

function introduce(
  { walletUrl, baseUrl, apiKey, controlsUrl, webhook }: LocalState,
  { origins, realMarkets }: { origins: readonly string[]; realMarkets: boolean },
): void {
  say('Ready.')
  process.stdout.write(`
  Control room  ${walletUrl}/sandbox
  Wallet        ${walletUrl}
  API           ${baseUrl}
  Docs          ${baseUrl}/docs
  API key       ${apiKey}
  Webhook       ${webhook.url}, which shows what arrives at ${webhook.receivedUrl}
  Origins       ${origins.join(' ')}
  Files         ${STATE_FILE} ${ENV_FILE} ${LOG_FILE}

  Try, in another terminal:

    # the vaults
    curl -s ${baseUrl}/defi-vaults/v1/vaults -H 'x-join-key: ${apiKey}'
    # a deposit from its approval to its claim
    npm run demo
    # settle all requests now, not within ${SETTLE_SECONDS} s; the control room has more controls
    curl -s ${controlsUrl}/vaults/settle -d '{}'

  The chains are a Base (8453) and an Arbitrum (42161) of this machine; transfers between them take ${FILL_SECONDS} s.
  Prices ${realMarkets ? 'come from the real services.' : 'are invented; MARKETS=real npm start uses real ones.'}

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

/** Prints an error after which the curator or relayer tries again. Prints nothing while the chains stop. */
function reportRetry(who: 'curator' | 'relayer', error: unknown): void {
  if (!stopping) say(`The ${who} will try again: ${messageOf(error)}`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function say(text: string): void {
  process.stdout.write(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${text}\n`)
}
