import { parseAmount } from '../format.ts'
import { toNumber } from '../portfolio.ts'

/**
 * The token that a deposit should come from: the first, which is on the vault's chain, if it has what was typed, else the one
 * with the most. `units` are the balances, undefined where they are not known.
 */
export function findSource<T extends { readonly decimals: number }>(
  tokens: readonly T[],
  units: readonly (bigint | undefined)[],
  typed: string,
): T | undefined {
  const [home] = tokens
  const held = tokens.map(({ decimals }, index) => toNumber(units[index] ?? 0n, decimals))
  const needed = (home && parseAmount(typed, home.decimals)) || 1n
  if (!home || (units[0] ?? 0n) >= needed) return home
  const most = Math.max(...held)
  return most > 0 ? tokens[held.indexOf(most)] : home
}
