import * as z from 'zod'
import { AppError } from '../errors.ts'
import { parseAnswer, type Upstream } from '../http.ts'
import type { Chart } from './coin.ts'

/** A price in US dollars and its moment, in epoch milliseconds. */
export type DatedPrice = { readonly price: number; readonly at: number }

const DAY_SECONDS = 86_400
const OLDEST_MS = DAY_SECONDS * 1000
const LEAST_CONFIDENCE = 0.5
/** A URL may have 8,000 characters; the rest of them is for the host. */
const LONGEST_PATH = 7_500
/** More are refused. */
const MOST_POINTS = 500
/** What may lie between the points of a chart, as the API writes it, and in seconds. */
const PERIODS = [
  ['5m', 300],
  ['1h', 3600],
  ['2h', 7200],
  ['4h', 14_400],
  ['6h', 21_600],
  ['12h', 43_200],
  ['1d', DAY_SECONDS],
  ['2d', 2 * DAY_SECONDS],
  ['4d', 4 * DAY_SECONDS],
] as const
const LONGEST_PERIOD = ['1w', 7 * DAY_SECONDS] as const
/** Prices are kept about once an hour; nothing is nearer to most moments. */
const LEAST_SEARCH_WIDTH = 1800

const Moment = z
  .number()
  .positive()
  .transform((seconds) => Math.round(seconds * 1000))
const Price = z.number().nonnegative()
const Coin = z.object({ price: Price, timestamp: Moment, confidence: z.number().default(1) })
const Coins = z.object({ coins: z.record(z.string(), z.unknown()) })
const Point = z.object({ price: Price, timestamp: Moment })
const Series = z.object({ prices: z.array(z.unknown()) })

/**
 * DefiLlama's prices, all in US dollars (https://api-docs.defillama.com). A coin is `<chain prefix>:<address>` or
 * `coingecko:<id>`. Every call throws AppError `upstream_*`. `now` is in epoch milliseconds.
 */
export function defiLlama(ask: Upstream, { now = Date.now }: { readonly now?: () => number } = {}) {
  const fetchAround = async (path: string, coins: readonly string[], moment: number) => {
    const pieces = await Promise.all(
      inPieces(path, coins).map(async (piece) =>
        byCoin(piece, parseAnswer(Coins, await ask({ path: `${path}${piece.map(inPath).join(',')}` })).coins),
      ),
    )
    const prices = new Map<string, DatedPrice>()
    for (const [coin, answer] of pieces.flat()) {
      const { data } = Coin.safeParse(answer)
      if (!data || data.confidence < LEAST_CONFIDENCE || Math.abs(moment - data.timestamp) > OLDEST_MS) continue
      prices.set(coin, { price: data.price, at: data.timestamp })
    }
    return prices
  }

  return {
    /** The prices of these coins now, none older than a day; those without a price that can be relied on are left out. */
    fetchPrices(coins: readonly string[]): Promise<Map<string, DatedPrice>> {
      return fetchAround('/prices/current/', coins, now())
    },

    /** The prices of these coins at a moment, none further from it than a day; like `fetchPrices`. */
    fetchPricesAt(coins: readonly string[], at: Date): Promise<Map<string, DatedPrice>> {
      const seconds = Math.floor(at.getTime() / 1000)
      return fetchAround(`/prices/historical/${seconds}/`, coins, at.getTime())
    },

    /**
     * The prices of a coin over so many days until `now` (epoch milliseconds), as dense as CoinGecko's where 500 points
     * are enough; there are no capitalisations and no volumes. Null for a coin that DefiLlama does not know.
     */
    async fetchChart(coin: string, days: number | 'max', now: number): Promise<Chart | null> {
      const { period, seconds, span } = stepsOf(days)
      const answer = await ask({
        path: `/chart/${inPath(coin)}`,
        query: {
          end: Math.floor(now / 1000).toString(),
          span: span.toString(),
          period,
          searchWidth: Math.max(seconds / 2, LEAST_SEARCH_WIDTH).toString(),
        },
      })
      const [[, series] = []] = byCoin([coin], parseAnswer(Coins, answer).coins)
      if (series === undefined) return null
      const rows = parseAnswer(Series, { status: 200, body: series }).prices
      const points = rows.flatMap((row): [number, number][] => {
        const { data } = Point.safeParse(row)
        return data ? [[data.timestamp, data.price]] : []
      })
      if (rows.length === 0) return null
      if (points.length === 0) throw badAnswer('no usable point')
      return {
        prices: [...new Map(points)].sort(([left], [right]) => left - right),
        marketCaps: [],
        volumes: [],
      }
    },
  }
}
export type DefiLlama = ReturnType<typeof defiLlama>

/** The coins, each once, in lists that fit into a path. */
function inPieces(path: string, coins: readonly string[]): string[][] {
  const pieces: string[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const coin of new Set(coins)) {
    const more = inPath(coin).length + 1
    if (length + more > LONGEST_PATH) {
      pieces.push([])
      length = path.length
    }
    pieces.at(-1)?.push(coin)
    length += more
  }
  return pieces
}

/** What was answered of each coin, under the name that it was asked by: answers may write it in another case. */
function byCoin(coins: readonly string[], answers: Readonly<Record<string, unknown>>): [string, unknown][] {
  const inLowerCase = new Map(Object.entries(answers).map(([name, answer]) => [name.toLowerCase(), answer]))
  return coins.flatMap((coin): [string, unknown][] => {
    const answer = Object.hasOwn(answers, coin) ? answers[coin] : inLowerCase.get(coin.toLowerCase())
    return answer === undefined ? [] : [[coin, answer]]
  })
}

/** CoinGecko has a point every five minutes for a day, every hour for 90 days, and one a day beyond. */
function stepsOf(days: number | 'max'): { period: string; seconds: number; span: number } {
  const [longest, longestSeconds] = LONGEST_PERIOD
  if (days === 'max') return { period: longest, seconds: longestSeconds, span: MOST_POINTS }
  const dense = days <= 1 ? 300 : days <= 90 ? 3600 : DAY_SECONDS
  const spanOf = (seconds: number) => Math.floor((days * DAY_SECONDS) / seconds) + 1
  const [period, seconds] =
    PERIODS.find(([, seconds]) => seconds >= dense && spanOf(seconds) <= MOST_POINTS) ?? LONGEST_PERIOD
  return { period, seconds, span: Math.min(spanOf(seconds), MOST_POINTS) }
}

function inPath(coin: string): string {
  return encodeURIComponent(coin).replace('%3A', ':')
}

function badAnswer(what: string): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error(`DefiLlama: ${what}`) })
}
