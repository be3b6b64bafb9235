import type { Hash } from 'viem'
import { sum } from '../bigint.ts'
import type { LedgerEntry } from './ledger-entry.ts'

/** A request whose assets are fixed. */
export type FixedRequest = Extract<LedgerEntry, { kind: 'redeem' }> & { readonly assets: bigint }
/** A payment of such requests. */
type Payment = Extract<LedgerEntry, { kind: 'paid' }>

/** A request that is paid, and by which transaction; null where another account got the assets. */
type PaidRequest = { readonly request: FixedRequest; readonly transactionHash: Hash | null }

/** The requests with fixed assets among an account's entries, by the payments that end them, and those that no payment ends. */
type FixedRequests = {
  readonly paid: ReadonlyMap<LedgerEntry, readonly PaidRequest[]>
  readonly open: readonly FixedRequest[]
}

/** Whether the assets of what an entry requests are fixed. */
export function isFixed(entry: LedgerEntry): entry is FixedRequest {
  return entry.kind === 'redeem' && entry.assets !== undefined
}

/**
 * Matches an account's requests with payments. A payment is of everything that the payer has, and names only the receiver.
 * So it is the account's own if it is the sum of its latest requests; those before them were paid to another account.
 * Any other payment is of another account's requests.
 */
export function matchPayments(entries: readonly LedgerEntry[]): FixedRequests {
  const paid = new Map<LedgerEntry, readonly PaidRequest[]>()
  let open: FixedRequest[] = []
  for (const entry of entries) {
    if (isFixed(entry)) open.push(entry)
    if (entry.kind !== 'paid') continue
    const first = findFirst(open, entry)
    if (first === undefined) continue
    paid.set(
      entry,
      open.map((request, index) => ({ request, transactionHash: index < first ? null : entry.transactionHash })),
    )
    open = []
  }
  return { paid, open }
}

/** The index of the first of the latest requests that a payment is the sum of. */
function findFirst(open: readonly FixedRequest[], { assets }: Payment): number | undefined {
  let rest = assets
  for (const [index, request] of [...open.entries()].toReversed()) {
    rest -= request.assets
    if (rest < 0n) return undefined
    // Requests of nothing belong to what comes after them.
    if (rest === 0n && (open[index - 1]?.assets ?? 1n) > 0n) return index
  }
  return undefined
}

/** The shares of requests whose assets are the last of these: `assets` of all. */
export function sharesBehind(requests: readonly FixedRequest[], assets: bigint): bigint {
  let rest = assets
  return sum(
    requests.toReversed().map((request) => {
      const part = request.assets < rest ? request.assets : rest
      rest -= part
      return sharesOf(request, part)
    }),
  )
}

/** The shares behind a part of a request's assets. */
export function sharesOf({ assets, shares }: FixedRequest, part: bigint): bigint {
  return assets === 0n ? 0n : (shares * part) / assets
}
