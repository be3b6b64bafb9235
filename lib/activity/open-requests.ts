import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { HashText } from '../chain/hex.ts'
import { Address, Amount, Timestamp } from '../core/codecs.ts'
import type { LedgerRules } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { RequestKind } from '../protocols/request-kind.ts'

/**
 * Amounts of an account's requests with one id, as the vault's contract reports them, in the requested unit.
 * `cancelled` is the cancelled amount that the account has not got back yet.
 */
const RequestAmounts = z.object({ pending: Amount, claimable: Amount, cancelled: Amount })

const RequestKey = z.object({ kind: RequestKind, requestId: Amount, account: Address })
/** Key of an account's requests with one id in a vault. The vault settles all these requests together. */
export type RequestKey = z.output<typeof RequestKey>

/** An account's requests with one id that wait for their settlement. `timestamp` is the time of the newest request. */
export const OpenRequest = RequestKey.extend({
  timestamp: Timestamp,
  /** Amount that was published to clients as claimable so far; only in vaults without settlement events. */
  reported: Amount.optional(),
  /** Amounts that the vault reported at the last settlement; absent if the account has made a new request since then. */
  settled: RequestAmounts.optional(),
})
export type OpenRequest = z.output<typeof OpenRequest>

/**
 * Amounts of a vault's waiting requests, read at a block. The amounts are used once that block is final, if the chain
 * still has a block with this hash.
 */
export const Snapshot = StoredBlock.extend({
  hash: HashText,
  /**
   * `given` is the amount that a claim of `claimable` pays: shares for a deposit, assets for a withdrawal. It is absent
   * if the vault does not report it.
   */
  requests: z.array(RequestKey.extend({ ...RequestAmounts.shape, given: Amount.optional() })),
})
export type Snapshot = z.output<typeof Snapshot>

/** Builds a text that identifies an account's requests with one id within their vault. */
export function buildRequestName({ kind, requestId, account }: RequestKey): string {
  return `${kind} ${requestId} ${account}`
}

/**
 * Finds the requests that ledger entries open or cancel. The last entry about a request decides whether it is open. In
 * vaults with settlement events, a cancellation closes the whole request. In other vaults a cancellation is ignored
 * here, and `isAsked` is true. The scheduled job then reads the remaining amount from the contract.
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
