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
import { agreement } from './chain/agree.ts'
import { agreedReaders } from './chain/agreed-reader.ts'
import { createRpc } from './chain/nodes.ts'
import { chainReaders } from './chain/readers.ts'
import { SOLANA } from './chain/registry.ts'
import { listedVaultsStore, vaultLister } from './clients/listed-vaults-store.ts'
import { Config } from './config.ts'
import type { EnqueueShards } from './follow/shards.ts'
import type { Built } from './frame/container.ts'
import type { Env } from './frame/resources.ts'
import { createUpstream, type UpstreamOptions } from './http.ts'
import { KeysByAge } from './keys-by-age.ts'
import { logger } from './logger.ts'
import { createCoinGecko } from './markets/coingecko.ts'
import { createDefiLlama } from './markets/defillama.ts'
import { createLiFi } from './markets/lifi.ts'
import { listedCoins } from './markets/listed-coins.ts'
import type { PriceSources } from './markets/source.ts'
import { tokenValues } from './markets/token-values.ts'
import { type PayFor, UNITS } from './meter/meter.ts'
import { oncePer, refreshed } from './once.ts'
import { fetchDirectly } from './outbound.ts'
import { createAlchemy } from './portfolio/alchemy.ts'
import { createGoldRush } from './portfolio/goldrush.ts'
import { createSolanaNfts } from './portfolio/solana-nfts.ts'
import { inOrder, type TokenIndex } from './portfolio/token-index.ts'
import type { BridgeServices } from './prepare/transfer.ts'
import { campaignsReader } from './rewards/campaigns.ts'
import { createMerkl } from './rewards/merkl.ts'
import { watchedStore } from './rewards/watched-store.ts'
import { signingKeysIn } from './signing/secret.ts'
import { HOUR_MS } from './time.ts'
import { pinStore as createPinStore } from './vaults/pin-store.ts'
import { cachedPins } from './vaults/pins.ts'
import { priceStore } from './vaults/price-store.ts'
import { stateStore } from './vaults/state-store.ts'
import type { VaultKey } from './vaults/vault.ts'
import { vaultMemory } from './vaults/vault-memory.ts'
import { yieldLookup } from './vaults/yields.ts'
import { attemptsStore } from './webhooks/attempts-store.ts'
import { appendingLogStore, eventLogStore } from './webhooks/log-store.ts'
import { type Enqueue, groupOfMessage, type Postpone } from './webhooks/queue.ts'
import { WebhookReach } from './webhooks/reach.ts'
import { readLatestWebhookKeys } from './webhooks/secret.ts'
import { createSender } from './webhooks/send.ts'
import { webhooksStore } from './webhooks/store.ts'

// What a function works with, each built once in a container of what the function uses. A bundle has those alone that
// its handler names.

/** These services, by their names, as a function's work is given them. */
export type Services<Name extends keyof typeof import('./services.ts')> = Built<
  Pick<typeof import('./services.ts'), Name>
>

const OUTSIDE = { fetch: fetchDirectly, random: Math.random, now: () => performance.now() }

const upstream = (env: Env<'cache'>, options: UpstreamOptions) =>
  createUpstream({ ...options, pause: sharedPause({ cache: cache(env), now: Date.now }, options.name) }, OUTSIDE)

/** Epoch milliseconds. */
export const now = () => Date.now

/** Resolves after so many milliseconds. */
export const sleep = () => (milliseconds: number) => setTimeout(milliseconds)

/** Bytes that nobody can predict. */
export const randomBytes = () => crypto.randomBytes

/** What runs. */
export const version = (env: Env<'version'>) => env.version

/**
 * The stage's configuration, read once for these services: the frame builds them anew once it was changed. Throws when the
 * secret cannot be read or has another form.
 */
export const config = /* @__PURE__ */ oncePer((env: Env<'config'>) => readLatestSecretJson(env.config, Config))

/** The service's own keys, from which the secrets of one-time codes and the ids of dummy keys follow, the newest first. */
export const identityKeys = (env: Env<'identity'>) => readLatestSecretJson(env.identity, KeysByAge)

/** Reads the keys that sign answers, the one that signs first. */
export const signingKeys = (env: Env<'signing'>) => signingKeysIn(env.signing)

/** The keys from which the secrets of webhooks follow, the newest first. */
export const webhookKeys = (env: Env<'webhookKey'>) => readLatestWebhookKeys(env.webhookKey)

/** Where events are sent. */
export const webhookReach = (env: Env<'webhookReach'>) => WebhookReach.parse(env.webhookReach)

/** For whom credentials are. */
export const relyingParty = (env: Env<'relyingParty'>) => RelyingParty.parse(JSON.parse(env.relyingParty))

export const users = (env: Env<'users'>) => usersStore(openTable(env.users))

/** Counts tries, and throws `too_many_requests`. */
export const limitTries = (env: Env<'users' | 'rateLimits'>) =>
  limiter({
    users: users(env),
    limits: RateLimits.parse(JSON.parse(env.rateLimits)),
    randomBytes: crypto.randomBytes,
    now: Date.now,
  })

/** The vaults that any client has, and which clients. */
export const listedVaults = (env: Env<'clients'>) => listedVaultsStore(openTable(env.clients))

/** Lists the clients' vaults that the list lacks, once an hour and container: so also right after each deploy. */
export const relistVaults = (env: Env<'clients'>) =>
  refreshed(
    async () => {
      const relisted = await vaultLister(openOperatorTable(env.clients)).relist()
      if (relisted > 0) logger.warn('vaults listed again', { vaults: relisted })
    },
    HOUR_MS,
    Date.now,
  )

/** Milliseconds for which a container remembers how far vaults are recorded. */
const PROGRESS_MS = 30_000

/** What happened in vaults, and how far that is recorded. */
export const records = (env: Env<'deposits'>) => {
  const store = recordsStore(openTable(env.deposits))
  const read = (vaults: readonly VaultKey[]) => store.getProgress(vaults, { isConsistent: false })
  // Reads add the events since then anyway.
  return { ...store, recallProgress: vaultMemory(read, PROGRESS_MS, Date.now).list }
}

/** The same as the job uses it, which writes how far vaults are recorded. */
export const recording = (env: Env<'deposits'>) => recordingStore(openTransactingTable(env.deposits))

/** The requests that wait for their settlement. */
export const openRequests = (env: Env<'deposits'>) => openRequestsStore(openTable(env.deposits))

/** The last known state of each vault. */
export const states = (env: Env<'deposits'>) => stateStore(openTable(env.deposits))

/** What of each vault is pinned, as the container knows it. */
export const pins = (env: Env<'deposits'>) => cachedPins({ pinStore: pinStore(env), now: Date.now })

/** The same, as the table has it. */
export const pinStore = (env: Env<'deposits'>) => createPinStore(openTable(env.deposits))

/** The transactions on other chains with which deposits began. */
export const sources = (env: Env<'deposits'>) => depositSourceStore(openTable(env.deposits))

/** The quotes that were handed out. */
export const quotes = (env: Env<'deposits'>) => quotesStore(openTable(env.deposits))

/** Transfers from other chains. */
export const transfers = (env: Env<'deposits'>) => transfersStore(openTable(env.deposits))

/** The share prices of vaults. */
export const prices = (env: Env<'deposits'>) => priceStore(openTable(env.deposits))

/** Finds a vault's yields. */
export const getYield = (env: Env<'deposits'>) =>
  yieldLookup({ records: records(env), prices: prices(env), now: Date.now })

/** Gives the reader of a chain. */
export const getReader = async (env: Env<'config'>) => chainReaders((await config(env)).rpcUrls, OUTSIDE)

/** Gives the reader of a chain that returns only what two hosts agree on: for what becomes final. */
export const getAgreedReader = async (env: Env<'config'>) => agreedReaders((await config(env)).rpcUrls, OUTSIDE)

/** Runs work on two hosts of a chain and returns what both agree on: for what users sign. */
export const agree = async (env: Env<'config'>) => agreement((await config(env)).rpcUrls, OUTSIDE)

/** Across, whose quotes a request pays for, and our id there. */
export const bridge = async (env: Env<'config' | 'cache'>) => {
  const { integratorId, ...api } = (await config(env)).bridge
  const { fetchQuote } = createAcross(upstream(env, { ...api, name: 'Across' }))
  const quotesPaidBy = shareQuotes({ fetchQuote, now: Date.now })
  return ({ payFor }: { readonly payFor: PayFor }): Omit<BridgeServices, 'getReader'> => ({
    fetchQuote: quotesPaidBy(payFor(UNITS.quote, 'quotes').pay),
    integratorId,
  })
}

/** Milliseconds for a hint: without one the chain is searched. */
const HINT_DEADLINE_MS = 1_000

/** Fetches where the bridge's indexer sees a fill or a refund. */
export const fetchHint = async (env: Env<'config' | 'cache'>) => {
  const { url, headers } = (await config(env)).bridge
  return createAcross(upstream(env, { url, headers, name: 'Across status', deadlineMs: HINT_DEADLINE_MS })).fetchHint
}

/** The webhooks of clients. */
export const webhooks = (env: Env<'webhooks'>) => webhooksStore(openTable(env.webhooks))

/** The events of each client, in order. */
export const eventLog = (env: Env<'webhooks'>) => eventLogStore(openTable(env.webhooks))

/** The same as the job uses it, which appends. */
export const appendingLog = (env: Env<'webhooks'>) => appendingLogStore(openTransactingTable(env.webhooks))

/** Has shards of a chain's vaults recorded, each by a run of its own. */
export const enqueueShards =
  (env: Env<'shardQueue'>): EnqueueShards =>
  (messages) =>
    sendMessages(env.shardQueue, messages)

/** Queues events and probes for webhooks. A busy webhook keeps no other waiting. */
export const enqueueDeliveries =
  (env: Env<'deliveryQueue'>): Enqueue =>
  (messages, options) =>
    sendMessages(env.deliveryQueue, messages, { ...options, groupOf: groupOfMessage })

/** Has a received message of that queue handed out again later. */
export const postponeDelivery =
  (env: Env<'deliveryQueue'>): Postpone =>
  (receipt, seconds) =>
    hideMessage(env.deliveryQueue, receipt, seconds)

/** How deliveries to webhooks go. */
export const attempts = (env: Env<'webhooks'>) => attemptsStore(openTable(env.webhooks))

/** Sends deliveries. */
export const sendDelivery = (env: Env<'webhookReach'>) => createSender({ reach: webhookReach(env), now: Date.now })

/** Uniform in [0, 1). */
export const random = () => Math.random

/** Words of which no two are the same. */
export const randomUUID = () => crypto.randomUUID

/** The answers of upstreams, which all functions share. */
export const cache = (env: Env<'cache'>) => sharedCache({ table: cacheStore(openTable(env.cache)), now: Date.now })

/** Reads what tokens are worth in US dollars. */
export const getTokenValues = (env: Env<'cache'>) => tokenValues({ cache: cache(env) })

/** Reads what campaigns of vaults pay. */
export const getCampaigns = (env: Env<'cache'>) => campaignsReader({ cache: cache(env), now: Date.now })

/** CoinGecko; a request takes 3 s at most unless told. */
export const coinGecko = async (env: Env<'config' | 'cache'>, limits: Pick<UpstreamOptions, 'deadlineMs'> = {}) =>
  createCoinGecko(upstream(env, { ...(await config(env)).coinGecko, name: 'CoinGecko', ...limits }))

/** Tells which coins CoinGecko has. */
export const isListedCoin = (env: Env<'cache'>) => listedCoins({ cache: cache(env) })

/** The sources of prices, the preferred one first; a request takes 3 s at most unless told. */
export const priceSources = async (
  env: Env<'config' | 'cache'>,
  limits: Pick<UpstreamOptions, 'deadlineMs'> = {},
): Promise<PriceSources> => [
  await coinGecko(env, limits),
  createDefiLlama(upstream(env, { ...(await config(env)).defiLlama, name: 'DefiLlama', ...limits })),
]

/** LI.FI; a request takes 3 s at most unless told. */
export const liFi = async (env: Env<'config' | 'cache'>, limits: Pick<UpstreamOptions, 'deadlineMs'> = {}) =>
  createLiFi(upstream(env, { ...(await config(env)).liFi, name: 'LI.FI', ...limits }))

/** Solana's nodes as the configuration names them, else the registry's public ones. */
export const solana = async (env: Env<'config'>) =>
  createRpc((await config(env)).rpcUrls[SOLANA.id] ?? SOLANA.rpcUrls, OUTSIDE)

/** The indexes of wallets as one; undefined where the configuration has no key for any. */
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
  return inOrder(tokenIndexes.flatMap((name) => created[name] ?? []))
}

/** Merkl, the source of rewards and campaigns. */
export const merkl = async (env: Env<'config' | 'cache'>) =>
  createMerkl(upstream(env, { ...(await config(env)).merkl, name: 'Merkl', isLimitedBySecond: true }))

/** The accounts whose rewards clients watch. */
export const watchedAccounts = (env: Env<'deposits'>) => watchedStore(openTable(env.deposits))

/** The source of Solana's NFTs; undefined where the configuration names none. */
export const solanaNfts = async (env: Env<'config' | 'cache'>) => {
  const api = (await config(env)).solanaNfts
  return api && createSolanaNfts(upstream(env, { name: 'DAS', url: api.url }))
}
