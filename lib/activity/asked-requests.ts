import type { BlockHeader } from '../chain/logs.ts'
import type { OpenAmounts } from '../protocols/protocol.ts'
import { toSeconds } from '../time.ts'
import { buildEntryId, type LedgerEntry } from './ledger-entry.ts'
import { divideOpen } from './line.ts'
import type { ClaimablePart } from './notices.ts'
import type { LatestPart, Look, OpenRequest } from './open-requests.ts'
import { min, unspent } from './parts.ts'
import { buildRequestLine } from './request-line.ts'

/** What a vault says of a request, and at which block. */
type Answer = { readonly amounts: OpenAmounts; readonly block: BlockHeader }

/**
 * An open request after its vault was asked, the same where nothing follows: with the first look at what it says, where
 * clients may have to be told of that once its block is final. An answer of a block before the request's, or before that of
 * the look, says nothing of it.
 */
export function followRequest(request: OpenRequest, { amounts, block }: Answer): OpenRequest {
  const { look, latest = [], timestamp, ...others } = request
  // Blocks of one second have one time: which of them is the earlier it does not tell.
  if (block.timestamp <= toSeconds(timestamp) || (look && (block.number < look.number || holds(look, amounts)))) {
    return request
  }
  const isOver = amounts.pending === 0n
  const open = { ...others, latest, timestamp }
  if (isOver || amounts.claimable > 0n || latest.length > 0) return { ...open, look: { ...block, ...amounts } }
  return look ? open : request
}

/** Whether a look stays the one to go by: nothing else is said now, or clients are still to be told, and it is no less so. */
function holds(look: Look, now: OpenAmounts): boolean {
  const { pending, claimable, cancelled, isJudged } = look
  if (now.pending === pending && now.claimable === claimable && now.cancelled === cancelled) return true
  return !isJudged && claimable > 0n && now.pending + now.cancelled <= pending + cancelled
}

/** What a look tells of an open request, by what happened to the account. */
type Judgement = {
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
  const total = settled.reduce((sum, amount) => sum + amount, 0n)
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
  const told = look.claimable > 0n ? total : total - news.reduce((sum, amount) => sum + amount, 0n)
  const isKnown = look.pending <= line.reduce((sum, { standing, claimed }) => sum + standing - claimed, 0n)
  return { parts, upheld, contradicted, published: told > published ? told : published, isKnown }
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
