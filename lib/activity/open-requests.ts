import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { HashText } from '../chain/hex.ts'
import { Address, Amount, Timestamp } from '../codecs.ts'
import type { Books } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { RequestKind } from '../protocols/request-kind.ts'

/** A vault's amounts for requests with one id, in the requested unit; `cancelled` is the amount that a cancellation returns. */
const RequestAmounts = z.object({ pending: Amount, claimable: Amount, cancelled: Amount })

const RequestKey = z.object({ kind: RequestKind, requestId: Amount, account: Address })
/** The requests of an account in a vault with one id: they wait for the same settlement. */
export type RequestKey = z.output<typeof RequestKey>

/** Requests that wait for their settlement; `timestamp` is that of the last of them. */
export const OpenRequest = RequestKey.extend({
  timestamp: Timestamp,
  /** The amount that snapshots reported as claimable; only in vaults without settlement events. */
  reported: Amount.optional(),
  /** Their amounts in the last snapshot that was settled, unless more was requested since. */
  settled: RequestAmounts.optional(),
})
export type OpenRequest = z.output<typeof OpenRequest>

/** A vault's waiting requests at a block. It is used once that block is final, if the chain still has its hash. */
export const Snapshot = StoredBlock.extend({
  hash: HashText,
  /** `given`: what a claim of `claimable` gives, if the vault returns it. */
  requests: z.array(RequestKey.extend({ ...RequestAmounts.shape, given: Amount.optional() })),
})
export type Snapshot = z.output<typeof Snapshot>

/** Names requests within their vault. */
export function nameOf({ kind, requestId, account }: RequestKey): string {
  return `${kind} ${requestId} ${account}`
}

/**
 * Finds the requests that ledger entries open, and those that they cancel; the last entry of a request counts. In vaults with
 * settlement events a cancellation is of the whole request; in others the job reads the rest from the vault (`isAsked`).
 */
export function findOpenRequests(
  entries: readonly LedgerEntry[],
  { settlement }: Pick<Books, 'settlement'>,
): { readonly opened: OpenRequest[]; readonly closed: OpenRequest[]; readonly isAsked: boolean } {
  const last = new Map<string, { readonly request: OpenRequest; readonly isOpen: boolean }>()
  for (const entry of entries) {
    const kind = kindOf(entry)
    if (!kind || !('requestId' in entry)) continue
    const { account, requestId, timestamp } = entry
    const isOpen = entry.kind === 'deposit' || entry.kind === 'redeem'
    if (isOpen || settlement) {
      last.set(nameOf({ kind, requestId, account }), { request: { kind, requestId, account, timestamp }, isOpen })
    }
  }
  const { opened = [], closed = [] } = Object.groupBy(last.values(), ({ isOpen }) => (isOpen ? 'opened' : 'closed'))
  return {
    opened: opened.map(({ request }) => request),
    closed: closed.map(({ request }) => request),
    isAsked: !settlement,
  }
}

/** The kind of request that an entry opens or cancels; undefined if it does neither. */
function kindOf(entry: LedgerEntry): RequestKind | undefined {
  switch (entry.kind) {
    case 'deposit':
      return entry.shares === null ? 'deposit' : undefined
    case 'cancel':
      return 'deposit'
    case 'redeem':
    case 'cancelRedeem':
      return 'withdrawal'
    default:
      return undefined
  }
}
