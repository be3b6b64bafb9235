import * as z from 'zod'
import { CHAINS, type Chain } from '../chain/registry.ts'
import { AppError, badResponse } from '../core/errors.ts'
import { parseResponseBody, parseRows, type Upstream, type UpstreamResponse } from '../core/http.ts'
import { LAST_SECOND } from '../core/time.ts'
import type { CoinQuote, DatedChart, FoundCoin, MarketCoin } from './coin.ts'
import { CURRENCIES, type Currency, type ExchangeRate } from './currency.ts'
import { type Decimal, decimal, dividedBy, minus, times, toNumber } from './decimal.ts'
import type { ChartRange, CoinName } from './source.ts'

const MARKET_PAGE_SIZE = 250
/** Maximum days of price history without a paid CoinGecko plan (https://docs.coingecko.com/docs/errors-and-rate-limits). */
const PUBLIC_RANGE_DAYS = 365
const RANGE_EXCEEDED = 10012
/** CoinGecko's error codes for a refused key: it is missing, its plan excludes the endpoint, or it belongs to another plan's host. */
const REFUSALS = [10002, 10005, 10010, 10011]
/**
 * Maximum number of points in each of a chart's three series. With it, a cached chart takes at most 240 KB compressed.
 * Daily points since 2013 number about 5,000 in 2026.
 */
const MAX_POINTS = 6_000

const Name = z.string().min(1)
const Picture = z.url({ protocol: /^https?$/ }).catch('')
/** Number in a response. It becomes null, which means unknown, if it is absent, null or invalid. */
const Figure = z.number().nonnegative().nullable().catch(null)
/** Supply or market cap. CoinGecko reports 0 if it is unknown, so 0 becomes null. */
const Supply = z.number().positive().nullable().catch(null)
const Rank = z.number().int().positive().nullable().catch(null)
const AnyNumber = z.number().nullable().catch(null)
const Change = z.number().gt(-100).nullable().catch(null)

const MarketRow = z.object({
  id: Name,
  symbol: Name,
  name: Name,
  image: Picture,
  market_cap_rank: Rank,
  current_price: Figure,
  market_cap: Supply,
  total_volume: Figure,
  price_change_percentage_24h: Change,
})

const QuoteRow = MarketRow.extend({
  high_24h: Figure,
  low_24h: Figure,
  price_change_24h: AnyNumber,
  circulating_supply: Supply,
  total_supply: Supply,
  max_supply: Supply,
  ath: Figure,
  atl: Figure,
  last_updated: z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .refine((at) => at <= Number(LAST_SECOND) * 1000)
    .nullable()
    .catch(null),
})

const FoundRow = z.object({
  id: Name,
  symbol: Name,
  name: Name,
  api_symbol: z.string().catch(''),
  market_cap_rank: Rank,
  thumb: Picture,
  large: Picture,
})

const ListRow = z.object({ id: Name, platforms: z.record(z.string(), z.unknown()).catch({}) })

const Rows = z.array(z.unknown())
const MarketChart = z.object({ prices: Rows, market_caps: Rows, total_volumes: Rows })
const Point = z.tuple([z.number().int().nonnegative(), z.number().nonnegative()])
type Point = z.output<typeof Point>
const MarketCapPoint = z.tuple([z.number().int().nonnegative(), z.number().positive()])

/**
 * Error code or text of a failed request to CoinGecko. Its error bodies have three forms: `{error: "…"}`, `{status:
 * {error_code}}` and `{error: {status: {error_code}}}`.
 */
const Status = z.object({ status: z.object({ error_code: z.number() }) }).transform(({ status }) => status.error_code)
const Refusal = z.union([
  Status,
  z.object({ error: Status }).transform(({ error }) => error),
  z.object({ error: z.string() }).transform(({ error }) => error),
])

/**
 * Creates the client of CoinGecko's API (https://docs.coingecko.com). Its functions throw AppError `upstream_*`. They
 * throw `upstream_unavailable` if CoinGecko refuses the key or its plan. Invalid or negative numbers count as unknown.
 */
export function createCoinGecko(ask: Upstream) {
  return {
    name: 'coingecko' as const,
    currencies: CURRENCIES,

    /** Fetches one page of 250 coins in US dollars, largest market cap first. The first page has number 1. */
    async fetchMarketPage(page: number): Promise<MarketCoin[]> {
      const answer = await ask({
        path: '/coins/markets',
        query: {
          vs_currency: 'usd',
          order: 'market_cap_desc',
          per_page: MARKET_PAGE_SIZE.toString(),
          page: page.toString(),
          price_change_percentage: '24h',
        },
      })
      return rowsOf(MarketRow, read(Rows, answer)).map(toMarketCoin)
    },

    /**
     * Fetches market data of at most 250 coins in one currency. The map contains null for a coin without a price. It
     * has no entry for an unknown coin.
     */
    async fetchCoins(ids: readonly string[], currency: Currency): Promise<Map<string, CoinQuote | null>> {
      if (ids.length === 0) return new Map()
      const answer = await ask({
        path: '/coins/markets',
        query: { ids: ids.join(','), vs_currency: currency, per_page: MARKET_PAGE_SIZE.toString() },
      })
      const rows = rowsOf(QuoteRow, read(Rows, answer)).filter(({ id }) => ids.includes(id))
      return new Map(rows.map((row) => [row.id, toCoinQuote(row)]))
    },

    /**
     * Fetches a price chart. The chart has 365 days if the plan does not allow more. Returns null if CoinGecko does not
     * know the coin or has no prices.
     */
    async fetchChart(coin: CoinName, { currency, days }: ChartRange): Promise<DatedChart | null> {
      const path = pathOf(coin)
      if (path === undefined) return null
      const askFor = (days: number | 'max') =>
        ask({ path: `${path}/market_chart`, query: { vs_currency: currency, days: days.toString() } })
      let [answer, shownDays] = [await askFor(days), days]
      const canBeShorter = days === 'max' || days > PUBLIC_RANGE_DAYS
      if (canBeShorter && refusalOf(answer) === RANGE_EXCEEDED) {
        shownDays = PUBLIC_RANGE_DAYS
        answer = await askFor(shownDays)
      }
      if (isUnknownCoin(answer)) return null
      const { prices: rows, market_caps, total_volumes } = read(MarketChart, answer)
      const prices = points(rowsOf(Point, rows))
      if (prices.length === 0) return null
      const marketCaps = points(parseRows(MarketCapPoint, market_caps))
      return { chart: { prices, marketCaps, volumes: points(parseRows(Point, total_volumes)) }, days: shownDays }
    },

    /** Searches coins by name or symbol. CoinGecko returns coins with the largest market cap first. */
    async searchCoins(text: string): Promise<FoundCoin[]> {
      const answer = await ask({ path: '/search', query: { query: text } })
      return rowsOf(FoundRow, read(z.object({ coins: Rows }), answer).coins).map(
        ({ api_symbol, market_cap_rank, ...coin }) => ({ ...coin, apiSymbol: api_symbol, rank: market_cap_rank }),
      )
    },

    /**
     * Fetches the value of one US dollar in every currency, now and a day ago. The values are computed from bitcoin's
     * prices in these currencies. A currency without a price is missing.
     */
    async fetchRates(): Promise<Partial<Record<Currency, ExchangeRate>>> {
      const answer = await ask({
        path: '/simple/price',
        query: { ids: 'bitcoin', vs_currencies: CURRENCIES.join(','), include_24hr_change: 'true' },
      })
      const { bitcoin } = read(z.object({ bitcoin: z.record(z.string(), z.unknown()) }), answer)
      const dollars = bitcoinIn(bitcoin, 'usd')
      if (!dollars) throw badResponse('CoinGecko: no price of bitcoin in dollars')
      const rates = CURRENCIES.flatMap((currency) => {
        const price = bitcoinIn(bitcoin, currency)
        return price ? [[currency, rateOf(price, dollars)] as const] : []
      })
      return { ...Object.fromEntries(rates), usd: { now: 1, dayAgo: 1 } }
    },

    /**
     * Fetches the ids of all coins, and the ids by contract under `contractKey`. A contract that two coins claim is
     * left out, because one claim is false. The response has several megabytes.
     */
    async fetchCoinIds(): Promise<{ all: string[]; byContract: Map<string, string> }> {
      const answer = await ask({ path: '/coins/list', query: { include_platform: 'true' } })
      const rows = rowsOf(ListRow, read(Rows, answer))
      if (rows.length === 0) throw badResponse('CoinGecko: no coins')
      const ids = new Map<string, string | 'claimed twice'>()
      for (const { id, platforms } of rows) {
        for (const chain of CHAINS) {
          const address = platforms[chain.coinGeckoPlatform]
          if (typeof address !== 'string' || address === '') continue
          const key = contractKey(chain, address)
          ids.set(key, ids.has(key) ? 'claimed twice' : id)
        }
      }
      return {
        all: [...new Set(rows.map(({ id }) => id))],
        byContract: new Map([...ids].filter(([, id]) => id !== 'claimed twice')),
      }
    },
  }
}

/** Returns the key of a token contract: `<CoinGecko platform>:<address>`. EVM addresses are in lower case. */
export function contractKey(chain: Chain, address: string): string {
  return `${chain.coinGeckoPlatform}:${writtenAddress(chain, address)}`
}

function writtenAddress({ kind }: Chain, address: string): string {
  return kind === 'evm' ? address.toLowerCase() : address
}

function toMarketCoin(row: z.output<typeof MarketRow>): MarketCoin {
  const { id, symbol, name, image } = row
  return {
    id,
    symbol,
    name,
    image,
    rank: row.market_cap_rank,
    price: row.current_price,
    marketCap: row.market_cap,
    volume: row.total_volume,
    change24h: row.price_change_percentage_24h,
  }
}

/** Builds a coin's market data from one row of the response. Returns null if the row lacks the price or its time. */
function toCoinQuote(row: z.output<typeof QuoteRow>): CoinQuote | null {
  const { price, ...coin } = toMarketCoin(row)
  const { last_updated: updatedAt } = row
  if (price === null || updatedAt === null) return null
  return {
    ...coin,
    price,
    updatedAt,
    high24h: row.high_24h,
    low24h: row.low_24h,
    priceChange24h: row.price_change_24h,
    circulatingSupply: row.circulating_supply,
    totalSupply: row.total_supply,
    maxSupply: row.max_supply,
    allTimeHigh: row.ath,
    allTimeLow: row.atl,
  }
}

/** Parses the rows of a response and omits invalid rows. Throws if all rows are invalid. */
function rowsOf<Schema extends z.ZodType>(schema: Schema, rows: readonly unknown[]): z.output<Schema>[] {
  const found = parseRows(schema, rows)
  if (rows.length > 0 && found.length === 0) throw badResponse('CoinGecko: no usable row')
  return found
}

/** Sorts points by time and removes duplicates. If more than MAX_POINTS remain, it keeps only every nth point, including the last one. */
function points(found: readonly Point[]): Point[] {
  const all = [...new Map(found)].sort(([left], [right]) => left - right)
  const step = Math.ceil(all.length / MAX_POINTS)
  return all.filter((_, index) => (all.length - 1 - index) % step === 0)
}

type BitcoinPrice = { readonly now: Decimal; readonly dayAgo: Decimal | undefined }

function bitcoinIn(prices: Readonly<Record<string, unknown>>, currency: Currency): BitcoinPrice | undefined {
  const price = z.number().positive().safeParse(prices[currency]).data
  if (price === undefined) return undefined
  const change = z.number().gt(-100).safeParse(prices[`${currency}_24h_change`]).data
  const now = decimal(price)
  const hundred = decimal(100)
  return {
    now,
    dayAgo: change === undefined ? undefined : dividedBy(times(now, hundred), minus(hundred, decimal(-change))),
  }
}

function rateOf(price: BitcoinPrice, dollars: BitcoinPrice): ExchangeRate {
  return {
    now: toNumber(dividedBy(price.now, dollars.now)),
    dayAgo: price.dayAgo && dollars.dayAgo && toNumber(dividedBy(price.dayAgo, dollars.dayAgo)),
  }
}

/**
 * Returns the URL path of a coin at CoinGecko, with an EVM address in lower case. Returns undefined if the name cannot
 * be part of a path.
 */
function pathOf(coin: CoinName): string | undefined {
  const separator = coin.indexOf(':')
  const name = coin.slice(separator + 1)
  const chain = CHAINS.find(({ defiLlamaPrefix }) => defiLlamaPrefix === coin.slice(0, separator))
  const segments = chain ? [chain.coinGeckoPlatform, 'contract', writtenAddress(chain, name)] : [name]
  if (segments.some((segment) => /^\.{0,2}$/.test(segment))) return undefined
  return ['/coins', ...segments.map(encodeURIComponent)].join('/')
}

function read<Schema extends z.ZodType>(schema: Schema, answer: UpstreamResponse): z.output<Schema> {
  const { status } = answer
  const refusal = refusalOf(answer)
  if (status === 401 || status === 403 || REFUSALS.some((code) => code === refusal)) {
    const cause = new Error(`CoinGecko refuses our key or plan: HTTP status ${status}, error code ${refusal ?? 'none'}`)
    throw new AppError('upstream_unavailable', { cause })
  }
  return parseResponseBody(schema, answer)
}

/** Returns CoinGecko's error code or text in a response. Returns undefined for a success, or for an error body that is not CoinGecko's. */
function refusalOf({ status, body }: UpstreamResponse): number | string | undefined {
  return status < 400 ? undefined : Refusal.safeParse(body).data
}

/**
 * Returns true if CoinGecko reports that it does not know the coin. A 404 without CoinGecko's error body comes from a
 * wrong host, so it does not count.
 */
function isUnknownCoin(answer: UpstreamResponse): boolean {
  const refusal = refusalOf(answer)
  const { status } = answer
  if (status === 404) return refusal !== undefined
  return (status === 400 || status === 422) && typeof refusal === 'string' && /not found|not find/i.test(refusal)
}
