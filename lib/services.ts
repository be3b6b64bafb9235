import * as crypto from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { limiter } from './accounts/limits.ts'
import { RateLimits } from './accounts/rate-limits.ts'
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
import { listedVaultsStore, vaultLister } from './clients/listed-vaults-store.ts'
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
import { listedCoins } from './markets/listed-coins.ts'
import type { PriceSources } from './markets/source.ts'
import { tokenValues } from './markets/token-values.ts'
import { type PayFor, UNITS } from './meter/meter.ts'
import { createAlchemy } from './portfolio/alchemy.ts'
import { createGoldRush } from './portfolio/goldrush.ts'
import { createSolanaNftClient } from './portfolio/solana-nfts.ts'
import { createFallbackIndex, type TokenIndex } from './portfolio/token-index.ts'
import type { BridgeServices } from './prepare/transfer.ts'
import { campaignsReader } from './rewards/campaigns.ts'
import { createMerkl } from './rewards/merkl.ts'
import { watchedStore } from './rewards/watched-store.ts'
import { signingKeysIn } from './signing/secret.ts'
import { pinStore as createPinStore } from './vaults/pin-store.ts'
import { cachedPins } from './vaults/pins.ts'
import { priceStore } from './vaults/price-store.ts'
import { stateStore } from './vaults/state-store.ts'
import type { VaultKey } from './vaults/vault.ts'
import { vaultMemory } from './vaults/vault-memory.ts'
import { yieldLookup } from './vaults/yields.ts'
import { attemptsStore } from './webhooks/attempts-store.ts'
import { appendingLogStore, eventLogStore } from './webhooks/log-store.ts'
import { type Enqueue, type Postpone, parseMessageGroup } from './webhooks/queue.ts'
import { WebhookReach } from './webhooks/reach.ts'
import { readLatestWebhookKeys } from './webhooks/secret.ts'
import { createSender } from './webhooks/send.ts'
import { webhooksStore } from './webhooks/store.ts'

// Services that functions can use, each built once in a container from the function's environment. A bundle contains only the services that
// its handler names.

/** Built services by name, as a Lambda function's code receives them. */
export type Services<Name extends keyof typeof import('./services.ts')> = BuiltServices<
  Pick<typeof import('./services.ts'), Name>
>

const OUTSIDE = { fetch: fetchDirectly, random: Math.random, now: () => performance.now() }

const upstream = (env: Env<'cache'>, options: UpstreamOptions) =>
  createUpstream({ ...options, pause: sharedPause({ cache: cache(env), now: Date.now }, options.name) }, OUTSIDE)

/** Returns the current time in epoch milliseconds. */
export const now = () => Date.now

/** Resolves after this many milliseconds. */
export const sleep = () => (milliseconds: number) => setTimeout(milliseconds)

/** Returns unpredictable bytes. */
export const randomBytes = () => crypto.randomBytes

/** Version of this service that is running. */
export const version = (env: Env<'version'>) => env.version

/**
 * Configuration of the deployment, read once for these services. `container` (lib/frame/container.ts) builds them again
 * after a change. Throws if the secret cannot be read or has another form.
 */
export const config = /* @__PURE__ */ oncePer((env: Env<'config'>) => readLatestSecretJson(env.config, Config))

/** The service's own keys, newest first. The secrets of one-time codes and the ids of dummy keys are derived from them. */
export const identityKeys = (env: Env<'identity'>) => readLatestSecretJson(env.identity, KeysByAge)

/** Reads the keys for signing responses, the one that signs first. */
export const signingKeys = (env: Env<'signing'>) => signingKeysIn(env.signing)

/** Keys from which webhook secrets are derived, newest first. */
export const webhookKeys = (env: Env<'webhookKey'>) => readLatestWebhookKeys(env.webhookKey)

/** Kind of addresses that webhooks may have. */
export const webhookReach = (env: Env<'webhookReach'>) => WebhookReach.parse(env.webhookReach)

/** WebAuthn's relying party of this deployment. */
export const relyingParty = (env: Env<'relyingParty'>) => RelyingParty.parse(JSON.parse(env.relyingParty))

export const users = (env: Env<'users'>) => usersStore(openTable(env.users))

/** Limits registrations and guesses at logins. Counts each attempt, and throws `too_many_requests`. */
export const limitTries = (env: Env<'users' | 'rateLimits'>) =>
  limiter({
    users: users(env),
    limits: RateLimits.parse(JSON.parse(env.rateLimits)),
    randomBytes: crypto.randomBytes,
    now: Date.now,
  })

/** Vaults of all clients, with the clients of each. */
export const listedVaults = (env: Env<'clients'>) => listedVaultsStore(openTable(env.clients))

/** Adds clients' vaults that the lists of vaults lack. Runs at most once an hour in each container, so also after each deployment. */
export const relistVaults = (env: Env<'clients'>) =>
  cacheForLifetime(
    async () => {
      const relisted = await vaultLister(openOperatorTable(env.clients)).relist()
      if (relisted > 0) logger.warn('vaults listed again', { vaults: relisted })
    },
    HOUR_MS,
    Date.now,
  )

const PROGRESS_MS = 30_000

/** Recorded deposits, withdrawals and other events of vaults, with the block up to which each vault is recorded. */
export const records = (env: Env<'deposits'>) => {
  const store = recordsStore(openTable(env.deposits))
  const read = (vaults: readonly VaultKey[]) => store.getProgress(vaults, { isConsistent: false })
  // Old progress does no harm, because readers add newer events from the chain.
  return { ...store, recallProgress: vaultMemory(read, PROGRESS_MS, Date.now).list }
}

/** Recorded events of vaults, for the scheduled jobs that record them. */
export const recording = (env: Env<'deposits'>) => recordingStore(openTransactingTable(env.deposits))

/** Requests to asynchronous vaults that are not settled yet. */
export const openRequests = (env: Env<'deposits'>) => openRequestsStore(openTable(env.deposits))

/** Last recorded state of each vault, for times when its chain cannot be read. */
export const states = (env: Env<'deposits'>) => stateStore(openTable(env.deposits))

/** Pinned code and price of each vault, cached in the container. */
export const pins = (env: Env<'deposits'>) => cachedPins({ pinStore: pinStore(env), now: Date.now })

/** Pinned code and price of each vault, read from the table. */
export const pinStore = (env: Env<'deposits'>) => createPinStore(openTable(env.deposits))

/** Source-chain transactions of deposits that came over the bridge. */
export const sources = (env: Env<'deposits'>) => depositSourceStore(openTable(env.deposits))

/** Quotes that users have received. */
export const quotes = (env: Env<'deposits'>) => quotesStore(openTable(env.deposits))

/** Transfers over the bridge from other chains. */
export const transfers = (env: Env<'deposits'>) => transfersStore(openTable(env.deposits))

/** Recorded share prices of vaults. */
export const prices = (env: Env<'deposits'>) => priceStore(openTable(env.deposits))

/** Finds the yields of a vault from recorded share prices. */
export const getYield = (env: Env<'deposits'>) =>
  yieldLookup({ records: records(env), prices: prices(env), now: Date.now })

/** Returns the reader of a chain. */
export const getReader = async (env: Env<'config'>) => createChainReaders((await config(env)).rpcUrls, OUTSIDE)

/** Returns a chain's reader whose results two hosts must confirm, for data that is recorded as final. */
export const getAgreedReader = async (env: Env<'config'>) => createAgreedReaders((await config(env)).rpcUrls, OUTSIDE)

/** Runs work on two hosts of a chain and returns the value that both agree on, for data that users sign. */
export const agree = async (env: Env<'config'>) => createAgreement((await config(env)).rpcUrls, OUTSIDE)

/** The bridge Across, with our integrator id. Requests pay for its quotes from their rate-limit budget. */
export const bridge = async (env: Env<'config' | 'cache'>) => {
  const { integratorId, ...api } = (await config(env)).bridge
  const { fetchQuote } = createAcross(upstream(env, { ...api, name: 'Across' }))
  const quotesPaidBy = shareQuotes({ fetchQuote, now: Date.now })
  return ({ payFor }: { readonly payFor: PayFor }): Omit<BridgeServices, 'getReader'> => ({
    fetchQuote: quotesPaidBy(payFor(UNITS.quote, 'quotes').pay),
    integratorId,
  })
}

/** Deadline in milliseconds for a hint where a transfer ended. Without a hint the chain is searched. */
const HINT_DEADLINE_MS = 1_000

/** Fetches, from Across's indexer, the transaction that filled or refunded a transfer. */
export const fetchHint = async (env: Env<'config' | 'cache'>) => {
  const { url, headers } = (await config(env)).bridge
  return createAcross(upstream(env, { url, headers, name: 'Across status', deadlineMs: HINT_DEADLINE_MS })).fetchHint
}

/** Webhooks of clients. */
export const webhooks = (env: Env<'webhooks'>) => webhooksStore(openTable(env.webhooks))

/** Logs of webhook events, one for each client. */
export const eventLog = (env: Env<'webhooks'>) => eventLogStore(openTable(env.webhooks))

/** Logs of webhook events that can also append, for scheduled jobs. */
export const appendingLog = (env: Env<'webhooks'>) => appendingLogStore(openTransactingTable(env.webhooks))

/** Queues groups of a chain's vaults, each to be recorded by a function run of its own. */
export const enqueueShards =
  (env: Env<'shardQueue'>): EnqueueShards =>
  (messages) =>
    sendMessages(env.shardQueue, messages)

/** Queues webhook deliveries and probes. A busy webhook does not delay others. */
export const enqueueDeliveries =
  (env: Env<'deliveryQueue'>): Enqueue =>
  (messages, options) =>
    sendMessages(env.deliveryQueue, messages, { ...options, groupOf: parseMessageGroup })

/** Postpones a received message of the webhook delivery queue. */
export const postponeDelivery =
  (env: Env<'deliveryQueue'>): Postpone =>
  (receipt, seconds) =>
    hideMessage(env.deliveryQueue, receipt, seconds)

/** State of the deliveries to webhooks. */
export const attempts = (env: Env<'webhooks'>) => attemptsStore(openTable(env.webhooks))

/** Sends deliveries to webhooks. */
export const sendDelivery = (env: Env<'webhookReach'>) => createSender({ reach: webhookReach(env), now: Date.now })

/** Returns a random number in [0, 1). */
export const random = () => Math.random

/** Returns a new unique id. */
export const randomUUID = () => crypto.randomUUID

/** Cached responses of external services, shared by all functions. */
export const cache = (env: Env<'cache'>) => sharedCache({ table: cacheStore(openTable(env.cache)), now: Date.now })

/** Reads the values of tokens in US dollars from the cache. */
export const getTokenValues = (env: Env<'cache'>) => tokenValues({ cache: cache(env) })

/** Reads the reward campaigns of vaults from the cache. */
export const getCampaigns = (env: Env<'cache'>) => campaignsReader({ cache: cache(env), now: Date.now })

/** Client of CoinGecko. A request takes at most 3 s by default. */
export const coinGecko = async (env: Env<'config' | 'cache'>, limits: Pick<UpstreamOptions, 'deadlineMs'> = {}) =>
  createCoinGecko(upstream(env, { ...(await config(env)).coinGecko, name: 'CoinGecko', ...limits }))

/** Returns whether CoinGecko lists a coin. */
export const isListedCoin = (env: Env<'cache'>) => listedCoins({ cache: cache(env) })

/** External sources of token prices, the preferred one first. A request takes at most 3 s by default. */
export const priceSources = async (
  env: Env<'config' | 'cache'>,
  limits: Pick<UpstreamOptions, 'deadlineMs'> = {},
): Promise<PriceSources> => [
  await coinGecko(env, limits),
  createDefiLlama(upstream(env, { ...(await config(env)).defiLlama, name: 'DefiLlama', ...limits })),
]

/** Client of LI.FI. A request takes at most 3 s by default. */
export const liFi = async (env: Env<'config' | 'cache'>, limits: Pick<UpstreamOptions, 'deadlineMs'> = {}) =>
  createLiFi(upstream(env, { ...(await config(env)).liFi, name: 'LI.FI', ...limits }))

/** RPC client of Solana, over the configured nodes or else the registry's public ones. */
export const solana = async (env: Env<'config'>) =>
  createRpc((await config(env)).rpcUrls[SOLANA.id] ?? SOLANA.rpcUrls, OUTSIDE)

/** Services that list the tokens of a wallet, combined into one; undefined if the configuration has no key for any. */
export const tokenIndex = async (env: Env<'config' | 'cache'>) => {
  const { alchemy, goldRush, tokenIndexes } = await config(env)
  const created: Readonly<Record<(typeof tokenIndexes)[number], TokenIndex | undefined>> = {
    alchemy: alchemy.apiKey
      ? createAlchemy(
          upstream(env, { name: 'Alchemy', url: '', isLimitedBySecond: true }),
          { ...alchemy, apiKey: alchemy.apiKey },
          Date.now,
        )
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

/** Accounts whose rewards clients want events about. */
export const watchedAccounts = (env: Env<'deposits'>) => watchedStore(openTable(env.deposits))

/** Source of NFTs on Solana; undefined unless one is configured. */
export const solanaNfts = async (env: Env<'config' | 'cache'>) => {
  const api = (await config(env)).solanaNfts
  return api && createSolanaNftClient(upstream(env, { name: 'DAS', url: api.url }))
}
