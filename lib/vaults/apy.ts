const YEAR_SECONDS = 365 * 86_400
/** Two prices closer together than this say nothing about a year. */
const SHORTEST_SECONDS = 3_600n
/** From here on numbers are written with an exponent, and nobody's money grows like that. */
const TOO_MUCH = 1e21

/** What one whole share was worth at a moment: `price` in the asset's smallest unit, `timestamp` in seconds since 1970. */
export type PricePoint = { readonly price: bigint; readonly timestamp: bigint }

/**
 * The annualised growth of the share price between two points, in percent with two decimals:
 * ((p1 / p0) ^ (365 d / Δt) − 1) × 100. "0.00" where there is no earlier price to compare with, or no sane result.
 */
export function annualYield(from: PricePoint | undefined, to: PricePoint | undefined): string {
  if (!from || !to || from.price === 0n || to.timestamp - from.timestamp < SHORTEST_SECONDS) return '0.00'
  const growth = Number((to.price * 10n ** 18n) / from.price) / 1e18
  const percent = (growth ** (YEAR_SECONDS / Number(to.timestamp - from.timestamp)) - 1) * 100
  const text = percent < TOO_MUCH ? percent.toFixed(2) : '0.00'
  return text === '-0.00' ? '0.00' : text
}
