import type * as z from 'zod'
import { isOverdue } from '../cache/aged.ts'
import type { Aged, CacheNamespace, SharedCache } from '../cache/cache.ts'
import type { Chain } from '../chain/registry.ts'
import { AppError } from '../core/errors.ts'
import { DAY, HOUR, MINUTE } from '../core/time.ts'
import { type PayFor, REQUEST_UNITS } from '../meter/meter.ts'
import { parseTokenAddress, WRAPPED_SOL } from './address.ts'
import { tokensKey } from './cache-keys.ts'
import type { ChartResponse } from './chart-response.ts'
import { type Chart, DatedChart } from './coin.ts'
import type { IsListedCoin } from './listed-coins.ts'
import {
  type ChartRange,
  type CoinName,
  coinNameByAddress,
  coinNameById,
  type PriceSource,
  type PriceSources,
  pickNewest,
} from './source.ts'
import { listSupportedTokens } from './tokens.ts'

type ChartServices = {
  readonly cache: Pick<SharedCache, 'recall' | 'getOrFetch'>
  readonly priceSources: PriceSources
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}

type ChartRequest = ChartRange & { readonly payFor: PayFor }

/**
 * Lengths in days of the charts that are fetched and cached. Charts of other lengths are cut from these, so each coin
 * has few cached charts per currency. CoinGecko's charts have hourly points up to 90 days and daily points beyond.
 */
const LENGTHS = [1, 7, 30, 90, 365, 1825] as const

/**
 * Returns the price chart of a coin by its CoinGecko id. Requests nothing if CoinGecko does not list the id. Throws
 * `token_not_found` or `upstream_*`.
 */
export async function getChartById(
  services: ChartServices & { readonly isListedCoin: IsListedCoin },
  { id, ...question }: ChartRequest & { readonly id: string },
) {
  if ((await services.isListedCoin(id)) === false) throw new AppError('token_not_found')
  return fetchChart(services, coinNameById(id), question)
}

/** Returns the price chart of a token by its address, or of the chain's native coin. Throws `token_not_found` or `upstream_*`. */
export async function getChartByAddress(
  services: ChartServices,
  { network: chain, address: text, ...question }: ChartRequest & { readonly network: Chain; readonly address: string },
) {
  const address = parseTokenAddress(chain, text)
  if (address === undefined) throw new AppError('token_not_found')
  if (address === 'native' || address === WRAPPED_SOL)
    return fetchChart(services, coinNameById(chain.nativeCoin.coinGeckoId), question)
  const { tokens } = await services.cache.recall({ tokens: tokensKey(chain.key) })
  const listed = listSupportedTokens(chain, tokens).find((token) => token.address === address)
  const coin = listed?.coinGeckoId ? coinNameById(listed.coinGeckoId) : coinNameByAddress(chain, address)
  return fetchChart(services, coin, question)
}

/**
 * Fetches a chart from the first price source that supports the currency. Tries the other sources if the first has no
 * chart or only an old one. It fetches the shortest length in LENGTHS that contains the requested one, and cuts off the
 * older points.
 */
async function fetchChart(
  { cache, priceSources, now }: ChartServices,
  coin: CoinName,
  { payFor, currency, days: requestedDays }: ChartRequest,
): Promise<Aged<z.output<typeof ChartResponse>>> {
  const days = LENGTHS.find((length) => requestedDays !== 'max' && requestedDays <= length) ?? 'max'
  const attempt = (source: PriceSource, namespace: CacheNamespace<DatedChart | null>) => ({
    get: () =>
      cache.getOrFetch({ namespace, key: `${coin}#${currency}#${days}` }, payFor(REQUEST_UNITS[source.name]), () =>
        source.fetchChart(coin, { currency, days }),
      ),
    isRecent: (answer: Aged<unknown>) => answer.value !== null && !isOverdue(answer, namespace, now()),
  })
  const [preferred, ...others] = priceSources.filter(({ currencies }) => currencies.includes(currency))
  if (!preferred) throw new AppError('upstream_unavailable', { cause: new Error(`no charts in ${currency}`) })
  const { value, ...age } = await pickNewest(
    attempt(preferred, namespaceOf(days)),
    ...others.map((source) => attempt(source, substituteNamespace(source))),
  )
  if (!value) throw new AppError('token_not_found')
  const truncated = value.days !== 'max' && (requestedDays === 'max' || value.days < requestedDays)
  const shownDays = truncated ? value.days : requestedDays
  const { prices, marketCaps: market_caps, volumes: total_volumes } = lastDays(value.chart, shownDays)
  return { value: { prices, market_caps, total_volumes, currency, days: shownDays, truncated }, ...age }
}

function lastDays({ prices, marketCaps, volumes }: Chart, days: number | 'max'): Chart {
  const [end] = prices.at(-1) ?? [0]
  const start = days === 'max' ? 0 : end - days * DAY * 1000
  const cut = (points: Chart['prices']) => points.filter(([at]) => at >= start)
  return { prices: cut(prices), marketCaps: cut(marketCaps), volumes: cut(volumes) }
}

/** Returns the cache settings for charts of this length. Longer charts change less, so they stay fresh longer. */
function namespaceOf(days: number | 'max'): CacheNamespace<DatedChart | null> {
  const freshSeconds = days === 'max' || days > 90 ? 12 * HOUR : days > 1 ? 30 * MINUTE : MINUTE
  return { name: 'chart', schema: DatedChart.nullable(), freshSeconds, keepSeconds: DAY }
}

function substituteNamespace({ name }: PriceSource): CacheNamespace<DatedChart | null> {
  return { name: `chart-of-${name}`, schema: DatedChart.nullable(), freshSeconds: 5 * MINUTE, keepSeconds: HOUR }
}
