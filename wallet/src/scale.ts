import { LOCALE } from './format.ts'

/** Smallest value that an axis label shortens: 12.5K in place of 12,500. */
const FIRST_SHORT = 10_000
const MAX_DECIMALS = 20

/** Formats the labels of an axis whose values are `step` apart, with as few decimals as keep all labels different. */
export function labelValues(values: readonly number[], step: number): string[] {
  const largest = Math.max(...values.map(Math.abs))
  const isShort = largest >= FIRST_SHORT
  const decimals = decimalsOf(isShort ? step / 1000 ** Math.floor(Math.log10(largest) / 3) : step)
  const format = new Intl.NumberFormat(LOCALE, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    ...(isShort && { notation: 'compact' as const }),
  })
  return values.map((value) => format.format(value))
}

function decimalsOf(step: number): number {
  let decimals = 0
  while (decimals < MAX_DECIMALS && !isWhole(step * 10 ** decimals)) decimals += 1
  return decimals
}

function isWhole(value: number): boolean {
  return value >= 0.5 && Math.abs(value - Math.round(value)) < 1e-6 * value
}
