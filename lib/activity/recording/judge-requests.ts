import { max, min, sum } from '../../bigint.ts'
import type { BlockHeader } from '../../chain/logs.ts'
import type { OpenAmounts } from '../../protocols/protocol.ts'
import { toSeconds } from '../../time.ts'
import { buildEntryId, type LedgerEntry } from '../ledger-entry.ts'
import { divideOpen } from '../line.ts'
import type { ClaimablePart } from '../notices.ts'
import type { LatestPart, Look, OpenRequest } from '../open-requests.ts'
import { unspent } from '../parts.ts'
import { buildRequestLine } from '../request-line.ts'

/**
 * An open request after its vault was asked, the same where nothing follows: with the first look at what it says, where
 * clients may have to be told of that once its block is final. A look stays until clients were told, whatever is requested
 * besides; but one by which nothing can be claimed gives way to the first by which something can.
 */
export function followRequest(request: OpenRequest, said: Look): OpenRequest {
  const { look, check: _, latest = [], ...others } = request
  const { pending, claimable, cancelled } = said
  const isSame = look && pending === look.pending && claimable === look.claimable && cancelled === look.cancelled
  const isKept = look && !look.isJudged && (look.claimable > 0n || claimable === 0n)
  if (isSame || isKept) return request
  const open = { ...others, latest }
  if (pending === 0n || claimable > 0n || latest.length > 0) return { ...open, look: said }
  return look ? open : request
}

/**
 * What a vault says of an open request at a block; undefined where that says nothing of it, its block being before the
 * request's, or before that of the look.
 */
export function toLook({ timestamp, look }: OpenRequest, amounts: OpenAmounts, block: BlockHeader): Look | undefined {
  // Blocks of one second have one time: which of them is the earlier it does not tell.
  const isEarlier = block.timestamp <= toSeconds(timestamp) || (look !== undefined && block.number < look.number)
  return isEarlier ? undefined : { ...block, ...amounts }
}

/** Whether more is open by a later look, so that less may be settled than an earlier one says, or more was requested since. */
export function isMoreOpen(look: Look, later: Look): boolean {
  return later.pending + later.cancelled > look.pending + look.cancelled
}

/** What a look tells of an open request, by what happened to the account. */
type Judgement = {
  /** How much is settled of the requests with this id, in all: nothing but a reorganisation makes it less. */
  readonly settled: bigint
  /** What can be claimed since, of which nobody is told yet. */
  readonly parts: readonly ClaimablePart[]
  /** Of what clients were told before it was final: what is so, and what is not. */
  readonly upheld: readonly LatestPart[]
  readonly contradicted: readonly LatestPart[]
  /** How much clients are told of the requests with this id, in all, once all of that is final. */
  readonly published: bigint
  /** Whether what the vault says fits what happened: no more is pending than was asked for and not claimed. */
  readonly isKnown: boolean
}

/**
 * Judges an open request by a look and the account's entries up to its block. Settled is what stands, without what a
 * cancellation gives back, less what is pending; told is the part of it that is neither told nor claimed, as far as the
 * vault lets it be claimed.
 */
export function judgeRequest(
  { kind, requestId, published = 0n, latest = [] }: OpenRequest,
  look: Look,
  entries: readonly LedgerEntry[],
): Judgement {
  const upTo = entries.filter(({ blockNumber }) => blockNumber <= look.number)
  const line = buildRequestLine(kind, upTo, [{ requestId, amount: look.cancelled }]).filter(
    ({ entry }) => entry.requestId === requestId,
  )
  const { pendingParts, claimableParts } = divideOpen(line, look)
  const settled = line.map(({ standing }, index) => standing - (pendingParts[index] ?? 0n))
  const settledOf = new Map(line.map(({ entry }, index) => [buildEntryId(entry), settled[index] ?? 0n]))
  const { upheld = [], contradicted = [] } = Object.groupBy(latest, ({ id, all }) =>
    (settledOf.get(id) ?? 0n) >= all ? 'upheld' : 'contradicted',
  )
  const total = sum(settled)
  const untold = unspent(settled, total > published ? total - published : 0n)
  // What is not told of each request, neither as final nor before.
  const news = line.map(({ entry }, index) => {
    const id = buildEntryId(entry)
    const known = upheld.flatMap((part) => (part.id === id ? [(settled[index] ?? 0n) - part.all] : []))
    return known.reduce(min, untold[index] ?? 0n)
  })
  const parts = line.flatMap(({ entry, claimed }, index): ClaimablePart[] => {
    const [all = 0n, claimable = 0n] = [settled[index], claimableParts[index]]
    const amount = [claimable, news[index] ?? 0n, all - claimed].reduce(min)
    const id = buildEntryId(entry)
    return amount > 0n ? [{ id, key: buildPartKey(id, all), amount, all }] : []
  })
  // A vault that lets nothing be claimed may only be silent.
  const told = look.claimable > 0n ? total : total - sum(news)
  const isKnown = look.pending <= sum(line.map(({ standing, claimed }) => standing - claimed))
  return { settled: total, parts, upheld, contradicted, published: max(told, published), isKnown }
}

/**
 * Which look an open request is to be judged by once its look's block is final: the look itself, where by a later one as much
 * is settled, as far as it is known what was requested. Else there is a check, the later one, by which it is decided once it is
 * final: till then nobody knows whether more was requested or less is settled. `said` is what the vault says now.
 */
export function decideLook(
  request: OpenRequest,
  look: Look,
  said: Look | undefined,
  entries: readonly LedgerEntry[],
): { readonly look: Look; readonly check?: Look | undefined } {
  const { check } = request
  const settledBy = (at: Look) => judgeRequest(request, at, entries).settled
  const isUndone = check !== undefined && settledBy(check) < settledBy(look)
  if (check && !isUndone) return { look }
  const first = check ?? look
  return { look: first, check: said && settledBy(said) < settledBy(first) ? said : undefined }
}

/**
 * The look of an open request once clients were told what one of its looks tells: the check by which that was decided, where
 * there was one, of which they are not told yet where more is settled by it.
 */
export function followLook({ check, ...request }: OpenRequest, told: Look, entries: readonly LedgerEntry[]): Look {
  const settledBy = (at: Look) => judgeRequest(request, at, entries).settled
  if (!check || check.number <= told.number) return { ...told, isJudged: true }
  return settledBy(check) > settledBy(told) ? check : { ...check, isJudged: true }
}

/** Whether all of the requests with this id was claimed or taken back, by these entries. */
export function isClosed({ kind, requestId }: OpenRequest, entries: readonly LedgerEntry[]): boolean {
  const line = buildRequestLine(kind, entries).filter(({ entry }) => entry.requestId === requestId)
  return line.every(({ standing, claimed }) => standing === claimed)
}

/** What names a part of a request: how much of it is told in all, so that it is the same whenever the look is judged. */
function buildPartKey(id: string, all: bigint): string {
  return `${id} ${all}`
}

/** A part that clients were told before it was final, as it is told again. */
export function toClaimablePart({ id, all, amount }: LatestPart): ClaimablePart {
  return { id, key: buildPartKey(id, all), amount, all }
}
