import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, Timestamp, TransactionHash } from '../codecs.ts'

const location = {
  account: Address,
  chainId: ChainId,
  vault: Address,
  transactionHash: TransactionHash,
  blockNumber: z.number().int().nonnegative(),
  logIndex: z.number().int().nonnegative(),
  timestamp: Timestamp,
}

/**
 * One thing that happened to one account in one vault, as an event of the chain says; assets and shares in their
 * smallest units. It is never changed: what a deposit has become follows from the ledger entries after it.
 *
 * * `deposit`: assets went in; shares at once for synchronous ones (`requestId` 0). `payer` is who gave them, where its
 *   protocol tells that it was another account.
 * * `cancel`: of the requests with this id, so many assets were taken back: the last ones that are not settled, and all
 *   of them where it names no assets.
 * * `claim`: settled assets became shares.
 * * `redeem`: a redemption of shares was requested; `payer` as for deposits.
 * * `cancelRedeem`: of the requests with this id, so many shares were taken back: the last ones that are not settled.
 * * `withdraw`: assets came out: of a settled request (`isClaim`), or for shares in the wallet at once.
 * * `receive`, `send`: shares came or went without assets; `assets` is their value then.
 */
export const LedgerEntry = z.discriminatedUnion('kind', [
  z.object({
    ...location,
    kind: z.literal('deposit'),
    requestId: Amount,
    assets: Amount,
    shares: Amount.nullable(),
    payer: Address.optional(),
  }),
  z.object({ ...location, kind: z.literal('cancel'), requestId: Amount, assets: Amount.optional() }),
  z.object({ ...location, kind: z.literal('claim'), assets: Amount, shares: Amount }),
  z.object({
    ...location,
    kind: z.literal('redeem'),
    requestId: Amount,
    shares: Amount,
    payer: Address.optional(),
  }),
  z.object({ ...location, kind: z.literal('cancelRedeem'), requestId: Amount, shares: Amount }),
  z.object({
    ...location,
    kind: z.literal('withdraw'),
    assets: Amount,
    shares: Amount,
    // Absent in records from before claims were told apart, of which the history of withdrawals shows no asynchronous vault.
    isClaim: z.boolean().default(false),
  }),
  z.object({ ...location, kind: z.literal('receive'), assets: Amount, shares: Amount }),
  z.object({ ...location, kind: z.literal('send'), assets: Amount, shares: Amount }),
])
export type LedgerEntry = z.output<typeof LedgerEntry>

/** What has become of a deposit or a withdrawal. */
export const HistoryStatus = z.enum(['pending', 'claimable', 'completed', 'cancelled'])
export type HistoryStatus = z.output<typeof HistoryStatus>

/** The transaction on another chain with which a deposit began. */
export const DepositSource = z
  .object({ chainId: ChainId, transactionHash: TransactionHash })
  .meta({ id: 'DepositSource', description: 'Origin of a deposit from another chain' })
export type DepositSource = z.output<typeof DepositSource>

/**
 * Whether the entry moves nothing: a request or claim of nothing, which anybody may make in another's name, or shares
 * received or sent that are worth less than one unit of the asset, which add nothing to any total. A deposit's
 * cancellation that names no amount never counts as nothing.
 */
export function isNothing(entry: LedgerEntry): boolean {
  if (entry.kind === 'cancel') return entry.assets === 0n
  if ('assets' in entry && entry.assets > 0n) return false
  return entry.kind === 'receive' || entry.kind === 'send' || !entry.shares
}

/** A ledger entry's sort key in its vault: as text it sorts in the order in which things happened. */
export function buildSortKey(entry: LedgerEntry): string {
  return `${buildLocationKey(entry)}#${entry.kind}`
}

/** What the sort keys begin with of what an event did. */
export function buildLocationKey({ timestamp, chainId, blockNumber, logIndex }: EntryLocation): string {
  const seconds = Math.floor(timestamp.getTime() / 1000)
  return [digits(seconds, 12), digits(chainId, 12), digits(blockNumber, 12), digits(logIndex, 6)].join('#')
}
type EntryLocation = Pick<LedgerEntry, 'timestamp' | 'chainId' | 'blockNumber' | 'logIndex'>

/** Which event on which chain: what names a deposit. */
export type DepositLocation = Pick<LedgerEntry, 'chainId' | 'transactionHash' | 'logIndex'>

/** The id of a deposit or a withdrawal: where its vault's event stands. */
export function buildEntryId({ chainId, transactionHash, logIndex }: DepositLocation): string {
  return `${chainId}-${transactionHash}-${logIndex}`
}

function digits(number: number, length: number): string {
  return number.toString().padStart(length, '0')
}

/** The start of the sort keys of ledger entries in a vault, so that it can be skipped, or read alone. */
export function entryPrefix(chainId: number, vault: z.output<typeof Address>): string {
  return `ENTRY#${chainId}#${Address.encode(vault)}#`
}
