import type { Hash } from 'viem'
import { min } from '../core/bigint.ts'
import { allotToNewest, divideProRata } from './parts.ts'

/**
 * Event in the queue of an account's requests: a request, a cancellation or a claim. `given` is the amount that a claim
 * paid, in the claim's unit (asset or share). All other amounts are in the request's unit.
 */
export type QueueEvent<Entry> =
  | { readonly request: Entry; readonly amount: bigint }
  | { readonly requestId: bigint; readonly cancelled: bigint }
  | { readonly claimed: bigint; readonly given: bigint; readonly transactionHash: Hash | null }

/** Request in the queue of an account's requests. `standing` is the requested amount minus `cancelled`, the cancelled amount. */
export type QueuedRequest<Entry> = {
  readonly entry: Entry
  cancelled: bigint
  standing: bigint
  /** Claimed part of the request. */
  claimed: bigint
  /** Amount that the claims of the request paid. */
  given: bigint
  /** Transaction of the last claim; null before the first claim. */
  claimTransactionHash: Hash | null
}

/**
 * Builds the queue of an account's requests in one vault, oldest first. A cancellation reduces the newest requests with
 * its id. A claim names no request, so it uses up the oldest uncancelled amounts. Each of these requests gets a pro
 * rata part of the claim's payout.
 */
export function buildRequestQueue<Entry extends { readonly requestId: bigint }>(
  events: readonly QueueEvent<Entry>[],
): QueuedRequest<Entry>[] {
  const queue: QueuedRequest<Entry>[] = []
  for (const event of events) {
    if ('request' in event) {
      const { request: entry, amount: standing } = event
      queue.push({ entry, standing, cancelled: 0n, claimed: 0n, given: 0n, claimTransactionHash: null })
    } else if ('cancelled' in event) cancelFromEnd(queue, event)
  }

  let [requestCount, oldest] = [0, 0]
  for (const event of events) {
    if ('request' in event) requestCount += 1
    if (!('claimed' in event)) continue
    const taken: { readonly of: QueuedRequest<Entry>; readonly part: bigint }[] = []
    let rest = event.claimed
    for (let of = queue[oldest]; of && oldest < requestCount && rest > 0n; of = queue[oldest]) {
      const part = min(rest, of.standing - of.claimed)
      if (part > 0n) taken.push({ of, part })
      of.claimed += part
      rest -= part
      if (of.claimed === of.standing) oldest += 1
    }
    const given = divideProRata(
      event.given,
      taken.map(({ part }) => part),
    )
    for (const [index, { of }] of taken.entries()) {
      of.given += given[index] ?? 0n
      of.claimTransactionHash = event.transactionHash
    }
  }
  return queue
}

function cancelFromEnd(
  queue: readonly QueuedRequest<{ readonly requestId: bigint }>[],
  { requestId, cancelled }: { readonly requestId: bigint; readonly cancelled: bigint },
): void {
  let rest = cancelled
  for (const one of queue.toReversed()) {
    if (one.entry.requestId !== requestId) continue
    const part = min(rest, one.standing)
    one.standing -= part
    one.cancelled += part
    rest -= part
  }
}

/**
 * Divides the account's pending and claimable totals between its queued requests. The newest requests are pending, the
 * requests before them claimable. Both totals come from the vault's contract, because claims may be rounded.
 */
export function divideOpenAmounts(
  queue: readonly QueuedRequest<unknown>[],
  { pending, claimable }: { readonly pending: bigint; readonly claimable: bigint },
): { readonly pendingParts: readonly bigint[]; readonly claimableParts: readonly bigint[] } {
  const standing = queue.map((request) => request.standing)
  const pendingParts = allotToNewest(standing, pending)
  const settled = standing.map((amount, index) => amount - (pendingParts[index] ?? 0n))
  return { pendingParts, claimableParts: allotToNewest(settled, claimable) }
}
