import type { Abi, Address, DecodeEventLogReturnType, Hash } from 'viem'
import * as z from 'zod'
import type { erc20Abi } from '../chain/erc20.ts'
import type { LogLocation } from '../chain/logs.ts'
import { Amount } from '../core/codecs.ts'
import type { EntryDetails } from './ledger-entry.ts'
import type { RequestKind } from './request-kind.ts'
import type { TokenizedVault } from './tokenized-vault.ts'
import type { VaultOnChain } from './vault-on-chain.ts'

/**
 * Assets and supply by a vault's events, in smallest units. Shares are worth about `shares × assets / supply`, rounded
 * down; the protocol defines the exact meaning.
 */
export const Ledger = z.object({ assets: Amount, supply: Amount })
export type Ledger = z.output<typeof Ledger>

type EventLocation = Readonly<LogLocation> & {
  readonly chainId: number
  readonly transactionHash: Hash
  readonly blockHash?: Hash | undefined
  readonly timestamp: bigint
}

/** Event of a vault or its share token, with its position. */
export type VaultEvent = { readonly eventName: string; readonly args: object } & EventOrigin
/** Event of this ABI, with its position. */
export type EventOf<A extends Abi> = DecodeEventLogReturnType<A> & EventOrigin
type EventOrigin = {
  readonly vault: Address
  readonly location: EventLocation
  /** Ledger after the event; set if the event moves shares between owners. */
  readonly ledger?: Ledger
}

/** Transfer of another token that belongs to a vault's books. */
export type ForeignTransfer = {
  readonly eventName: 'HeardTransfer'
  readonly args: { readonly from: Address; readonly to: Address; readonly value: bigint }
} & EventOrigin

/** Rules by which the events of a protocol's vaults make its books. They are pure: the same events give the same books. */
export type Books<V extends TokenizedVault = VaultOnChain, Event extends VaultEvent = VaultEvent> = {
  /** Events that can move the price, except mints and burns. */
  readonly repricing: ReadonlySet<string>
  /** Token and sender of the transfers of another token; absent if there are none. */
  findForeignTransferSource?(vault: V): { readonly token: Address; readonly from: Address }
  /**
   * Puts the accounts of a transaction's events in the standard's order; absent if all vaults use it. With `ofAccount`,
   * `events` are only those that name this account.
   */
  normalizeEvents?(events: readonly Event[], ofAccount?: Address): readonly Event[]
  /** Returns the share transfer that an event explains: a mint that is no fee, or a move to or from a request. */
  explainTransfer(vault: V, event: Event): ExplainedTransfer | undefined
  /** Returns the value of these shares in the asset's smallest unit; null before there is a price. */
  shareValue(vault: V, ledger: Ledger, shares: bigint): bigint | null
  /** Returns the ledger after each event of a transaction; absent if no event contains the price. */
  foldLedgers?(vault: V, before: Ledger, events: readonly Event[]): readonly Ledger[]
  /**
   * Returns the value of one whole share after a transaction; null if its events do not show it. Absent if no event
   * does: the price is then read (`sharePrice` of the protocol).
   */
  priceAfter?(vault: V, after: Ledger, events: readonly Event[]): bigint | null
  /** Returns each event's ledger entries, except share transfers between accounts. */
  entries(vault: V, events: readonly Event[]): readonly (readonly OwnEntry[])[]
  /** Returns the shares that an event moves between owners without a transfer. */
  findHandover(vault: V, event: Event): ShareTransfer | undefined
  /** Returns the requests that an event settles; absent if no event shows it, so that each open request must be read. */
  settlement?(event: Event): Settlement | undefined
  settlementStep?(event: Event): SettlementStep | undefined
  /** Returns whether the account is a user, not the vault itself or its silo. */
  isOwner(vault: V, account: Address): boolean
}

/** Settled requests of one kind, with all ids up to `lastId`; `given` are the proceeds of their claims, before fees. */
export type Settlement = {
  readonly kind: RequestKind
  readonly lastId: bigint
  readonly requested: bigint
  readonly given: bigint
}

/** Request, proposed valuation that includes all waiting requests, or settlement. */
type SettlementStep =
  | { readonly does: 'request'; readonly kind: RequestKind; readonly id: bigint }
  | { readonly does: 'propose' | 'settle' }

type OwnEntry = { readonly account: Address } & EntryDetails

/** Move of shares between accounts. */
export type ShareTransfer = { readonly from: Address; readonly to: Address; readonly shares: bigint }

/** Share transfer whose sender or recipient may be unknown. */
export type ExplainedTransfer = Pick<ShareTransfer, 'shares'> & Partial<ShareTransfer>

/** Returns whether an event is a transfer of shares, a mint or a burn. */
export function isShareTransfer(event: VaultEvent): event is EventOf<typeof erc20Abi> {
  return event.eventName === 'Transfer'
}
