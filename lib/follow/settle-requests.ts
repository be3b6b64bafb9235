import { buildEntryId } from '../activity/ledger-entry.ts'
import type { OpenRequest, RequestKey } from '../activity/open-requests.ts'
import type { QueuedRequest } from '../activity/queue.ts'
import { buildQueueByKind, type RequestEntry } from '../activity/request-queue.ts'
import { max, min, sum } from '../core/bigint.ts'
import { MAX_UINT256 } from '../core/codecs.ts'
import { computeShares, isFixedRequest } from '../protocols/fixed-requests.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { OpenAmounts } from '../protocols/protocol.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import type { ClaimablePart } from './entry-notices.ts'

/**
 * Rules for vaults that emit no event for a settlement. Two totals of an account's requests with one id only grow: the
 * amount published as claimable, and the claimed amount. The larger total counts as reported to clients. A snapshot of
 * waiting requests, or a claim, publishes only the amount beyond this total.
 */

/**
 * Returns true if the amounts that the vault reports for a request cause a webhook event or end the request. The
 * amounts must differ from those at the last settlement. Some of the amount must be claimable, or none of it pending.
 */
export function hasReportableAmounts(
  { settled }: Pick<OpenRequest, 'settled'>,
  { pending, claimable, cancelled }: OpenAmounts,
): boolean {
  if (pending > 0n && claimable === 0n) return false
  return pending !== settled?.pending || claimable !== settled.claimable || cancelled !== settled.cancelled
}

/**
 * Settles a request by the amounts that the vault reports at a final block. `entries` are the account's requests,
 * claims and cancellations up to that block. `known` are all entries known so far, if there are more. Returns the
 * claimable amounts to publish, and the updated request. The settled amount is the uncancelled minus the pending
 * amount. At most `claimable` is published, because some vaults round amounts or refuse claims.
 */
export function settleRequest(
  request: OpenRequest,
  { pending, claimable, cancelled, given }: OpenAmounts,
  entries: readonly LedgerEntry[],
  known = entries,
): { readonly parts: readonly ClaimablePart[]; readonly request: OpenRequest } {
  const { requestId, reported = 0n } = request
  const line = lineOf(request, entries, [{ requestId, amount: cancelled }])
  const settled = sum(line.map(({ standing }) => standing)) - pending
  const before = max(reported, claimedOf(lineOf(request, known)))
  const amount = max(0n, min(claimable, settled - before))
  // A vault can report false amounts, so the total is limited to 256 bits.
  const total = min(MAX_UINT256, before + amount)
  return {
    parts: divide(line, {
      until: settled,
      amount,
      total,
      rate: given === undefined ? undefined : { of: claimable, given },
    }),
    request: { ...request, reported: total, settled: { pending, claimable, cancelled } },
  }
}

/** Rate of a claim, which pays the amount `given` for the requested amount `of`. */
type Rate = { readonly of: bigint; readonly given: bigint }

type ClaimEntry = Extract<LedgerEntry, { kind: 'claim' | 'withdraw' | 'paid' }>

/**
 * Amount that a claim pays out of an account's requests with one id. `before` and `until` are the claimed totals before
 * and after the claim.
 */
type Taken = {
  readonly request: RequestKey
  readonly line: Line
  readonly until: bigint
  readonly before: bigint
  readonly rate: Rate | undefined
}

/** Finds the requests that a claim pays out, from the account's earlier requests and claims. */
export function findClaimedRequests(kind: RequestKind, claim: ClaimEntry, before: readonly LedgerEntry[]): Taken[] {
  const byId = (entries: readonly LedgerEntry[]) =>
    Map.groupBy(buildQueueByKind(kind, entries), ({ entry }) => entry.requestId)
  const earlier = byId(before)
  return [...byId([...before, claim])]
    .map(([requestId, line]) => ({
      request: { kind, requestId, account: claim.account },
      line,
      until: claimedOf(line),
      before: claimedOf(earlier.get(requestId) ?? []),
      rate: rateOf(kind, claim),
    }))
    .filter(({ until, before }) => until > before)
}

/** Returns a claim's rate; undefined for requests with fixed assets, because each of them has its own amounts. */
function rateOf(kind: RequestKind, claim: ClaimEntry): Rate | undefined {
  if (claim.kind === 'paid') return undefined
  return kind === 'deposit' ? { of: claim.assets, given: claim.shares } : { of: claim.shares, given: claim.assets }
}

/** Finds the claimed amounts that were not yet published as claimable, one for each request. */
export function findUnreportedAmounts(
  { line, until, before, rate }: Taken,
  { reported = 0n }: OpenRequest,
): ClaimablePart[] {
  return divide(line, { until, amount: until - max(reported, before), total: until, rate })
}

/**
 * Returns true if all of an account's requests with this id are claimed or cancelled. Also true if the requests have
 * fixed assets that the vault no longer holds. `amounts` are the vault's amounts after block `number`.
 */
export function areRequestsEnded(
  request: RequestKey,
  entries: readonly LedgerEntry[],
  { amounts: { pending, claimable }, number }: { readonly amounts: OpenAmounts; readonly number: bigint },
): boolean {
  const isEmpty = pending + claimable === 0n
  return lineOf(request, entries).every(
    ({ entry, standing, claimed }) =>
      standing === claimed || (isEmpty && isFixedRequest(entry) && BigInt(entry.blockNumber) <= number),
  )
}

type Line = readonly QueuedRequest<RequestEntry>[]

function lineOf(
  { kind, requestId }: Pick<RequestKey, 'kind' | 'requestId'>,
  entries: readonly LedgerEntry[],
  granted: Parameters<typeof buildQueueByKind>[2] = [],
): Line {
  return buildQueueByKind(kind, entries, granted).filter(({ entry }) => entry.requestId === requestId)
}

function claimedOf(line: Line): bigint {
  return sum(line.map(({ claimed }) => claimed))
}

/**
 * Divides an amount between the requests of an account's queue, oldest first. Skips the queue's first `until - amount`
 * units. `total` becomes part of the key of each webhook event, so that the key is unique.
 */
function divide(
  line: Line,
  {
    until,
    amount,
    total,
    rate,
  }: { readonly until: bigint; readonly amount: bigint; readonly total: bigint; readonly rate: Rate | undefined },
): ClaimablePart[] {
  let before = 0n
  return line.flatMap(({ entry, standing }) => {
    const [start, end] = [max(before, until - amount), min(before + standing, until)]
    before += standing
    const id = buildEntryId(entry)
    if (end > start && isFixedRequest(entry)) {
      return [{ id, key: `${id} ${total}`, amount: computeShares(entry, end - start), given: end - start }]
    }
    const given = rate && rate.of > 0n ? ((end - start) * rate.given) / rate.of : undefined
    return end > start ? [{ id, key: `${id} ${total}`, amount: end - start, given }] : []
  })
}
