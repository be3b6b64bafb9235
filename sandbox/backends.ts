import { randomBytes } from 'node:crypto'
import type * as z from 'zod'
import type { Admin } from '../admin/admin.ts'
import { localAdmin } from '../admin/connect.ts'
import {
  buildAccountVariables,
  configSecretName,
  identitySecretName,
  LOCAL_ENVIRONMENT,
  signingSecretName,
  webhookKeySecretName,
} from '../infra/environments.ts'
import type { RpcUrls } from '../lib/chain/readers.ts'
import { CHAINS } from '../lib/chain/registry.ts'
import { buildVariables } from '../lib/frame/resources.ts'
import type { TokenIndexApis } from '../lib/portfolio/apis.ts'
import { createSigningKey, publicKeyOf, SigningKeys } from '../lib/signing/keys.ts'
import type { PublicKey } from '../lib/signing/public-key.ts'
import { deployBridge, deployBridgeTokens } from './bridge.ts'
import { moveToNow, PAST_SECONDS, playHistory } from './chains/history.ts'
import { prepareStates, type States } from './chains/states.ts'
import { deployLocalWorld, type LocalWorld } from './chains/world.ts'
import { type RunningChain, startChain } from './chains.ts'
import { type Database, localCredentials, startDynamo } from './dynamo.ts'
import { NODE_PROFILES, type NodeProfileName } from './node-profiles.ts'
import { type Node, startNode } from './nodes.ts'
import { ALCHEMY_KEY } from './providers/alchemy.ts'
import { GOLDRUSH_KEY } from './providers/goldrush.ts'
import { type Providers, startProviders } from './providers.ts'
import { type LocalQueues, startQueues } from './queues.ts'
import { createRelayer, type Relayer } from './relayer.ts'
import { createRewardOperator, type RewardOperator } from './rewards.ts'

/** Running local versions of all services that the Lambda functions call. */
export type Backends = {
  readonly chains: readonly (RunningChain & LocalWorld)[]
  /** Imitated RPC nodes in front of each chain, by chain id; empty if the functions read the chain directly. */
  readonly hosts: Readonly<Record<number, readonly Node[]>>
  readonly rpcUrls: RpcUrls
  readonly dynamo: Database
  readonly queues: LocalQueues
  readonly providers: Providers
  readonly relayer: Relayer
  readonly rewards: RewardOperator
  /**
   * Prepared deposits, withdrawals, rewards and transfers in each status, such as pending; undefined unless `withPast` and `withStates` are
   * true.
   */
  readonly states: States | undefined
  readonly environment: Readonly<Record<string, string>>
  readonly signingKey: PublicKey
  /** Lists the public parts of all published signing keys. The key in use comes first. */
  readonly listSigningKeys: () => readonly PublicKey[]
  readonly admin: Admin
  /** Sets the RPC URLs in the configuration that functions read when they start. Chains without a URL here get fake nodes. */
  setRpcUrls(rpcUrls: RpcUrls): void
  /** Changes other parts of the configuration that functions read when they start. */
  configure(
    changes: {
      readonly [Api in
        | 'alchemy'
        | 'bridge'
        | 'coinGecko'
        | 'defiLlama'
        | 'goldRush'
        | 'merkl'
        | 'solanaNfts'
        | 'tokenIndexes']?: object | undefined
    },
  ): void
  stop(): Promise<void>
}

const CHAIN_IDS = [8453, 42161]
const CONFIG_SECRET = configSecretName('local')
const WEBHOOK_KEY_SECRET = webhookKeySecretName('local')
const IDENTITY_SECRET = identitySecretName('local')
const SIGNING_SECRET = signingSecretName('local')

/** Name of a wallet index (an API that lists all tokens of a wallet) in the configuration. */
export type IndexName = z.output<typeof TokenIndexApis>[number]

/** Options for starting the backends. */
export type BackendsOptions = {
  readonly chainIds?: readonly number[]
  readonly blockSeconds?: number
  /** Ids of further chains to which the bridge can transfer, but which have no vaults. */
  readonly bridgedChainIds?: readonly number[]
  readonly withPast?: boolean
  readonly withStates?: boolean
  /** Wallet indexes in the order in which the functions call them; GoldRush by default. */
  readonly indexes?: readonly IndexName[]
  readonly realMarkets?: boolean
  /** Profiles of the imitated nodes in front of each chain, in the order of their URLs; none by default. */
  readonly nodes?: readonly NodeProfileName[]
  /** Database to use and to stop; by default the backends start one in this process. */
  readonly database?: Database
}

/**
 * Starts chains, DynamoDB, SQS and fakes of the outside services. Deploys the local contracts, and creates the service's tables and queues.
 */
export async function startBackends(options: BackendsOptions = {}): Promise<Backends> {
  const { blockSeconds, chainIds = CHAIN_IDS, bridgedChainIds = [], withPast = false, realMarkets = false } = options
  const { nodes: profiles = [], withStates = false, indexes = ['goldRush'] } = options
  const [dynamo, queues, ...chains] = await Promise.all([
    options.database ?? startDynamo(),
    startQueues(),
    ...[...chainIds, ...bridgedChainIds].map(async (chainId) => {
      const chain = await startChain({
        chainId,
        ...(withPast ? { startsAt: Math.floor(Date.now() / 1000) - PAST_SECONDS } : blockSeconds && { blockSeconds }),
      })
      const world = chainIds.includes(chainId)
        ? await deployLocalWorld(chain)
        : { tokens: await deployBridgeTokens(chain, ['USDC', 'USDT']), vaults: [] }
      await deployBridge(chain, world.tokens)
      if (!withPast) return { ...chain, ...world }
      return { ...chain, blockSeconds, ...(await playHistory(chain, world, Date.now)) }
    }),
  ])
  const relayer = createRelayer({ chains })
  const rewards = createRewardOperator({ chains })
  const toNow = () => Promise.all(chains.map((chain) => moveToNow(chain, Date.now)))
  const states = withPast && withStates ? await prepareStates(chains, { relayer, rewards }, toNow) : undefined
  if (withPast && !withStates) await toNow()
  if (withPast && blockSeconds) await Promise.all(chains.map((chain) => chain.keepTime(blockSeconds)))
  const bridge = { url: '' }
  const config: { rpcUrls: RpcUrls; bridge: typeof bridge } = { rpcUrls: {}, bridge }
  const signingKey = createSigningKey(new Date())
  const secrets = {
    [CONFIG_SECRET]: config,
    [IDENTITY_SECRET]: { key: randomBytes(32).toString('hex') },
    [WEBHOOK_KEY_SECRET]: { key: randomBytes(32).toString('hex') },
    [SIGNING_SECRET]: SigningKeys.encode({ keys: [signingKey] }),
  }
  const providers = await startProviders({ secrets, chains, relayer, rewards })
  bridge.url = `${providers.url}/api`
  Object.assign(config, {
    goldRush: { url: `${providers.url}/goldrush`, ...(indexes.includes('goldRush') && { apiKey: GOLDRUSH_KEY }) },
    alchemy: { url: `${providers.url}/alchemy/{network}`, ...(indexes.includes('alchemy') && { apiKey: ALCHEMY_KEY }) },
    tokenIndexes: indexes,
    solanaNfts: { url: `${providers.url}/solana` },
    merkl: { url: `${providers.url}/merkl` },
  })
  const otherRpcUrls: RpcUrls = Object.fromEntries(
    CHAINS.map(({ kind, id }): [number, [string]] => [
      id,
      [`${providers.url}/${kind === 'solana' ? 'solana' : `idle/${id}`}`],
    ]),
  )
  const setRpcUrls = (rpcUrls: RpcUrls) => {
    config.rpcUrls = { ...otherRpcUrls, ...rpcUrls }
  }
  const hosts: Record<number, readonly Node[]> = {}
  const rpcUrls: RpcUrls = {}
  for (const chain of chains) {
    const { chainId } = chain
    const own = await Promise.all(profiles.map((name) => startNode(NODE_PROFILES[name], chain.nodes.url)))
    hosts[chainId] = own
    const [first = chain.nodes.url, ...others] = own.map(({ url }) => url)
    rpcUrls[chainId] = [first, ...others]
  }
  setRpcUrls(rpcUrls)
  if (!realMarkets) {
    Object.assign(config, {
      coinGecko: { url: `${providers.url}/coingecko` },
      defiLlama: { url: `${providers.url}/defillama` },
      liFi: { url: `${providers.url}/lifi` },
    })
  }
  const { endpoint: dynamoEndpoint, tableNames: tables } = dynamo
  return {
    chains,
    hosts,
    rpcUrls,
    dynamo,
    queues,
    providers,
    relayer,
    rewards,
    states,
    environment: {
      ...localCredentials,
      AWS_ENDPOINT_URL_DYNAMODB: dynamoEndpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: providers.url,
      CLIENTS_TABLE: tables.clients,
      DEPOSITS_TABLE: tables.deposits,
      USERS_TABLE: tables.users,
      WEBHOOKS_TABLE: tables.webhooks,
      CACHE_TABLE: tables.cache,
      CONFIG_SECRET,
      IDENTITY_SECRET,
      SIGNING_SECRET,
      WEBHOOK_KEY_SECRET,
      ...queues.variables,
      WEBHOOK_REACH: 'loopback',
      ...buildVariables(buildAccountVariables(LOCAL_ENVIRONMENT)),
    },
    admin: localAdmin({
      dynamo: dynamo.connection,
      sharedNow: Date.now,
      providersUrl: providers.url,
      deliveryQueueUrl: queues.urls.deliveryQueue,
      tables,
      chains: [...chains],
    }),
    signingKey: publicKeyOf(signingKey),
    listSigningKeys: () => SigningKeys.parse(secrets[SIGNING_SECRET]).keys.map(publicKeyOf),
    setRpcUrls,
    configure: (changes) => Object.assign(config, changes),
    async stop() {
      // All backends stop in parallel. If the chains stopped first, the relayer would wait for a stopped chain.
      await Promise.all(
        [relayer, ...Object.values(hosts).flat(), ...chains, dynamo, queues, providers].map((backend) =>
          backend.stop(),
        ),
      )
    },
  }
}
