import type { Abi, Address, DecodeEventLogReturnType, Hash } from 'viem'
import * as z from 'zod'
import type { erc20Abi } from '../chain/erc20.ts'
import type { LogLocation } from '../chain/logs.ts'
import { Amount } from '../codecs.ts'
import type { Happened } from './ledger-entry.ts'
import type { RequestKind } from './request-kind.ts'
import type { TokenizedVault } from './tokenized-vault.ts'
import type { VaultOnChain } from './vault-on-chain.ts'

/**
 * Assets and supply that a vault's events imply, in smallest units. Shares are worth about `shares × assets / supply`,
 * rounded down; the protocol defines the exact meaning.
 */
export const Ledger = z.object({ assets: Amount, supply: Amount })
export type Ledger = z.output<typeof Ledger>

/** Position of an event on its chain; `timestamp` in seconds since 1970. */
type EventLocation = Readonly<LogLocation> & {
  readonly chainId: number
  readonly transactionHash: Hash
  readonly blockHash?: Hash | undefined
  readonly timestamp: bigint
}

/** Event of a vault, or of its share token, with its position. */
export type VaultEvent = { readonly eventName: string; readonly args: object } & EventOrigin
/** Event of this ABI, with its position. */
export type EventOf<A extends Abi> = DecodeEventLogReturnType<A> & EventOrigin
type EventOrigin = {
  readonly vault: Address
  readonly location: EventLocation
  /** Ledger of the vault right after the event; set if the event moves shares between owners. */
  readonly ledger?: Ledger
}

/** Transfer of another token that belongs to a vault's books. */
export type HeardTransfer = {
  readonly eventName: 'HeardTransfer'
  readonly args: { readonly from: Address; readonly to: Address; readonly value: bigint }
} & EventOrigin

/** Rules that turn the events of a protocol's vaults into books. They are pure: the same events give the same books. */
export type Books<V extends TokenizedVault = VaultOnChain, Event extends VaultEvent = VaultEvent> = {
  /** Names of the events that can move the price, except mints and burns. */
  readonly repricing: ReadonlySet<string>
  /** Token and sender of the foreign transfers that belong to the books; absent if there are none. */
  heard?(vault: V): { readonly token: Address; readonly from: Address }
  /**
   * Returns a transaction's events with the accounts in the standard's order; absent if all vaults follow it. With
   * `ofAccount`, `events` contains only the events that name this account.
   */
  standardize?(events: readonly Event[], ofAccount?: Address): readonly Event[]
  /**
   * Returns the share transfer that an event explains: a mint that is no fee, or a move to or from a request. Returns
   * undefined for other events.
   */
  explained(vault: V, event: Event): ExplainedTransfer | undefined
  /** Returns the value of these shares by the ledger, in the asset's smallest unit; null before there is a price. */
  shareValue(vault: V, ledger: Ledger, shares: bigint): bigint | null
  /** Returns the ledger after each of a transaction's events; absent if no event contains the price. */
  ledgers?(vault: V, before: Ledger, events: readonly Event[]): readonly Ledger[]
  /**
   * Returns the value of one whole share after a transaction, by the ledger after it; null if the events do not show
   * it. Absent if no event contains the price: it is then read from the chain (`sharePrice` of the protocol).
   */
  priceAfter?(vault: V, after: Ledger, events: readonly Event[]): bigint | null
  /** Returns, for each event of a transaction, the ledger entries other than share transfers between accounts. */
  entries(vault: V, events: readonly Event[]): readonly (readonly OwnEntry[])[]
  /** Returns the shares that an event moves between owners without a transfer event. */
  handedOver(vault: V, event: Event): ShareTransfer | undefined
  /** Returns the requests that an event settles; absent if no event shows it and each open request must be read. */
  settlement?(event: Event): Settlement | undefined
  /** Returns the step towards a settlement that an event is; absent if no event shows it. */
  settlementStep?(event: Event): SettlementStep | undefined
  /** Returns whether shares at this account belong to a user, not to the vault itself or its silo. */
  isOwner(vault: V, account: Address): boolean
}

/**
 * Settled requests of one kind: all with ids up to `lastId`. They requested `requested` in total; their claims give
 * `given`, before fees.
 */
export type Settlement = {
  readonly kind: RequestKind
  readonly lastId: bigint
  readonly requested: bigint
  readonly given: bigint
}

/** Step towards a settlement: a request, a proposed valuation that includes all waiting requests, or the settlement. */
type SettlementStep =
  | { readonly does: 'request'; readonly kind: RequestKind; readonly id: bigint }
  | { readonly does: 'propose' | 'settle' }

type OwnEntry = { readonly account: Address } & Happened

/** Move of shares between two accounts. */
export type ShareTransfer = { readonly from: Address; readonly to: Address; readonly shares: bigint }

/** Details that an event gives of a share transfer: the amount, and sender, recipient or both. */
export type ExplainedTransfer = Pick<ShareTransfer, 'shares'> & Partial<ShareTransfer>

/** Returns whether an event is a share transfer, including mints and burns. */
export function isShareTransfer(event: VaultEvent): event is EventOf<typeof erc20Abi> {
  return event.eventName === 'Transfer'
}
