import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { HashText } from '../chain/hex.ts'
import { Address, Amount, Timestamp } from '../codecs.ts'
import type { Books } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { RequestKind } from '../protocols/request-kind.ts'

/** What a vault says of requests with one id, in what was requested with; `cancelled` is what a cancellation gives back. */
const RequestAmounts = z.object({ pending: Amount, claimable: Amount, cancelled: Amount })

const RequestKey = z.object({ kind: RequestKind, requestId: Amount, account: Address })
/** The requests of an account in a vault with one id: they wait for the same settlement. */
export type RequestKey = z.output<typeof RequestKey>

/** Requests that wait for their settlement; `timestamp` is that of the last of them. */
export const OpenRequest = RequestKey.extend({
  timestamp: Timestamp,
  /** How much of them was reported as claimable by snapshots; in vaults whose events do not tell of settlements. */
  reported: Amount.optional(),
  /** Their amounts in the last snapshot that was settled, unless more was requested since. */
  settled: RequestAmounts.optional(),
})
export type OpenRequest = z.output<typeof OpenRequest>

/** What a vault said of waiting requests at a block. It counts once that block is final, if the chain still has its hash. */
export const Snapshot = StoredBlock.extend({
  hash: HashText,
  /** With what a claim of what can be claimed gives, where the vault tells. */
  requests: z.array(RequestKey.extend({ ...RequestAmounts.shape, given: Amount.optional() })),
})
export type Snapshot = z.output<typeof Snapshot>

/** Names requests within their vault. */
export function nameOf({ kind, requestId, account }: RequestKey): string {
  return `${kind} ${requestId} ${account}`
}

/**
 * The requests that ledger entries, in order, have opened, and those that they have taken back whole, each where nothing
 * came after. Where events tell what is settled, a request is taken back whole or not at all; elsewhere its vault is asked
 * (`isAsked`).
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

/** Of which kind of request an entry begins or ends one by its id; undefined where it does neither. */
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
