import * as crypto from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { createAttemptLimiter } from './accounts/limits.ts'
import { AttemptLimits } from './accounts/rate-limits.ts'
import { RelyingParty } from './accounts/relying-party.ts'
import { usersStore } from './accounts/store.ts'
import { depositSourceStore } from './activity/deposit-source-store.ts'
import { openRequestsStore } from './activity/open-requests-store.ts'
import { recordingStore, recordsStore } from './activity/store.ts'
import { openTable } from './aws/dynamo.ts'
import { openOperatorTable } from './aws/operator-table.ts'
import { hideMessage, sendMessages } from './aws/queue.ts'
import { readLatestSecretJson } from './aws/secrets.ts'
import { openTransactingTable } from './aws/transactions.ts'
import { createAcross, shareQuotes } from './bridge/across.ts'
import { quotesStore } from './bridge/quote-store.ts'
import { transfersStore } from './bridge/store.ts'
import { sharedCache } from './cache/cache.ts'
import { sharedPause } from './cache/pause.ts'
import { cacheStore } from './cache/store.ts'
import { createAgreement } from './chain/agree.ts'
import { createAgreedReaders } from './chain/agreed-reader.ts'
import { createRpc } from './chain/nodes.ts'
import { createChainReaders } from './chain/readers.ts'
import { SOLANA } from './chain/registry.ts'
import { createVaultLister, listedVaultsStore } from './clients/listed-vaults-store.ts'
import { Config } from './config.ts'
import { createUpstream, type UpstreamOptions } from './core/http.ts'
import { KeysByAge } from './core/keys-by-age.ts'
import { logger } from './core/logger.ts'
import { cacheForLifetime, oncePer } from './core/once.ts'
import { fetchDirectly } from './core/outbound.ts'
import { HOUR_MS } from './core/time.ts'
import type { EnqueueShards } from './follow/shards.ts'
import type { BuiltServices } from './frame/container.ts'
import type { Env } from './frame/resources.ts'
import { createCoinGecko } from './markets/coingecko.ts'
import { createDefiLlama } from './markets/defillama.ts'
import { createLiFi } from './markets/lifi.ts'
import { createListedCoinLookup } from './markets/listed-coins.ts'
import type { PriceSources } from './markets/source.ts'
import { createTokenValuesReader } from './markets/token-values.ts'
import { type PayFor, REQUEST_UNITS } from './meter/meter.ts'
import { createAlchemy } from './portfolio/alchemy.ts'
import { createGoldRush } from './portfolio/goldrush.ts'
import { createSolanaNftClient } from './portfolio/solana-nfts.ts'
import { createFallbackIndex, type TokenIndex } from './portfolio/token-index.ts'
import type { BridgeServices } from './prepare/transfer.ts'
import { createCampaignsReader } from './rewards/campaigns.ts'
import { createMerkl } from './rewards/merkl.ts'
import { watchedStore } from './rewards/watched-store.ts'
import { createSigningKeysReader } from './signing/secret.ts'
import { pinStore as createPinStore } from './vaults/pin-store.ts'
import { createPinCache } from './vaults/pins.ts'
import { priceStore } from './vaults/price-store.ts'
import { stateStore } from './vaults/state-store.ts'
import type { VaultKey } from './vaults/vault.ts'
import { createVaultCache } from './vaults/vault-memory.ts'
import { yieldLookup } from './vaults/yields.ts'
import { attemptsStore } from './webhooks/attempts-store.ts'
import { appendingLogStore, eventLogStore } from './webhooks/log-store.ts'
import { type Enqueue, type Postpone, parseMessageGroup } from './webhooks/queue.ts'
import { WebhookReach } from './webhooks/reach.ts'
import { createSender } from './webhooks/send.ts'
import { webhooksStore } from './webhooks/store.ts'

// This module builds the services that Lambda functions use, each once per container from environment variables. A
// function's bundle contains only the services that its handler names.

/** Services with these names, as the code of a Lambda function receives them. */
export type Services<Name extends keyof typeof import('./services.ts')> = BuiltServices<
  Pick<typeof import('./services.ts'), Name>
>

const OUTSIDE = { fetch: fetchDirectly, random: Math.random, now: () => performance.now() }

const upstream = (env: Env<'cache'>, options: UpstreamOptions) =>
  createUpstream({ ...options, pause: sharedPause({ cache: cache(env), now: Date.now }, options.name) }, OUTSIDE)

/** Function that returns the current time in epoch milliseconds. */
export const now = () => Date.now

/** Function that resolves after this many milliseconds. */
export const sleep = () => (milliseconds: number) => setTimeout(milliseconds)

/** Function that returns cryptographically random bytes. */
export const randomBytes = () => crypto.randomBytes

/** Version of this service that is deployed. */
export const version = (env: Env<'version'>) => env.version

/**
 * Confidential configuration of the stage. Services that are built together share one read of it.
 * `createServiceContainer` builds all services again when the secret changes. Throws if the secret cannot be read or
 * does not match the schema.
 */
export const config = /* @__PURE__ */ oncePer((env: Env<'config'>) => readLatestSecretJson(env.config, Config))

/** Keys for user accounts, newest first. The service derives secrets of one-time codes from them, and dummy ids that hide unknown users. */
export const identityKeys = (env: Env<'identity'>) => readLatestSecretJson(env.identity, KeysByAge)

/** Reads the keys that sign responses. The first key signs; the second one is only published. */
export const signingKeys = (env: Env<'signing'>) => createSigningKeysReader(env.signing)

/** Keys from which webhook secrets are derived, newest first. */
export const webhookKeys = (env: Env<'webhookKey'>) => readLatestSecretJson(env.webhookKey, KeysByAge)

/** Network in which webhooks may be: `public`, or `loopback` for local tests. */
export const webhookReach = (env: Env<'webhookReach'>) => WebhookReach.parse(env.webhookReach)

/** WebAuthn's relying party of this stage. */
export const relyingParty = (env: Env<'relyingParty'>) => RelyingParty.parse(JSON.parse(env.relyingParty))

/** Store of users, their credentials, sessions and linked wallets. */
export const users = (env: Env<'users'>) => usersStore(openTable(env.users))

/** Limits registrations, guesses of secrets and wallet signatures. Counts each attempt, and throws `too_many_requests`. */
export const limitTries = (env: Env<'users' | 'rateLimits'>) =>
  createAttemptLimiter({
    users: users(env),
    limits: AttemptLimits.parse(JSON.parse(env.rateLimits)),
    randomBytes: crypto.randomBytes,
    now: Date.now,
  })

/** Store of all clients' vaults, and of the clients of each vault. */
export const listedVaults = (env: Env<'clients'>) => listedVaultsStore(openTable(env.clients))

/**
 * Adds vaults that are missing from the chains' lists of vaults. It does so on its first call in each container, then
 * at most once an hour.
 */
export const relistVaults = (env: Env<'clients'>) =>
  cacheForLifetime(
    async () => {
      const relisted = await createVaultLister(openOperatorTable(env.clients)).relist()
      if (relisted > 0) logger.warn('vaults listed again', { vaults: relisted })
    },
    HOUR_MS,
    Date.now,
  )

const PROGRESS_MS = 30_000

/** Store of recorded vault events, such as deposits and withdrawals. For each vault it has the last recorded block and the waits of settlements. */
export const records = (env: Env<'deposits'>) => {
  const store = recordsStore(openTable(env.deposits))
  const read = (vaults: readonly VaultKey[]) => store.getProgress(vaults, { isConsistent: false })
  // `recallProgress` caches the last recorded blocks for 30 seconds. That is harmless, because readers add newer events
  // from the chain.
  return { ...store, recallProgress: createVaultCache(read, PROGRESS_MS, Date.now).list }
}

/** Store of recorded vault events that can also record new events, for scheduled jobs. */
const recording = (env: Env<'deposits'>) => recordingStore(openTransactingTable(env.deposits))

/** Store of requests to asynchronous vaults that are not settled yet. */
const openRequests = (env: Env<'deposits'>) => openRequestsStore(openTable(env.deposits))

/** Store of the last recorded state of each vault. It is used while a vault's chain cannot be read. */
export const states = (env: Env<'deposits'>) => stateStore(openTable(env.deposits))

/** Cache of vaults' pins, the contract code and share price that an operator approved for each vault. */
export const pins = (env: Env<'deposits'>) => createPinCache({ pinStore: vaultPinStore(env), now: Date.now })

/** Store of vaults' pins, the contract code and share price that an operator approved for each vault. */
const vaultPinStore = (env: Env<'deposits'>) => createPinStore(openTable(env.deposits))

/** Store of the source-chain transactions of deposits that came over the bridge. */
export const depositSources = (env: Env<'deposits'>) => depositSourceStore(openTable(env.deposits))

/** Store of the bridge quotes that users have received. */
export const quotes = (env: Env<'deposits'>) => quotesStore(openTable(env.deposits))

/** Store of the transfers over the bridge, which the job refresh-chain follows. */
export const transfers = (env: Env<'deposits'>) => transfersStore(openTable(env.deposits))

/** Store of the recorded share prices of vaults. */
export const prices = (env: Env<'deposits'>) => priceStore(openTable(env.deposits))

/** Computes the yield of a vault from its recorded share prices. */
export const getYield = (env: Env<'deposits'>) =>
  yieldLookup({ records: records(env), prices: prices(env), now: Date.now })

/** Returns a chain's reader, which calls one of the chain's RPC nodes. */
export const getReader = async (env: Env<'config'>) => createChainReaders((await config(env)).rpcUrls, OUTSIDE)

/** Returns a chain's reader whose results two RPC hosts must confirm. It is for data that are recorded as final. */
export const getAgreedReader = async (env: Env<'config'>) => createAgreedReaders((await config(env)).rpcUrls, OUTSIDE)

/** Runs a function on two RPC hosts of a chain and returns the value on which both agree. It is for data that users sign. */
export const agree = async (env: Env<'config'>) => createAgreement((await config(env)).rpcUrls, OUTSIDE)

/**
 * Client of the bridge Across, with the service's integrator id. A bridge quote costs the caller of an API request
 * rate-limit units from the budget for quotes.
 */
export const bridge = async (env: Env<'config' | 'cache'>) => {
  const { integratorId, ...api } = (await config(env)).bridge
  const { fetchQuote } = createAcross(upstream(env, { ...api, name: 'Across' }))
  const quotesPaidBy = shareQuotes({ fetchQuote, now: Date.now })
  return ({ payFor }: { readonly payFor: PayFor }): Omit<BridgeServices, 'getReader'> => ({
    fetchQuote: quotesPaidBy(payFor(REQUEST_UNITS.quote, 'quotes').pay),
    integratorId,
  })
}

/**
 * Maximum milliseconds for a request to Across's indexer for the transaction that filled or refunded a transfer.
 * Without a response, that transaction is searched on the chain.
 */
const HINT_DEADLINE_MS = 1_000

/** Fetches from Across's indexer the transaction that filled or refunded a transfer. */
export const fetchHint = async (env: Env<'config' | 'cache'>) => {
  const { url, headers } = (await config(env)).bridge
  return createAcross(upstream(env, { url, headers, name: 'Across status', deadlineMs: HINT_DEADLINE_MS })).fetchHint
}

/** Store of the clients' webhooks. */
export const webhooks = (env: Env<'webhooks'>) => webhooksStore(openTable(env.webhooks))

/** Store of webhook events, with one log per client. */
export const eventLog = (env: Env<'webhooks'>) => eventLogStore(openTable(env.webhooks))

/** Store of webhook events that can also append events, for scheduled jobs. */
export const appendingLog = (env: Env<'webhooks'>) => appendingLogStore(openTransactingTable(env.webhooks))

/** Queues groups of a chain's vaults. A separate function run records the chain data of each group. */
export const enqueueShards =
  (env: Env<'shardQueue'>): EnqueueShards =>
  (messages) =>
    sendMessages(env.shardQueue, messages)

/** Queues webhook deliveries, and tests of failing webhooks. The queue is fair: a busy webhook does not delay the others. */
export const enqueueDeliveries =
  (env: Env<'deliveryQueue'>): Enqueue =>
  (messages, options) =>
    sendMessages(env.deliveryQueue, messages, { ...options, groupOf: parseMessageGroup })

/** Postpones a message that was received from the webhook delivery queue. */
export const postponeDelivery =
  (env: Env<'deliveryQueue'>): Postpone =>
  (receipt, seconds) =>
    hideMessage(env.deliveryQueue, receipt, seconds)

/** Store of the delivery state of each failing webhook. */
export const attempts = (env: Env<'webhooks'>) => attemptsStore(openTable(env.webhooks))

/** Sends a webhook event to its endpoint. */
export const sendDelivery = (env: Env<'webhookReach'>) => createSender({ reach: webhookReach(env), now: Date.now })

/** Function that returns a random number in [0, 1). */
export const random = () => Math.random

/** Function that returns a new random UUID. */
export const randomUUID = () => crypto.randomUUID

/** Cache of the responses of external services, shared by all functions. */
export const cache = (env: Env<'cache'>) => sharedCache({ table: cacheStore(openTable(env.cache)), now: Date.now })

/** Reads the values of tokens in US dollars from cached prices. */
export const getTokenValues = (env: Env<'cache'>) => createTokenValuesReader({ cache: cache(env) })

/** Reads the cached reward campaigns of vaults. */
export const getCampaigns = (env: Env<'cache'>) => createCampaignsReader({ cache: cache(env), now: Date.now })

/** Client of CoinGecko. A request takes at most 3 s unless `limits` sets another deadline. */
export const coinGecko = async (env: Env<'config' | 'cache'>, limits: Pick<UpstreamOptions, 'deadlineMs'> = {}) =>
  createCoinGecko(upstream(env, { ...(await config(env)).coinGecko, name: 'CoinGecko', ...limits }))

/** Looks up if CoinGecko lists a coin. */
export const isListedCoin = (env: Env<'cache'>) => createListedCoinLookup({ cache: cache(env) })

/**
 * External sources of token prices, in the order in which they are tried. A request takes at most 3 s unless `limits`
 * sets another deadline.
 */
export const priceSources = async (
  env: Env<'config' | 'cache'>,
  limits: Pick<UpstreamOptions, 'deadlineMs'> = {},
): Promise<PriceSources> => [
  await coinGecko(env, limits),
  createDefiLlama(upstream(env, { ...(await config(env)).defiLlama, name: 'DefiLlama', ...limits })),
]

/** Client of LI.FI, which supplies the list of tokens. A request takes at most 3 s unless `limits` sets another deadline. */
export const liFi = async (env: Env<'config' | 'cache'>, limits: Pick<UpstreamOptions, 'deadlineMs'> = {}) =>
  createLiFi(upstream(env, { ...(await config(env)).liFi, name: 'LI.FI', ...limits }))

/** RPC client of Solana. It uses the configured nodes, or else the public nodes of the chain registry. */
export const solana = async (env: Env<'config'>) =>
  createRpc((await config(env)).rpcUrls[SOLANA.id] ?? SOLANA.rpcUrls, OUTSIDE)

/**
 * Token index: the services that list a wallet's tokens, combined into one. It is undefined if no service has an API
 * key in the configuration.
 */
export const tokenIndex = async (env: Env<'config' | 'cache'>) => {
  const { alchemy, goldRush, tokenIndexes } = await config(env)
  const created: Readonly<Record<(typeof tokenIndexes)[number], TokenIndex | undefined>> = {
    alchemy: alchemy.apiKey
      ? createAlchemy(upstream(env, { name: 'Alchemy', url: '', isLimitedBySecond: true }), {
          ...alchemy,
          apiKey: alchemy.apiKey,
        })
      : undefined,
    goldRush: goldRush.apiKey
      ? createGoldRush(
          upstream(env, {
            name: 'GoldRush',
            url: goldRush.url,
            headers: { authorization: `Bearer ${goldRush.apiKey}` },
          }),
        )
      : undefined,
  }
  return createFallbackIndex(tokenIndexes.flatMap((name) => created[name] ?? []))
}

/** Client of Merkl, the source of rewards and reward campaigns. */
export const merkl = async (env: Env<'config' | 'cache'>) =>
  createMerkl(upstream(env, { ...(await config(env)).merkl, name: 'Merkl', isLimitedBySecond: true }))

/** Store of the accounts whose rewards are published to clients. */
export const watchedAccounts = (env: Env<'deposits'>) => watchedStore(openTable(env.deposits))

/** Client of the Solana node that lists NFTs; undefined if none is configured. */
export const solanaNfts = async (env: Env<'config' | 'cache'>) => {
  const api = (await config(env)).solanaNfts
  return api && createSolanaNftClient(upstream(env, { name: 'DAS', url: api.url }))
}

/** Services with which a function records the vaults of a chain. */
export const shardServices = {
  records: recording,
  prices,
  openRequests,
  states,
  getYield,
  pinStore: vaultPinStore,
  getReader: getAgreedReader,
  eventLog: appendingLog,
  webhooks,
  enqueue: enqueueDeliveries,
  sleep,
  now,
  random,
}
