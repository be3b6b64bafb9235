import { min, sum } from '../bigint.ts'
/** A whole divided in proportion to weights, to the last unit: the parts add up to it. */
export function proRata(whole: bigint, weights: readonly bigint[]): bigint[] {
  const total = sum(weights)
  let before = 0n
  return weights.map((weight) => {
    const from = before
    before += weight
    return total === 0n ? 0n : (whole * before) / total - (whole * from) / total
  })
}

/** What is left of each amount when so much is left of all of them, and the first ones were spent first. */
export function unspent(amounts: readonly bigint[], left: bigint): bigint[] {
  let rest = left
  const parts = amounts.toReversed().map((amount) => {
    const part = min(amount, rest)
    rest -= part
    return part
  })
  return parts.toReversed()
}
