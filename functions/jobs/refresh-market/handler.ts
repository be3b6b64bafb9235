import type * as z from 'zod'
import type { Aged } from '../../../lib/cache/cache.ts'
import { CHAINS, type Chain } from '../../../lib/chain/registry.ts'
import { badResponse } from '../../../lib/core/errors.ts'
import { logger } from '../../../lib/core/logger.ts'
import { toResult } from '../../../lib/core/result.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/core/time.ts'
import { job } from '../../../lib/frame/job.ts'
import {
  EXCHANGE_RATES_KEY,
  MARKET_DATA_KEY,
  PRICES_KEYS,
  pricesKey,
  TOKENS_KEYS,
} from '../../../lib/markets/cache-keys.ts'
import type { ListedToken, MarketCoin, TokenPrice } from '../../../lib/markets/coin.ts'
import { priceBeforeChange } from '../../../lib/markets/convert.ts'
import { coinNameByAddress, coinNameById, fetchPrices } from '../../../lib/markets/source.ts'
import { listSupportedTokens } from '../../../lib/markets/tokens.ts'
import { cache, coinGecko, config, now, priceSources, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

type MarketServices = Services<'cache' | 'coinGecko' | 'priceSources' | 'now'> & {
  /** Age in seconds at which the market data and the exchange rates are fetched again. */
  readonly marketSeconds: number
}

const PAGES = [1, 2, 3, 4]
/** Minimum length of a fetched list of coins or currencies, as a fraction of the cached list. A shorter list counts as a failed fetch. */
const MIN_SHARE = 0.9
/** Milliseconds by which a scheduled run may start early. Data that is due within this time counts as due. */
const TOLERANCE_MS = 60_000
/**
 * Factor by which a price must rise or fall to count as a jump, compared with a price at most an hour old. A second
 * source must confirm a jump.
 */
const JUMP = 10
/** Maximum factor between two sources' prices of a token at which the second source confirms the first. */
const AGREEMENT = 2

/**
 * Refreshes the cached market data, the exchange rates and the prices of all supported tokens. A token's price comes
 * from the new market data if they contain its CoinGecko id, otherwise from the price sources. Values that cannot be
 * fetched stay cached, prices for at most a day. Throws `upstream_*` if every attempted refresh failed.
 */
export async function refreshMarket(dependencies: MarketServices): Promise<z.output<typeof contract.report>> {
  const { cache, coinGecko, now, marketSeconds } = dependencies
  const cached = await cache.get({ market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY, ...TOKENS_KEYS, ...PRICES_KEYS })
  const startedAt = now()
  /** Refreshes one cached value. A failure is logged and returned, so that the other values are still refreshed. */
  const attempt = async <T>(what: string, before: Date | undefined, refresh: () => Promise<T>) => {
    const result = await toResult(refresh())
    if ('value' in result) return { what, value: result.value, lagMs: 0 }
    const { code, cause } = result.error
    logger.warn('not refreshed', { what, code, cause: cause instanceof Error ? cause.message : undefined })
    // A value that was never cached counts as one day old. That is the longest time for which prices are cached.
    return { what, error: result.error, lagMs: before ? startedAt - before.getTime() : DAY_MS }
  }
  const isDue = (answer: Aged<unknown> | undefined) =>
    !answer || now() - answer.asOf.getTime() >= marketSeconds * 1000 - TOLERANCE_MS

  const [market, rates] = await Promise.all([
    isDue(cached.market)
      ? attempt('market', cached.market?.asOf, async () => {
          const coins = await fetchMarket(coinGecko, cached.market?.value.length ?? 0)
          await cache.put(MARKET_DATA_KEY, coins)
          return coins
        })
      : undefined,
    isDue(cached.rates)
      ? attempt('rates', cached.rates?.asOf, async () => {
          const fetched = await coinGecko.fetchRates()
          const count = Object.keys(fetched).length
          if (count < Object.keys(cached.rates?.value ?? {}).length * MIN_SHARE)
            throw badResponse(`rates of ${count} currencies`)
          await cache.put(EXCHANGE_RATES_KEY, fetched)
          return fetched
        })
      : undefined,
  ])
  const newCoins = market?.value
  const chains = await Promise.all(
    CHAINS.map((chain) => {
      const before = cached[`prices ${chain.key}`]
      return attempt(`prices ${chain.key}`, before?.asOf, () =>
        refreshPrices(dependencies, chain, {
          tokens: listSupportedTokens(chain, cached[`tokens ${chain.key}`]),
          before: before?.value ?? {},
          newCoins: byId(newCoins),
          knownCoins: byId(newCoins ?? cached.market?.value),
        }),
      )
    }),
  )

  const attempts = [market, rates, ...chains].filter((each) => each !== undefined)
  const errors = attempts.flatMap(({ error }) => error ?? [])
  if (errors[0] && errors.length === attempts.length) throw errors[0]
  const sum = (field: 'fresh' | 'older' | 'outliers') =>
    chains.reduce((total, { value }) => total + (value?.[field] ?? 0), 0)
  return {
    coins: newCoins?.length ?? null,
    currencies: rates?.value ? Object.keys(rates.value).length : null,
    prices: sum('fresh'),
    olderPrices: sum('older'),
    outliers: sum('outliers'),
    failures: [
      ...attempts.flatMap(({ what, error }) => (error ? [what] : [])),
      ...chains.flatMap(({ what, value }) => (value && !value.isWhole ? [what] : [])),
    ],
    lagSeconds: Math.round(
      Math.max(...attempts.map(({ lagMs }) => lagMs), ...chains.map(({ value }) => value?.lagMs ?? 0)) / 1000,
    ),
  }
}

async function fetchMarket({ fetchMarketPage }: MarketServices['coinGecko'], before: number): Promise<MarketCoin[]> {
  const pages = await Promise.all(PAGES.map((page) => fetchMarketPage(page)))
  // A coin whose rank changes between two requests can be on two pages. So duplicates are removed.
  const coins = [...byId(pages.flat()).values()]
  if (coins.length > 0 && coins.length >= before * MIN_SHARE) return coins
  throw badResponse(`a market of ${coins.length} coins`)
}

type PricesInput = {
  readonly tokens: readonly ListedToken[]
  readonly before: Readonly<Record<string, TokenPrice>>
  /**
   * Coins of the market data that this run has fetched, by CoinGecko id; empty if it fetched none. Their prices are
   * used in place of prices from the price sources.
   */
  readonly newCoins: ReadonlyMap<string, MarketCoin>
  /**
   * Coins of the newest market data, fetched by this run or cached, by CoinGecko id. Their prices confirm jumps in the
   * prices of other sources.
   */
  readonly knownCoins: ReadonlyMap<string, MarketCoin>
}

/** Refreshes the prices of a chain's tokens. Throws `upstream_*` if no source has a price of any token. */
async function refreshPrices(
  { cache, priceSources, now }: MarketServices,
  chain: Chain,
  { tokens, before, newCoins, knownCoins }: PricesInput,
) {
  const nameOf = ({ address, coinGeckoId }: ListedToken) =>
    address === 'native' ? coinNameById(coinGeckoId) : coinNameByAddress(chain, address)
  const fromMarket = new Map(tokens.flatMap((token) => priceInMarket(token, newCoins, now())))
  const rest = tokens.filter(({ address }) => !fromMarket.has(address))
  const [current, dayAgo] = await Promise.all([
    fetchPrices(priceSources, rest.map(nameOf)),
    fetchPrices(priceSources, rest.map(nameOf), new Date(now() - DAY_MS)),
  ])
  const fresh = new Map(fromMarket)
  for (const token of rest) {
    const latest = current.prices.get(nameOf(token))
    const past = dayAgo.prices.get(nameOf(token))
    if (latest && latest.price > 0)
      fresh.set(token.address, { now: latest.price, dayAgo: past?.price ?? null, at: latest.at })
  }
  if (fresh.size === 0) throw current.failure ?? badResponse('no price of any token')

  const jumped = tokens.filter(({ address }) => hasJumped(before[address], fresh.get(address), now()))
  const ofMarket = jumped.filter(({ address }) => fromMarket.has(address))
  const second = await fetchPrices(priceSources, ofMarket.map(nameOf))
  const secondOpinion = (token: ListedToken) => {
    if (!fromMarket.has(token.address)) return knownCoins.get(token.coinGeckoId)?.price
    return second.prices.get(nameOf(token))?.price
  }
  const outliers = jumped.filter((token) => !areNear(fresh.get(token.address)?.now, secondOpinion(token)))
  for (const { address } of outliers) fresh.delete(address)

  const older = tokens.flatMap(({ address }) => {
    const price = fresh.has(address) ? undefined : before[address]
    return price && now() - price.at <= DAY_MS ? [[address, price] as const] : []
  })
  await cache.put(pricesKey(chain.key), Object.fromEntries([...fresh, ...older]))
  return {
    fresh: fresh.size,
    older: older.length - outliers.length,
    outliers: outliers.length,
    /** True if no price source failed. If one failed, prices may be missing. */
    isWhole: !current.failure && !dayAgo.failure,
    /** Age in milliseconds of the oldest price that remained because a price source failed. It is 0 if none failed. */
    lagMs: current.failure ? Math.max(0, ...older.map(([, { at }]) => now() - at)) : 0,
  }
}

function priceInMarket(
  { address, coinGeckoId }: ListedToken,
  coins: ReadonlyMap<string, MarketCoin>,
  at: number,
): (readonly [string, TokenPrice])[] {
  const { price = null, change24h = null } = coins.get(coinGeckoId) ?? {}
  // CoinGecko reports a price of zero for an unknown price, so such a coin is left out.
  return price ? [[address, { now: price, dayAgo: priceBeforeChange(price, change24h), at }]] : []
}

function hasJumped(before: TokenPrice | undefined, fresh: TokenPrice | undefined, now: number): boolean {
  if (!before || !fresh || now - before.at > HOUR_MS) return false
  return fresh.now > before.now * JUMP || fresh.now < before.now / JUMP
}

function areNear(left: number | undefined, right: number | null | undefined): boolean {
  return left !== undefined && typeof right === 'number' && left <= right * AGREEMENT && right <= left * AGREEMENT
}

function byId(coins: readonly MarketCoin[] = []): Map<string, MarketCoin> {
  return new Map(coins.map((coin) => [coin.id, coin]))
}

/** Time limit of one request to a price source. No user waits for this job, so it may take long. */
const LIMITS = { deadlineMs: 20_000 }
/**
 * Maximum age in seconds of the market data and exchange rates, by CoinGecko plan. It keeps the job within the plan's
 * monthly number of requests (docs/decisions/0006).
 */
const MARKET_SECONDS = { pro: 0, demo: 30 * 60 }

export const handler = job(
  contract,
  {
    cache,
    coinGecko: (env) => coinGecko(env, LIMITS),
    priceSources: (env) => priceSources(env, LIMITS),
    marketSeconds: async (env) => MARKET_SECONDS[(await config(env)).coinGecko.plan],
    now,
  },
  (services) => () => refreshMarket(services),
)
