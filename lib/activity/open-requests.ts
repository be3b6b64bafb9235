import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { Address, Amount, Timestamp } from '../codecs.ts'
import type { Books } from '../protocols/books.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { LedgerEntry } from './ledger-entry.ts'

/** What a vault that is asked said of requests, at a block; amounts in what was requested with. */
export const Look = StoredBlock.extend({
  pending: Amount,
  claimable: Amount,
  /** What a cancellation gives back that is not taken yet. */
  cancelled: Amount,
  /** Whether clients were told what it tells, its block being final. */
  isJudged: z.boolean().optional(),
})
export type Look = z.output<typeof Look>

/**
 * What clients were told that can be claimed of a request, with the id of its entry, at a block that was not final: how much,
 * and how much of it was settled in all.
 */
const LatestPart = StoredBlock.extend({ id: z.string(), all: Amount, amount: Amount })
export type LatestPart = z.output<typeof LatestPart>

/** Of so many parts of a request that are not final clients are told; beyond that of what is final alone. */
export const MOST_LATEST_PARTS = 20

/** The requests of an account in a vault with one id, which wait for their settlement; `timestamp` of the last of them. */
export const OpenRequest = z.object({
  kind: RequestKind,
  requestId: Amount,
  account: Address,
  timestamp: Timestamp,
  /** The first look at what the vault says of them, and how much of them clients were told as final; of vaults that are asked. */
  look: Look.optional(),
  /** A later look, by whose block being final it is decided whether that one was so, where more is open by it. */
  check: Look.optional(),
  published: Amount.optional(),
  /** What clients were told, or are being told, before it was final, and what became of it not yet. */
  latest: z.array(LatestPart).max(MOST_LATEST_PARTS).optional(),
})
export type OpenRequest = z.output<typeof OpenRequest>

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
      last.set(`${kind} ${requestId} ${account}`, { request: { kind, requestId, account, timestamp }, isOpen })
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
