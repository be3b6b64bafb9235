import type { Address, Hash } from 'viem'
import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { TransactionHash } from '../codecs.ts'

/** Where an event stands, and whom and which vault it concerns. */
export type EntryLocation = {
  readonly account: Address
  readonly chainId: number
  readonly vault: Address
  readonly transactionHash: Hash
  readonly blockNumber: number
  readonly logIndex: number
  readonly timestamp: Date
}

/** What happened, without where; see `LedgerEntry`. */
export type Happened =
  | {
      readonly kind: 'deposit'
      readonly requestId: bigint
      readonly assets: bigint
      readonly shares: bigint | null
      readonly payer?: Address
    }
  | { readonly kind: 'cancel'; readonly requestId: bigint; readonly assets?: bigint }
  | { readonly kind: 'claim'; readonly assets: bigint; readonly shares: bigint }
  | { readonly kind: 'redeem'; readonly requestId: bigint; readonly shares: bigint; readonly payer?: Address }
  | { readonly kind: 'cancelRedeem'; readonly requestId: bigint; readonly shares: bigint }
  | { readonly kind: 'withdraw'; readonly assets: bigint; readonly shares: bigint; readonly isClaim: boolean }
  | { readonly kind: 'receive'; readonly assets: bigint | null; readonly shares: bigint }
  | { readonly kind: 'send'; readonly assets: bigint | null; readonly shares: bigint }

/**
 * One thing that happened to one account in one vault, as an event of the chain says; assets and shares in their smallest
 * units. What a deposit has become follows from the entries after it.
 *
 * * `deposit`: assets went in; shares immediately for synchronous ones (`requestId` 0). `payer` gave them, if another account.
 * * `cancel`: assets of the requests with this id came back: of the last ones that are not settled; all if it names none.
 * * `claim`: settled assets became shares.
 * * `redeem`: a redemption of shares was requested; `payer` as for deposits.
 * * `cancelRedeem`: shares of the requests with this id came back: of the last ones that are not settled.
 * * `withdraw`: assets came out: of a settled request (`isClaim`), or for shares in the wallet immediately.
 * * `receive`, `send`: shares came or went without assets; `assets` is their value then, null before the first known price.
 */
export type LedgerEntry = EntryLocation & Happened

/** State of a deposit or withdrawal. */
export const HistoryStatus = z.enum(['pending', 'claimable', 'completed', 'cancelled'])
export type HistoryStatus = z.output<typeof HistoryStatus>

/** The transaction on another chain with which a deposit began. */
export const DepositSource = z
  .object({ chainId: ChainId, transactionHash: TransactionHash })
  .meta({ id: 'DepositSource', description: 'Origin of a deposit from another chain' })
export type DepositSource = z.output<typeof DepositSource>

/**
 * Whether the entry moves nothing: a request or claim of 0, which anybody may make for another account, or moved shares worth
 * less than one unit of the asset. A cancellation that names no amount moves something.
 */
export function isNothing(entry: LedgerEntry): boolean {
  if (entry.kind === 'cancel') return entry.assets === 0n
  if (entry.kind === 'receive' || entry.kind === 'send') return entry.shares === 0n || entry.assets === 0n
  return !('assets' in entry && entry.assets > 0n) && !entry.shares
}

/** An entry's key in its vault, for cursors and notices: as text it sorts in the order in which things happened. */
export function buildSortKey(entry: LedgerEntry): string {
  return `${buildLocationKey(entry)}#${entry.kind}`
}

/** The start of the keys of an event's entries. */
export function buildLocationKey({
  timestamp,
  chainId,
  blockNumber,
  logIndex,
}: Pick<EntryLocation, 'timestamp' | 'chainId' | 'blockNumber' | 'logIndex'>): string {
  const seconds = Math.floor(timestamp.getTime() / 1000)
  return [digits(seconds, 12), digits(chainId, 12), digits(blockNumber, 12), digits(logIndex, 6)].join('#')
}

/** The event that names a deposit. */
export type DepositLocation = Pick<LedgerEntry, 'chainId' | 'transactionHash' | 'logIndex'>

/** The id of a deposit or withdrawal: the place of its event. */
export function buildEntryId({ chainId, transactionHash, logIndex }: DepositLocation): string {
  return `${chainId}-${transactionHash}-${logIndex}`
}

function digits(number: number, length: number): string {
  return number.toString().padStart(length, '0')
}
