import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { DAY, DAY_SECONDS, HOUR_SECONDS, toDate } from '../time.ts'

const YEAR_SECONDS = 365 * DAY
/** Prices closer together than this say nothing about a year. */
const MIN_YEAR_SECONDS = 7n * DAY_SECONDS
/** Prices closer together than this say nothing at all. */
const MIN_SECONDS = HOUR_SECONDS
/** From here on numbers are written with an exponent, and no money grows like that. */
const TOO_MUCH = 1e21

/** The price of one whole share at a moment: `price` in the asset's smallest unit, `timestamp` in seconds since 1970. */
export type PricePoint = { readonly price: bigint; readonly timestamp: bigint }

/** A change of a vault's share price between two moments. */
export const Growth = z.object({
  percent: z.string().describe('Percent, two decimals'),
  days: z.number().describe('Days between the two prices, two decimals'),
  from: Timestamp.describe('Time of the earlier price'),
  to: Timestamp.describe('Time of the later price'),
})
export type Growth = z.output<typeof Growth>

/** The yield of a year where prices reach back far enough for one, else the growth since the first price. */
export type Yields = { readonly annualYield: Growth | null; readonly growth: Growth | null }

/** Nothing is known of a vault's yield. */
export const NO_YIELDS: Yields = { annualYield: null, growth: null }

/**
 * The growth of the share price between two points, in percent. From seven days on it is that of a year,
 * ((p1 / p0) ^ (365 d / Δt) − 1) × 100, and below that it is no year's. Both are null without an earlier price, at least an
 * hour older, or a sane result: an unknown yield is not zero.
 */
export function yieldsBetween(from: PricePoint | undefined, to: PricePoint | undefined): Yields {
  if (!from || !to || from.price === 0n || to.timestamp - from.timestamp < MIN_SECONDS) return NO_YIELDS
  const seconds = to.timestamp - from.timestamp
  const factor = Number((to.price * 10n ** 18n) / from.price) / 1e18
  const isOfAYear = seconds >= MIN_YEAR_SECONDS
  const percent = (factor ** (isOfAYear ? YEAR_SECONDS / Number(seconds) : 1) - 1) * 100
  if (percent >= TOO_MUCH) return NO_YIELDS
  const text = percent.toFixed(2)
  const growth = {
    percent: text === '-0.00' ? '0.00' : text,
    days: Math.round(Number(seconds) / 864) / 100,
    from: toDate(from.timestamp),
    to: toDate(to.timestamp),
  }
  return isOfAYear ? { annualYield: growth, growth: null } : { annualYield: null, growth }
}

/** The yield of a year as one text; "0.00" where it is not known, as the interface has it. */
export function yieldText({ annualYield }: Pick<Yields, 'annualYield'>): string {
  return annualYield?.percent ?? '0.00'
}
