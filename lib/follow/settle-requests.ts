import { buildEntryId } from '../activity/ledger-entry.ts'
import type { LineRequest } from '../activity/line.ts'
import type { ClaimablePart } from '../activity/notices.ts'
import type { OpenRequest, RequestKey } from '../activity/open-requests.ts'
import { buildRequestLine, type RequestEntry } from '../activity/request-line.ts'
import { max, min, sum } from '../bigint.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { OpenAmounts } from '../protocols/protocol.ts'
import type { RequestKind } from '../protocols/request-kind.ts'

/**
 * The rules of settlements that no event tells. Of the requests of an account with one id, two totals only grow: what
 * snapshots have reported as claimable, and what was claimed. The larger one was reported. A settled snapshot reports what
 * is settled beyond it, and so does a claim that takes more than was reported.
 */

/** Whether a snapshot of a request can report something or end it: not where it still waits whole, nor twice the same. */
export function isNews(
  { settled }: Pick<OpenRequest, 'settled'>,
  { pending, claimable, cancelled }: OpenAmounts,
): boolean {
  if (pending > 0n && claimable === 0n) return false
  return pending !== settled?.pending || claimable !== settled.claimable || cancelled !== settled.cancelled
}

/**
 * What a snapshot on the final chain reports of a request, by the account's entries up to its block, and the request after
 * it; `known` are the entries that were followed, where these are more. Settled is what stands without what is pending; claimable bounds what is reported, for some vaults round or refuse.
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
  const total = before + amount
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

/** What is given for an amount of what was requested with. */
type Rate = { readonly of: bigint; readonly given: bigint }

/** An entry that claims what is settled. */
type ClaimEntry = Extract<LedgerEntry, { kind: 'claim' | 'withdraw' }>

/** What a claim took of the requests with one id: what was claimed of them by then, and before it. */
type Taken = {
  readonly request: RequestKey
  readonly line: Line
  readonly until: bigint
  readonly before: bigint
  readonly rate: Rate
}

/** The requests that a claim took from, by what happened to the account before. */
export function findTaken(kind: RequestKind, claim: ClaimEntry, before: readonly LedgerEntry[]): Taken[] {
  const byId = (entries: readonly LedgerEntry[]) =>
    Map.groupBy(buildRequestLine(kind, entries), ({ entry }) => entry.requestId)
  const earlier = byId(before)
  return [...byId([...before, claim])]
    .map(([requestId, line]) => ({
      request: { kind, requestId, account: claim.account },
      line,
      until: claimedOf(line),
      before: claimedOf(earlier.get(requestId) ?? []),
      rate: kind === 'deposit' ? { of: claim.assets, given: claim.shares } : { of: claim.shares, given: claim.assets },
    }))
    .filter(({ until, before }) => until > before)
}

/** What a claim took of these requests that was not reported as claimable. */
export function findUnreported({ line, until, before, rate }: Taken, { reported = 0n }: OpenRequest): ClaimablePart[] {
  return divide(line, { until, amount: until - max(reported, before), total: until, rate })
}

/** Whether all of the requests with this id was claimed or taken back. */
export function isEnded(request: RequestKey, entries: readonly LedgerEntry[]): boolean {
  return lineOf(request, entries).every(({ standing, claimed }) => standing === claimed)
}

type Line = readonly LineRequest<RequestEntry>[]

function lineOf(
  { kind, requestId }: Pick<RequestKey, 'kind' | 'requestId'>,
  entries: readonly LedgerEntry[],
  granted: Parameters<typeof buildRequestLine>[2] = [],
): Line {
  return buildRequestLine(kind, entries, granted).filter(({ entry }) => entry.requestId === requestId)
}

function claimedOf(line: Line): bigint {
  return sum(line.map(({ claimed }) => claimed))
}

/**
 * An amount by request: the last of what is settled or claimed first, up to `until` of the line. `total` is what was
 * reported of it in all by then, which names each part for ever.
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
    const given = rate && rate.of > 0n ? ((end - start) * rate.given) / rate.of : undefined
    return end > start ? [{ id, key: `${id} ${total}`, amount: end - start, given }] : []
  })
}
