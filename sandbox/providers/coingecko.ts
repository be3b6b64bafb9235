import { CURRENCIES, type Currency } from '../../lib/markets/currency.ts'
import type { ProviderReply } from '../fake.ts'
import { createFakeService, type FakeRequest, type FakeService } from '../fake.ts'
import { DAY_MS, type MadeUpCoin, type MadeUpMarket, minuteOf, roundToTenDigits } from './market.ts'

const PUBLIC_RANGE_DAYS = 365
const FIVE_MINUTES_MS = 300_000
const HOUR_MS = 3_600_000
/** Invented daily trading volume, as a fraction of a coin's market capitalisation. */
const TURNOVER = 0.05
const ALL_DAYS = 36_500

/**
 * Returns a fake of CoinGecko's API under the path /coingecko (https://docs.coingecko.com), with prices of the invented market. `now` is in
 * epoch milliseconds.
 */
export function fakeCoinGecko(market: MadeUpMarket, now: () => number): FakeService {
  const { coins, priceAt } = market

  const rankCoins = () => {
    const moment = now()
    const sized = coins.map((coin) => ({ coin, size: (priceAt(coin, 'usd', moment) ?? 0) * coin.supply }))
    return sized
      .sort((left, right) => right.size - left.size)
      .map(({ coin, size }, index) => ({ coin, rank: size > 0 ? index + 1 : null }))
  }

  const describe = (coin: MadeUpCoin, currency: Currency, rank: number | null) => {
    const moment = minuteOf(now())
    const { price, dayAgo, change } = quote(coin, currency, moment)
    const hours = Array.from({ length: 25 }, (_, hour) => priceAt(coin, currency, moment - hour * HOUR_MS) ?? 0)
    const perDollar = price === undefined ? 0 : price / (priceAt(coin, 'usd', moment) ?? price)
    const extreme = (sign: 1 | -1) => roundToTenDigits(coin.middle * Math.exp(sign * coin.swing) * perDollar)
    const capitalisation = price === undefined ? 0 : roundToTenDigits(price * coin.supply)
    return {
      id: coin.id,
      symbol: coin.symbol,
      name: coin.name,
      image: `https://images.example/coins/${coin.id}/large.png`,
      current_price: price ?? null,
      market_cap: capitalisation,
      market_cap_rank: rank,
      fully_diluted_valuation: capitalisation,
      total_volume: price === undefined ? null : volume(price, coin),
      high_24h: price === undefined ? null : Math.max(...hours),
      low_24h: price === undefined ? null : Math.min(...hours),
      price_change_24h:
        change === undefined || price === undefined ? null : roundToTenDigits(price - (dayAgo ?? price)),
      price_change_percentage_24h: change ?? null,
      market_cap_change_24h: null,
      market_cap_change_percentage_24h: change ?? null,
      circulating_supply: coin.supply,
      total_supply: coin.supply,
      max_supply: null,
      ath: price === undefined ? null : Math.max(extreme(1), ...hours),
      ath_change_percentage: null,
      ath_date: null,
      atl: price === undefined ? null : Math.min(extreme(-1), ...hours),
      atl_change_percentage: null,
      atl_date: null,
      roi: null,
      last_updated: price === undefined ? null : new Date(moment).toISOString(),
      price_change_percentage_24h_in_currency: change ?? null,
    }
  }

  const quote = (coin: MadeUpCoin, currency: Currency, moment: number) => {
    const price = priceAt(coin, currency, moment)
    const dayAgo = priceAt(coin, currency, moment - DAY_MS)
    const isKnown = price !== undefined && dayAgo !== undefined && coin.unknown !== 'change'
    return { price, dayAgo, change: isKnown ? roundToTenDigits((price / dayAgo - 1) * 100) : undefined }
  }

  const listMarkets = ({ query }: FakeRequest): ProviderReply => {
    const currency = currencyOf(query.get('vs_currency'))
    if (!currency) return refuse(422, 'Missing parameter vs_currency')
    const ids = query.get('ids')?.split(',')
    const [size, page] = [Math.min(Number(query.get('per_page') ?? 100), 250), Number(query.get('page') ?? 1)]
    const wanted = rankCoins().filter(({ coin }) => !ids || ids.includes(coin.id))
    const shown = wanted.slice((page - 1) * size, page * size)
    return ok(shown.map(({ coin, rank }) => describe(coin, currency, rank)))
  }

  const chart = (coin: MadeUpCoin | undefined, { query, headers }: FakeRequest): ProviderReply => {
    const currency = currencyOf(query.get('vs_currency'))
    const days = query.get('days') === 'max' ? ALL_DAYS : Number(query.get('days') ?? Number.NaN)
    if (!coin) return refuse(404, 'coin not found')
    if (!currency || !(days > 0)) return refuse(422, 'Missing parameter vs_currency or days')
    if (days > PUBLIC_RANGE_DAYS && !headers['x-cg-pro-api-key']) return refuseRange(now())
    const series = moments(days, minuteOf(now())).flatMap((moment) => {
      const price = priceAt(coin, currency, moment)
      return price === undefined ? [] : [{ moment, price }]
    })
    return ok({
      prices: series.map(({ moment, price }) => [moment, price]),
      market_caps: series.map(({ moment, price }) => [moment, roundToTenDigits(price * coin.supply)]),
      total_volumes: series.map(({ moment, price }) => [moment, volume(price, coin)]),
    })
  }

  const search = ({ query }: FakeRequest): ProviderReply => {
    const text = (query.get('query') ?? '').toLowerCase()
    const matches = rankCoins().filter(({ coin: { id, symbol, name } }) =>
      [id, symbol, name].some((word) => word.toLowerCase().includes(text)),
    )
    return ok({
      coins: matches.map(({ coin: { id, symbol, name }, rank }) => ({
        id,
        name,
        api_symbol: id,
        symbol: symbol.toUpperCase(),
        market_cap_rank: rank,
        thumb: `https://images.example/coins/${id}/thumb.png`,
        large: `https://images.example/coins/${id}/large.png`,
      })),
      exchanges: [],
      icos: [],
      categories: [],
      nfts: [],
    })
  }

  const simplePrice = ({ query }: FakeRequest): ProviderReply => {
    const currencies = (query.get('vs_currencies') ?? '').split(',').flatMap((text) => currencyOf(text) ?? [])
    const wanted = (query.get('ids') ?? '').split(',')
    const withChange = query.get('include_24hr_change') === 'true'
    const rows = coins
      .filter(({ id }) => wanted.includes(id))
      .map((coin) => {
        const prices = currencies.flatMap((currency) => {
          const { price = null, change = null } = quote(coin, currency, minuteOf(now()))
          return [[currency, price] as const, ...(withChange ? [[`${currency}_24h_change`, change] as const] : [])]
        })
        return [coin.id, Object.fromEntries(prices)] as const
      })
    return ok(Object.fromEntries(rows))
  }

  return createFakeService('/coingecko', (question) => {
    const { parts } = question
    const [area, second, third, fourth, fifth] = parts
    const path = parts.join('/')
    if (path === 'coins/markets') return listMarkets(question)
    if (path === 'coins/list')
      return ok(coins.map(({ id, symbol, name, platforms }) => ({ id, symbol, name, platforms })))
    if (path === 'search') return search(question)
    if (path === 'simple/price') return simplePrice(question)
    if (area === 'coins' && third === 'market_chart' && parts.length === 3) {
      return chart(
        coins.find(({ id }) => id === second),
        question,
      )
    }
    if (area === 'coins' && third === 'contract' && fifth === 'market_chart' && parts.length === 5) {
      return chart(market.coinAt(second ?? '', fourth ?? ''), question)
    }
    return refuse(404, 'Incorrect path. Please check https://www.coingecko.com/api/')
  })
}

/**
 * Lists the times of a chart's points in epoch milliseconds. Points are five minutes apart in charts of up to one day,
 * and an hour apart up to 90 days. A longer chart has a point at each midnight and at the end.
 */
function moments(days: number, end: number): number[] {
  const start = end - days * DAY_MS
  if (days <= 90) {
    const step = days <= 1 ? FIVE_MINUTES_MS : HOUR_MS
    return Array.from({ length: Math.floor((days * DAY_MS) / step) + 1 }, (_, index) => end - index * step).reverse()
  }
  const firstMidnight = Math.ceil(start / DAY_MS) * DAY_MS
  const midnights = Array.from(
    { length: Math.ceil((end - firstMidnight) / DAY_MS) },
    (_, index) => firstMidnight + index * DAY_MS,
  )
  return [...midnights, end]
}

function volume(price: number, coin: MadeUpCoin): number {
  return roundToTenDigits(price * coin.supply * TURNOVER)
}

function currencyOf(text: string | null): Currency | undefined {
  return CURRENCIES.find((currency) => currency === text?.toLowerCase())
}

function ok(body: unknown): ProviderReply {
  return { status: 200, body }
}

function refuse(status: number, error: string): ProviderReply {
  return { status, body: { error } }
}

function refuseRange(now: number): ProviderReply {
  const error_message =
    'Your request exceeds the allowed time range. Public API users are limited to querying historical data within the past 365 days. (made up)'
  const status = { timestamp: new Date(now).toISOString(), error_code: 10012, error_message }
  return { status: 401, body: { error: { status } } }
}
