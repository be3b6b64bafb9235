import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { DAY, HOUR_SECONDS, toDate } from '../time.ts'

const YEAR_SECONDS = 365 * DAY
/** Two prices closer together than this say nothing about a year. */
const SHORTEST_SECONDS = HOUR_SECONDS
/** From here on numbers are written with an exponent, and nobody's money grows like that. */
const TOO_MUCH = 1e21

/** What one whole share was worth at a moment: `price` in the asset's smallest unit, `timestamp` in seconds since 1970. */
export type PricePoint = { readonly price: bigint; readonly timestamp: bigint }

/** How a vault's share price grew, in percent a year. */
export const Yield = z.object({
  value: z.string().describe('Growth of the share price in percent a year, two decimals'),
  days: z
    .number()
    .describe(
      'Days between the two prices, two decimals. Usually 7; smaller for new vaults, larger if prices are rare',
    ),
  asOf: Timestamp.describe('Time of the later price'),
})
export type Yield = z.output<typeof Yield>

/**
 * The annualised growth of the share price between two points: ((p1 / p0) ^ (365 d / Δt) − 1) × 100. Null where there is
 * no earlier price to compare with, or no sane result: a yield that is not known is not zero.
 */
export function annualYield(from: PricePoint | undefined, to: PricePoint | undefined): Yield | null {
  if (!from || !to || from.price === 0n || to.timestamp - from.timestamp < SHORTEST_SECONDS) return null
  const seconds = Number(to.timestamp - from.timestamp)
  const growth = Number((to.price * 10n ** 18n) / from.price) / 1e18
  const percent = (growth ** (YEAR_SECONDS / seconds) - 1) * 100
  if (percent >= TOO_MUCH) return null
  const text = percent.toFixed(2)
  return {
    value: text === '-0.00' ? '0.00' : text,
    days: Math.round(seconds / 864) / 100,
    asOf: toDate(to.timestamp),
  }
}

/** A yield as one text; "0.00" where it is not known, as the interface has it. */
export function yieldText(known: Yield | null): string {
  return known?.value ?? '0.00'
}
