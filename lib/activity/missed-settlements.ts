import * as z from 'zod'
import { Amount } from '../core/codecs.ts'
import type { LedgerRules, VaultEvent } from '../protocols/books.ts'
import { RequestKind } from '../protocols/request-kind.ts'

const MissedOfKind = z.object({
  requestedId: Amount,
  /** Id of the newest request that a proposed valuation of the vault would settle; absent before the first proposal. */
  proposedId: Amount.optional(),
  /**
   * Value of `proposedId` at each settlement that did not include the pending requests of this kind. A settlement that
   * includes requests of this kind empties the list.
   */
  missedIds: z.array(Amount),
})

/**
 * Settlements that settled no deposit requests, or no withdrawal requests, although such requests were pending. This
 * record has those of one vault, by kind of request. Only vaults with settlement events have such data.
 */
export const MissedSettlements = z.partialRecord(RequestKind, MissedOfKind)
export type MissedSettlements = z.output<typeof MissedSettlements>

const MAX_MISSED = 100

/** Updates a vault's missed settlements by its new events, in order. */
export function addMissedSettlements(
  before: MissedSettlements,
  books: Pick<LedgerRules, 'settlement' | 'settlementStep'>,
  events: readonly VaultEvent[],
): MissedSettlements {
  const after = { ...before }
  for (const event of events) {
    const step = books.settlementStep?.(event)
    if (step?.does === 'request') {
      const { kind, id } = step
      const { proposedId, missedIds = [] } = after[kind] ?? {}
      // The vault starts a new request id at each proposed valuation if the last id has requests. A new request with an
      // id that was already proposed therefore shows that all earlier requests with this id were cancelled.
      const isEnded = (other: bigint) => other < id
      after[kind] = {
        requestedId: id,
        ...(proposedId !== undefined && isEnded(proposedId) && { proposedId }),
        missedIds: missedIds.filter(isEnded),
      }
    }
    for (const kind of RequestKind.options) {
      const of = after[kind]
      if (of && step?.does === 'propose') after[kind] = { ...of, proposedId: of.requestedId }
      if (of?.proposedId !== undefined && step?.does === 'settle') {
        after[kind] = { ...of, missedIds: [...of.missedIds, of.proposedId].slice(-MAX_MISSED) }
      }
    }
    const settled = books.settlement?.(event)
    const requestedId = settled && after[settled.kind]?.requestedId
    if (!settled || requestedId === undefined) continue
    if (requestedId > settled.lastId) after[settled.kind] = { requestedId, missedIds: [] }
    else delete after[settled.kind]
  }
  return after
}

/**
 * Counts the settlements that should have included a pending request but did not. Each settlement ends an epoch, and
 * epoch ids grow in steps of two. The count is therefore at most half the distance from the request's id to the vault's
 * epoch id.
 */
export function countMissedSettlements(
  missed: MissedSettlements[RequestKind],
  { requestId, epochId }: { readonly requestId: number; readonly epochId: number },
): number {
  const counted = missed?.missedIds.filter((id) => id >= requestId).length ?? 0
  return Math.min(counted, Math.max(0, Math.floor((epochId - requestId) / 2)))
}
