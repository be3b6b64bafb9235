import { sum } from '../core/bigint.ts'
import type { LedgerEntry } from './ledger-entry.ts'

/** Withdrawal request whose assets are fixed. */
export type FixedRequest = Extract<LedgerEntry, { kind: 'redeem' }> & { readonly assets: bigint }
/** Returns whether an entry is a withdrawal request with fixed assets. */
export function isFixed(entry: LedgerEntry): entry is FixedRequest {
  return entry.kind === 'redeem' && entry.assets !== undefined
}

/**
 * Returns the requests that each payment among an account's entries ends. A vault pays an account everything in one
 * payment, which names only the receiver. It is the account's own if it equals the sum requested since the last one,
 * else another account's.
 */
export function matchPayments(entries: readonly LedgerEntry[]): ReadonlyMap<LedgerEntry, readonly FixedRequest[]> {
  const paid = new Map<LedgerEntry, readonly FixedRequest[]>()
  let [open, total]: [FixedRequest[], bigint] = [[], 0n]
  for (const entry of entries) {
    if (isFixed(entry)) {
      open.push(entry)
      total += entry.assets
    }
    if (entry.kind !== 'paid' || entry.assets !== total || total === 0n) continue
    paid.set(entry, open)
    ;[open, total] = [[], 0n]
  }
  return paid
}

/** Returns the shares behind the last `assets` of these requests. */
export function sumSharesBehind(requests: readonly FixedRequest[], assets: bigint): bigint {
  let rest = assets
  return sum(
    requests.toReversed().map((request) => {
      const part = request.assets < rest ? request.assets : rest
      rest -= part
      return computeShares(request, part)
    }),
  )
}

/** Returns the shares behind `part` of a request's assets. */
export function computeShares({ assets, shares }: FixedRequest, part: bigint): bigint {
  return assets === 0n ? 0n : (shares * part) / assets
}
