import { type Address, zeroAddress } from 'viem'
import * as z from 'zod'
import type { VaultEvent } from '../activity/events.ts'
import type { LedgerEntry } from '../activity/ledger-entry.ts'
import { Amount } from '../codecs.ts'
import type { FollowedVault } from '../vaults/vault.ts'

/**
 * What the events of a vault so far say of its price, in smallest units. What it means is its protocol's: shares are worth
 * about `shares × assets / supply`, rounded down.
 */
export const Ledger = z.object({ assets: Amount, supply: Amount })
export type Ledger = z.output<typeof Ledger>

/** How the events of a protocol's vaults keep the books. All of it is pure, so the same events give the same. */
export type Books<V extends FollowedVault = FollowedVault> = {
  /**
   * Who makes the price: `valuations` are the curator's, and each is kept; `trades` are anybody's, so an hour keeps its
   * last, and the price is read besides, as nobody tells it of a vault in which nobody trades.
   */
  readonly pricedBy: 'valuations' | 'trades'
  /** The events that mint the shares of a deposit to its owner. */
  readonly minting: ReadonlySet<VaultEvent['eventName']>
  /** What these shares are worth by the ledger, in the asset's smallest unit; null before there is a price. */
  shareValue(vault: V, ledger: Ledger, shares: bigint): bigint | null
  /** The ledger after each of a transaction's events. */
  ledgers(vault: V, before: Ledger, events: readonly VaultEvent[]): readonly Ledger[]
  /** What one whole share is worth after a transaction, by the ledger after it; null where its events do not tell. */
  priceAfter(vault: V, after: Ledger, events: readonly VaultEvent[]): bigint | null
  /** What an event did besides moving shares from one account to another. */
  entries(event: VaultEvent): readonly OwnEntry[]
  /** The shares that an event moves from one owner to another, though no transfer tells so. */
  handedOver(event: VaultEvent): ShareTransfer | undefined
  /** Whether shares with this account are somebody's: neither the vault's own nor on their way through it. */
  isOwner(vault: V, account: Address): boolean
}

/** A ledger entry without where it stands. */
type OwnEntry = LedgerEntry extends infer M
  ? M extends LedgerEntry
    ? { readonly user: Address } & Omit<M, keyof Place>
    : never
  : never
type Place = Pick<
  LedgerEntry,
  'user' | 'chainId' | 'vault' | 'transactionHash' | 'blockNumber' | 'logIndex' | 'timestamp' | 'generation'
>

/** Shares that go from one account to another. */
export type ShareTransfer = { readonly from: Address; readonly to: Address; readonly shares: bigint }

/** The shares that a transfer moves from one owner to another. */
export function transferOf(vault: FollowedVault, { isOwner }: Books, event: VaultEvent): ShareTransfer | undefined {
  if (event.eventName !== 'Transfer') return undefined
  const { from, to, value: shares } = event.args
  const isOwnersChange = from !== zeroAddress && to !== zeroAddress && from !== to
  return isOwnersChange && isOwner(vault, from) && isOwner(vault, to) ? { from, to, shares } : undefined
}
