import { sum } from '../core/bigint.ts'
import type { LedgerEntry } from './ledger-entry.ts'

/** Withdrawal request whose payment in assets was fixed at the time of the request, as in cooldown vaults. */
export type FixedRequest = Extract<LedgerEntry, { kind: 'redeem' }> & { readonly assets: bigint }
/** Returns true if a ledger entry is a withdrawal request with a fixed payment. */
export function isFixedRequest(entry: LedgerEntry): entry is FixedRequest {
  return entry.kind === 'redeem' && entry.assets !== undefined
}

/**
 * Returns, for each payment among an account's ledger entries, the requests that the payment completes. A vault pays
 * all open requests of an account together, in a transfer that names only the receiver. A payment completes this
 * account's requests if it equals the sum requested since the last such payment. Any other payment is for another
 * account's requests, and is left out.
 */
export function matchPayments(entries: readonly LedgerEntry[]): ReadonlyMap<LedgerEntry, readonly FixedRequest[]> {
  const paid = new Map<LedgerEntry, readonly FixedRequest[]>()
  let [open, total]: [FixedRequest[], bigint] = [[], 0n]
  for (const entry of entries) {
    if (isFixedRequest(entry)) {
      open.push(entry)
      total += entry.assets
    }
    if (entry.kind !== 'paid' || entry.assets !== total || total === 0n) continue
    paid.set(entry, open)
    ;[open, total] = [[], 0n]
  }
  return paid
}

/**
 * Returns the shares that were burned for the unpaid part `assets` of these requests. The newest requests count first,
 * because the vault has paid the older ones.
 */
export function sumBurnedShares(requests: readonly FixedRequest[], assets: bigint): bigint {
  let rest = assets
  return sum(
    requests.toReversed().map((request) => {
      const part = request.assets < rest ? request.assets : rest
      rest -= part
      return computeShares(request, part)
    }),
  )
}

/** Returns the shares that were burned for `part` of a request's assets. */
export function computeShares({ assets, shares }: FixedRequest, part: bigint): bigint {
  return assets === 0n ? 0n : (shares * part) / assets
}
