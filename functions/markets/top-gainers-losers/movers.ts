import { combine } from '../../../lib/cache/aged.ts'
import type { Aged, SharedCache } from '../../../lib/cache/cache.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { MARKET, RATES } from '../../../lib/markets/cached.ts'
import type { MarketCoin } from '../../../lib/markets/coin.ts'
import { type Conversion, conversionInto } from '../../../lib/markets/convert.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = {
  readonly cache: Pick<SharedCache, 'get'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** A coin whose price has changed: what it is worth in a currency, what was traded of it, and the change in percent. */
export type Mover = {
  readonly coin: MarketCoin
  readonly price: number
  readonly volume: number
  readonly change: number
}

type Movers = { readonly gainers: Mover[]; readonly losers: Mover[] }

const MOST_MOVERS = 30
/** What is traded less says little: one order moves its price. */
const LEAST_VOLUME_DOLLARS = 50_000

/** The movers of the kept market. Throws `upstream_unavailable` when no market, or no rate of the currency, is kept. */
async function listMovers({ cache, now }: Dependencies, currency: Currency): Promise<Aged<Movers>> {
  const { market, rates } = await cache.get({ market: MARKET, rates: RATES })
  if (!market) throw new AppError('upstream_unavailable', { cause: new Error('no market is kept') })
  const conversion = conversionInto(currency, rates)
  return combine(moversOf(market.value, conversion), [market, ...conversion.parts], now())
}

/** The coins that gained and lost most over a day in a currency, at most 30 each, the largest change first. */
export function moversOf(market: readonly MarketCoin[], conversion: Conversion): Movers {
  const movers = market
    .filter(({ volume }) => volume !== null && volume >= LEAST_VOLUME_DOLLARS)
    .flatMap((coin): Mover[] => {
      const [price, volume] = [conversion.amount(coin.price), conversion.amount(coin.volume)]
      const change = conversion.change(coin.change24h)
      return price === null || volume === null || change === null ? [] : [{ coin, price, volume, change }]
    })
  const byChange = movers.toSorted((left, right) => right.change - left.change)
  return {
    gainers: byChange.filter(({ change }) => change > 0).slice(0, MOST_MOVERS),
    losers: byChange
      .filter(({ change }) => change < 0)
      .toReversed()
      .slice(0, MOST_MOVERS),
  }
}

export const listTopMovers =
  (services: Services<'cache' | 'now'>) =>
  async ({ query: { currency } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { value, ...age } = await listMovers(services, currency)
    const toReplies = (movers: readonly Mover[]) => movers.map((mover) => toReply(mover, currency))
    return { value: { top_gainers: toReplies(value.gainers), top_losers: toReplies(value.losers) }, ...age }
  }

function toReply({ coin, price, volume, change }: Mover, currency: Currency) {
  return {
    id: coin.id,
    symbol: coin.symbol,
    name: coin.name,
    image: coin.image,
    market_cap_rank: coin.rank,
    current_price: price,
    price_change_percentage_24h: change,
    [currency]: price,
    [`${currency}_24h_vol`]: volume,
    [`${currency}_24h_change`]: change,
  }
}
