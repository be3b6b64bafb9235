import { parseAmount } from '../format.ts'
import { toNumber } from '../portfolio.ts'

/**
 * Chooses the token that pays a deposit: the first token, which is on the vault's chain, if its balance covers the typed amount. Otherwise
 * it is the token with the largest balance. `units` are the balances; undefined while unknown.
 */
export function findSource<T extends { readonly decimals: number }>(
  tokens: readonly T[],
  units: readonly (bigint | undefined)[],
  typed: string,
): T | undefined {
  const [home] = tokens
  const balances = tokens.map(({ decimals }, index) => toNumber(units[index] ?? 0n, decimals))
  const needed = (home && parseAmount(typed, home.decimals)) || 1n
  if (!home || (units[0] ?? 0n) >= needed) return home
  const most = Math.max(...balances)
  return most > 0 ? tokens[balances.indexOf(most)] : home
}
