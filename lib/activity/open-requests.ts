import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { HashText } from '../chain/hex.ts'
import { Address, Amount, Timestamp } from '../core/codecs.ts'
import type { LedgerRules } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { RequestKind } from '../protocols/request-kind.ts'

/**
 * Amounts of an account's requests with one id, as the vault reports them, in the requested unit. `cancelled`: amount that a cancellation
 * returns.
 */
const RequestAmounts = z.object({ pending: Amount, claimable: Amount, cancelled: Amount })

const RequestKey = z.object({ kind: RequestKind, requestId: Amount, account: Address })
/** Key of an account's requests with one id in a vault; the vault settles them together. */
export type RequestKey = z.output<typeof RequestKey>

/** Requests with one key that wait for their settlement; `timestamp` is the time of the newest one. */
export const OpenRequest = RequestKey.extend({
  timestamp: Timestamp,
  /** Amount that was published as claimable so far; only in vaults without settlement events. */
  reported: Amount.optional(),
  /** Amounts when the requests were last seen settled; absent if more was requested since. */
  settled: RequestAmounts.optional(),
})
export type OpenRequest = z.output<typeof OpenRequest>

/** Amounts of a vault's waiting requests, read at a block. They count once that block is final, if the chain still has the block's hash. */
export const Snapshot = StoredBlock.extend({
  hash: HashText,
  /** `given`: amount that a claim of `claimable` pays out, in the other unit, if the vault reports it. */
  requests: z.array(RequestKey.extend({ ...RequestAmounts.shape, given: Amount.optional() })),
})
export type Snapshot = z.output<typeof Snapshot>

/** Builds a text that identifies an account's requests with one id within their vault. */
export function buildRequestName({ kind, requestId, account }: RequestKey): string {
  return `${kind} ${requestId} ${account}`
}

/**
 * Finds the requests that ledger entries open, and those that they cancel; the last entry of a request counts. With settlement events, a
 * cancellation closes the whole request. Without them, the scheduled job reads the remaining amount from the vault (`isAsked`).
 */
export function findOpenRequests(
  entries: readonly LedgerEntry[],
  { settlement }: Pick<LedgerRules, 'settlement'>,
): { readonly opened: OpenRequest[]; readonly closed: OpenRequest[]; readonly isAsked: boolean } {
  const last = new Map<string, { readonly request: OpenRequest; readonly isOpen: boolean }>()
  for (const entry of entries) {
    const kind = kindOf(entry)
    if (!kind || !('requestId' in entry)) continue
    const { account, requestId, timestamp } = entry
    const isOpen = entry.kind === 'deposit' || entry.kind === 'redeem'
    if (isOpen || settlement) {
      last.set(buildRequestName({ kind, requestId, account }), {
        request: { kind, requestId, account, timestamp },
        isOpen,
      })
    }
  }
  const { opened = [], closed = [] } = Object.groupBy(last.values(), ({ isOpen }) => (isOpen ? 'opened' : 'closed'))
  return {
    opened: opened.map(({ request }) => request),
    closed: closed.map(({ request }) => request),
    isAsked: !settlement,
  }
}

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
