/** So much of a deposit or a redemption request. */
export type Part<Entry> = { readonly entry: Entry; amount: bigint }

/** A whole divided in proportion to weights, to the last unit: the parts add up to it. */
export function proRata(whole: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
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

/** Takes so much out of what waits, the oldest first, as far as there is; returns what was taken of each. */
export function takeOldest<Entry>(waiting: Part<Entry>[], amount: bigint): Part<Entry>[] {
  const taken: Part<Entry>[] = []
  let rest = amount
  for (let oldest = waiting[0]; oldest && rest > 0n; oldest = waiting[0]) {
    const part = min(rest, oldest.amount)
    taken.push({ entry: oldest.entry, amount: part })
    oldest.amount -= part
    rest -= part
    if (oldest.amount === 0n) waiting.shift()
  }
  return taken
}

/** Takes so much out of those that are meant, the newest first, as far as there is; returns what was taken of each. */
export function takeNewest<Entry>(
  waiting: Part<Entry>[],
  amount: bigint,
  isMeant: (entry: Entry) => boolean,
): Part<Entry>[] {
  const taken: Part<Entry>[] = []
  let rest = amount
  for (const one of waiting.toReversed()) {
    if (rest === 0n) break
    if (!isMeant(one.entry)) continue
    const part = min(rest, one.amount)
    taken.push({ entry: one.entry, amount: part })
    one.amount -= part
    rest -= part
  }
  while (waiting.at(-1)?.amount === 0n) waiting.pop()
  return taken
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}
