import { combineAges } from '../../../lib/cache/aged.ts'
import { AppError } from '../../../lib/core/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { EXCHANGE_RATES_KEY, MARKET_DATA_KEY } from '../../../lib/markets/cache-keys.ts'
import type { MarketCoin } from '../../../lib/markets/coin.ts'
import { buildConversion, type Conversion } from '../../../lib/markets/convert.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import { cache, now, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const MAX_MOVERS = 30
/** Minimum trading volume of the last 24 hours in US dollars. A coin with less is left out, because one order can move its price. */
const MIN_VOLUME_DOLLARS = 50_000

/**
 * Lists the coins with the largest gains and losses of the last 24 hours, the largest change first. The changes come
 * from the cached market data. Throws `upstream_unavailable` if no market data or no rate of the currency is cached.
 */
export function listTopMovers({ cache, now }: Services<'cache' | 'now'>) {
  return async ({ query: { currency } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { market, rates } = await cache.recall({ market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY })
    if (!market) throw new AppError('upstream_unavailable', { cause: new Error('no market is cached') })
    const conversion = buildConversion(currency, rates)
    const movers = market.value
      .filter(({ volume }) => volume !== null && volume >= MIN_VOLUME_DOLLARS)
      .flatMap((coin) => toMover(coin, conversion, currency))
      .sort((left, right) => right.price_change_percentage_24h - left.price_change_percentage_24h)
    const top_gainers = movers.filter((mover) => mover.price_change_percentage_24h > 0).slice(0, MAX_MOVERS)
    const losers = movers.filter((mover) => mover.price_change_percentage_24h < 0)
    const top_losers = losers.toReversed().slice(0, MAX_MOVERS)
    return combineAges({ top_gainers, top_losers }, [market, ...conversion.answers], now())
  }
}

/**
 * Builds a coin's entry of the response. A coin with an unknown price, volume or change gives an empty list, so
 * `flatMap` leaves the coin out.
 */
function toMover(
  { id, symbol, name, image, rank, ...figures }: MarketCoin,
  conversion: Conversion,
  currency: Currency,
) {
  const [price, volume] = [conversion.amount(figures.price), conversion.amount(figures.volume)]
  const change = conversion.change(figures.change24h)
  if (price === null || volume === null || change === null) return []
  return {
    id,
    symbol,
    name,
    image,
    market_cap_rank: rank,
    current_price: price,
    price_change_percentage_24h: change,
    [currency]: price,
    [`${currency}_24h_vol`]: volume,
    [`${currency}_24h_change`]: change,
  }
}

export const handler = endpoint(contract, { cache, now }, listTopMovers)
