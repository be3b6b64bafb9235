import type { BlockHeader } from '../chain/logs.ts'
import type { OpenAmounts } from '../protocols/protocol.ts'
import { toSeconds } from '../time.ts'
import { buildEntryId, type LedgerEntry } from './ledger-entry.ts'
import { divideOpen } from './line.ts'
import type { ClaimablePart } from './notices.ts'
import type { Look, OpenRequest } from './open-requests.ts'
import { min, unspent } from './parts.ts'
import { buildRequestLine } from './request-line.ts'

/** What a vault says of a request, and at which block. */
type Answer = { readonly amounts: OpenAmounts; readonly block: BlockHeader }

/**
 * An open request after its vault was asked: with the first look at what it says, where clients may have to be told of that
 * once its block is final. An answer of a block before the request's, or before that of the look, says nothing of it.
 */
export function followRequest(request: OpenRequest, { amounts, block }: Answer): OpenRequest {
  const { look, timestamp, ...others } = request
  // Blocks of one second have one time: which of them is the earlier it does not tell.
  if (block.timestamp <= toSeconds(timestamp) || (look && (block.number < look.number || holds(look, amounts)))) {
    return request
  }
  const isOver = amounts.pending === 0n
  const open = { ...others, timestamp }
  return isOver || amounts.claimable > 0n ? { ...open, look: { ...block, ...amounts } } : open
}

/** Whether a look stays the one to go by: nothing else is said now, or clients are still to be told, and it is no less so. */
function holds(look: Look, now: OpenAmounts): boolean {
  const { pending, claimable, cancelled, isJudged } = look
  if (now.pending === pending && now.claimable === claimable && now.cancelled === cancelled) return true
  return !isJudged && claimable > 0n && now.pending + now.cancelled <= pending + cancelled
}

/** What a look at a final block tells, by what happened to the account. */
type Judgement = {
  /** What can be claimed since, of which nobody is told yet. */
  readonly parts: readonly ClaimablePart[]
  /** How much clients are told, then, of the requests with this id, in all. */
  readonly published: bigint
  /** Whether all of them was claimed or taken back. */
  readonly isGone: boolean
}

/**
 * Judges an open request by a look at a final block and the account's entries up to now. Settled is what stands, without
 * what a cancellation gives back, less what is pending; told is the part of it that is neither told nor claimed, as far as
 * the vault lets it be claimed.
 */
export function judgeRequest(
  { kind, requestId, published = 0n }: Pick<OpenRequest, 'kind' | 'requestId' | 'published'>,
  look: Look,
  entries: readonly LedgerEntry[],
): Judgement {
  const ofRequest = (granted: bigint, blockNumber = Number.POSITIVE_INFINITY) => {
    const upTo = entries.filter((entry) => entry.blockNumber <= blockNumber)
    const line = buildRequestLine(kind, upTo, [{ requestId, amount: granted }])
    return line.filter(({ entry }) => entry.requestId === requestId)
  }
  const isGone = ofRequest(0n).every(({ standing, claimed }) => standing === claimed)
  if (look.claimable === 0n) return { parts: [], published, isGone }

  const line = ofRequest(look.cancelled, Number(look.number))
  const { pendingParts, claimableParts } = divideOpen(line, look)
  const settled = line.map(({ standing }, index) => standing - (pendingParts[index] ?? 0n))
  const total = settled.reduce((sum, amount) => sum + amount, 0n)
  const untold = unspent(settled, total > published ? total - published : 0n)
  const parts = line.flatMap(({ entry, claimed }, index): ClaimablePart[] => {
    const [all = 0n, claimable = 0n, news = 0n] = [settled[index], claimableParts[index], untold[index]]
    const amount = [claimable, news, all - claimed].reduce(min)
    const id = buildEntryId(entry)
    // How much of it is told in all names the part: it is the same whenever this look is judged.
    return amount > 0n ? [{ id, key: `${id} ${all}`, amount }] : []
  })
  return { parts, published: total > published ? total : published, isGone }
}
