import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import { DAY, DAY_SECONDS, HOUR_SECONDS, toDate } from '../core/time.ts'
import type { PricePoint } from './prices.ts'

const YEAR_SECONDS = 365 * DAY
/** Minimum seconds between two share prices for their growth to be computed. */
const MIN_SECONDS = HOUR_SECONDS
/** Growth in percent from which a result counts as implausible. `toFixed` would write such a number with an exponent. */
const TOO_MUCH = 1e21

/** Number of days that each yield range covers. */
export const YIELD_DAYS = { '7d': 7n, '30d': 30n, '90d': 90n } as const
export type YieldRange = keyof typeof YIELD_DAYS

/** Growth of a vault's share price between two moments. */
export const Growth = z.object({
  percent: z.string().describe('Percent, two decimals'),
  days: z.number().describe('Days between the two prices, two decimals'),
  from: Timestamp.describe('Time of the earlier price'),
  to: Timestamp.describe('Time of the later price'),
})
export type Growth = z.output<typeof Growth>

/**
 * Annual yields of a vault's share price; null if no stored price is old enough. `growth` is the change since the first
 * price, set only for vaults younger than seven days.
 */
export type Yields = {
  /** Annual yield from the price change over about seven days. */
  readonly annualYield: Growth | null
  readonly annualYields: Readonly<Record<YieldRange, Growth | null>>
  readonly growth: Growth | null
}

/**
 * Earlier share prices that the present price is compared with. The price of a range is the first price of the UTC day
 * on which the range begins. Without one, it is the last price before that day. `first` is the vault's first price.
 */
export type EarlierPrices = { readonly first?: PricePoint | undefined } & {
  readonly [Range in YieldRange]?: PricePoint | undefined
}

/** Computes a vault's yields from its earlier prices to the later price `to`. An unknown yield is null, not zero. */
export function buildYields(earlier: EarlierPrices, to: PricePoint | undefined): Yields {
  const over = (range: YieldRange) => annualGrowth(earlier[range] ?? earlier.first, to, YIELD_DAYS[range])
  const annualYields = { '7d': over('7d'), '30d': over('30d'), '90d': over('90d') }
  const annualYield = annualYields['7d']
  const isYoung = !annualYield && secondsBetween(earlier.first, to) < YIELD_DAYS['7d'] * DAY_SECONDS
  return { annualYield, annualYields, growth: isYoung ? growthBetween(earlier.first, to, 1) : null }
}

/**
 * Returns the annual growth of the share price in percent: ((p1 / p0) ^ (365 d / Δt) − 1) × 100. Returns null if fewer
 * than `minDays` lie between the two prices, or if the growth is implausible.
 */
export function annualGrowth(from: PricePoint | undefined, to: PricePoint | undefined, minDays: bigint): Growth | null {
  const seconds = secondsBetween(from, to)
  return seconds < minDays * DAY_SECONDS ? null : growthBetween(from, to, YEAR_SECONDS / Number(seconds))
}

/** Returns the growth of the price in percent. The exponent `times` scales the growth to another period, such as a year. */
function growthBetween(from: PricePoint | undefined, to: PricePoint | undefined, times: number): Growth | null {
  const seconds = secondsBetween(from, to)
  if (!from || !to || from.price === 0n || seconds < MIN_SECONDS) return null
  const factor = Number((to.price * 10n ** 18n) / from.price) / 1e18
  const percent = (factor ** times - 1) * 100
  if (percent >= TOO_MUCH) return null
  const text = percent.toFixed(2)
  return {
    percent: text === '-0.00' ? '0.00' : text,
    days: Math.round(Number(seconds) / 864) / 100,
    from: toDate(from.timestamp),
    to: toDate(to.timestamp),
  }
}

function secondsBetween(from: PricePoint | undefined, to: PricePoint | undefined): bigint {
  return from && to ? to.timestamp - from.timestamp : 0n
}

/** Returns the annual yield as text; "0.00" if it is unknown, because the API field must be a number. */
export function formatAnnualYield({ annualYield }: Pick<Yields, 'annualYield'>): string {
  return annualYield?.percent ?? '0.00'
}
