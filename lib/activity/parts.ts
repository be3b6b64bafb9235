import { min, sum } from '../core/bigint.ts'

/** Divides a whole in proportion to weights. The parts add up to the whole, unless all weights are 0. */
export function divideProRata(whole: bigint, weights: readonly bigint[]): bigint[] {
  const total = sum(weights)
  let before = 0n
  return weights.map((weight) => {
    const from = before
    before += weight
    return total === 0n ? 0n : (whole * before) / total - (whole * from) / total
  })
}

/** Returns the unspent part of each amount. `left` is the unspent part of their sum. The first amounts are spent first. */
export function allotToNewest(amounts: readonly bigint[], left: bigint): bigint[] {
  let rest = left
  const parts = amounts.toReversed().map((amount) => {
    const part = min(amount, rest)
    rest -= part
    return part
  })
  return parts.toReversed()
}
