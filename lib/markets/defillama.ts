import * as z from 'zod'
import { badResponse } from '../core/errors.ts'
import { parseResponseBody, parseRows, type Upstream } from '../core/http.ts'
import { DAY, HOUR } from '../core/time.ts'
import type { CoinName, DatedPrice, PriceSource } from './source.ts'

const OLDEST_MS = DAY * 1000
const MIN_CONFIDENCE = 0.5
/**
 * Maximum number of characters in the path of a request's URL. The whole URL may have 8,000. Coins that do not fit go
 * into further requests.
 */
const MAX_PATH = 7_500
/** Maximum number of points of a chart in one request. DefiLlama refuses more. */
const MAX_POINTS = 500
/** Possible intervals between a chart's points, each with DefiLlama's name and its length in seconds. */
const PERIODS = [
  ['5m', 300],
  ['1h', HOUR],
  ['2h', 7200],
  ['4h', 14_400],
  ['6h', 21_600],
  ['12h', 43_200],
  ['1d', DAY],
  ['2d', 2 * DAY],
  ['4d', 4 * DAY],
] as const
const MAX_PERIOD = ['1w', 7 * DAY] as const
/** Minimum width in seconds of the time range in which DefiLlama searches a point's price. DefiLlama records about one price per hour. */
const MIN_SEARCH_WIDTH = 1800

const Moment = z
  .number()
  .positive()
  .transform((seconds) => Math.round(seconds * 1000))
const Price = z.number().nonnegative()
const Coin = z.object({ price: Price, timestamp: Moment, confidence: z.number().default(1) })
const Coins = z.object({ coins: z.record(z.string(), z.unknown()) })
const Point = z
  .object({ price: Price, timestamp: Moment })
  .transform(({ price, timestamp }): [number, number] => [timestamp, price])
const Series = z.object({ prices: z.array(z.unknown()) })

/**
 * Creates the client of DefiLlama's price API (https://api-docs.defillama.com). All prices are in US dollars. `now`
 * returns epoch milliseconds.
 */
export function createDefiLlama(ask: Upstream, { now = Date.now }: { readonly now?: () => number } = {}) {
  return {
    name: 'defillama',
    currencies: ['usd'],

    async fetchPrices(coins: readonly CoinName[], at?: Date) {
      const moment = at?.getTime() ?? now()
      const path = at ? `/prices/historical/${Math.floor(moment / 1000)}/` : '/prices/current/'
      const pieces = await Promise.all(
        splitCoins(path, coins).map(async (piece) =>
          byCoin(piece, parseResponseBody(Coins, await ask({ path: `${path}${piece.map(inPath).join(',')}` })).coins),
        ),
      )
      const prices = new Map<CoinName, DatedPrice>()
      for (const [coin, answer] of pieces.flat()) {
        const { data } = Coin.safeParse(answer)
        if (!data || data.confidence < MIN_CONFIDENCE || Math.abs(moment - data.timestamp) > OLDEST_MS) continue
        prices.set(coin, { price: data.price, at: data.timestamp })
      }
      return prices
    },

    /**
     * Fetches a price chart without market caps and volumes. Its points are as dense as in CoinGecko's charts, unless
     * that needs more than 500 points.
     */
    async fetchChart(coin, { days }) {
      const { period, seconds, span } = stepsOf(days)
      const answer = await ask({
        path: `/chart/${inPath(coin)}`,
        query: {
          end: Math.floor(now() / 1000).toString(),
          span: span.toString(),
          period,
          searchWidth: Math.max(seconds / 2, MIN_SEARCH_WIDTH).toString(),
        },
      })
      const [[, series] = []] = byCoin([coin], parseResponseBody(Coins, answer).coins)
      if (series === undefined) return null
      const rows = parseResponseBody(Series, { status: 200, body: series }).prices
      if (rows.length === 0) return null
      const points = parseRows(Point, rows)
      if (points.length === 0) throw badResponse('DefiLlama: no usable point')
      const prices = [...new Map(points)].sort(([left], [right]) => left - right)
      return { chart: { prices, marketCaps: [], volumes: [] }, days }
    },
  } as const satisfies PriceSource
}

/** Splits coins into lists that each fit into the path of a URL. Removes duplicates. */
function splitCoins(path: string, coins: readonly CoinName[]): CoinName[][] {
  const pieces: CoinName[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const coin of new Set(coins)) {
    const more = inPath(coin).length + 1
    if (length + more > MAX_PATH) {
      pieces.push([])
      length = path.length
    }
    pieces.at(-1)?.push(coin)
    length += more
  }
  return pieces
}

/**
 * Returns the entry of each requested coin in the response. DefiLlama may change the case of a coin's name, so case is
 * ignored if the exact name is missing.
 */
function byCoin(coins: readonly CoinName[], answers: Readonly<Record<string, unknown>>): [CoinName, unknown][] {
  const inLowerCase = new Map(Object.entries(answers).map(([name, answer]) => [name.toLowerCase(), answer]))
  return coins.flatMap((coin): [CoinName, unknown][] => {
    const answer = Object.hasOwn(answers, coin) ? answers[coin] : inLowerCase.get(coin.toLowerCase())
    return answer === undefined ? [] : [[coin, answer]]
  })
}

/**
 * Returns the interval between a chart's points and their number. The interval is like CoinGecko's if 500 points
 * suffice: 5 minutes for one day, an hour up to 90 days, otherwise a day.
 */
function stepsOf(days: number | 'max'): { period: string; seconds: number; span: number } {
  const [longest, longestSeconds] = MAX_PERIOD
  if (days === 'max') return { period: longest, seconds: longestSeconds, span: MAX_POINTS }
  const dense = days <= 1 ? 300 : days <= 90 ? HOUR : DAY
  const spanOf = (seconds: number) => Math.floor((days * DAY) / seconds) + 1
  const [period, seconds] =
    PERIODS.find(([, seconds]) => seconds >= dense && spanOf(seconds) <= MAX_POINTS) ?? MAX_PERIOD
  return { period, seconds, span: Math.min(spanOf(seconds), MAX_POINTS) }
}

function inPath(coin: string): string {
  return encodeURIComponent(coin).replace('%3A', ':')
}
