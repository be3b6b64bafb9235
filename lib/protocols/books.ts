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
 * What the events of a vault so far say of its price, in smallest units. What it means is its protocol's: shares are worth
 * about `shares × assets / supply`, rounded down.
 */
export const Ledger = z.object({ assets: Amount, supply: Amount })
export type Ledger = z.output<typeof Ledger>

/** Where an event stands; `timestamp` in seconds since 1970. */
type EventLocation = Readonly<LogLocation> & {
  readonly chainId: number
  readonly transactionHash: Hash
  readonly blockHash?: Hash | undefined
  readonly timestamp: bigint
}

/** An event of a vault, or of its shares, and where it stands. */
export type VaultEvent = { readonly eventName: string; readonly args: object } & EventOrigin
/** The same, known to be one of this ABI's. */
export type EventOf<A extends Abi> = DecodeEventLogReturnType<A> & EventOrigin
type EventOrigin = {
  readonly vault: Address
  readonly location: EventLocation
  /** The vault's ledger right after it, where it moves shares from one owner to another. */
  readonly ledger?: Ledger
}

/** A transfer of a token that a vault's books hear besides the vault's own events. */
export type HeardTransfer = {
  readonly eventName: 'HeardTransfer'
  readonly args: { readonly from: Address; readonly to: Address; readonly value: bigint }
} & EventOrigin

/** How the events of a protocol's vaults keep the books. All of it is pure, so the same events give the same. */
export type Books<V extends TokenizedVault = VaultOnChain, Event extends VaultEvent = VaultEvent> = {
  /** The names of the events that can move the price, apart from mints and burns. */
  readonly repricing: ReadonlySet<string>
  /** The transfers of another token that belong to the books: those from one contract. Absent where there are none. */
  heard?(vault: V): { readonly token: Address; readonly from: Address }
  /**
   * A transaction's events, with the accounts of each where the standard has them; absent where no vault differs. With
   * `ofAccount` they are those alone that name this account.
   */
  standardize?(events: readonly Event[], ofAccount?: Address): readonly Event[]
  /**
   * The transfer of shares whose reason an event tells, by what it says of it: a mint that is no fee, or shares on their
   * way to or from a request. Undefined for other events.
   */
  explained(vault: V, event: Event): ExplainedTransfer | undefined
  /** What these shares are worth by the ledger, in the asset's smallest unit; null before there is a price. */
  shareValue(vault: V, ledger: Ledger, shares: bigint): bigint | null
  /** The ledger after each of a transaction's events. Absent where no event tells the price. */
  ledgers?(vault: V, before: Ledger, events: readonly Event[]): readonly Ledger[]
  /**
   * What one whole share is worth after a transaction, by the ledger after it; null where its events do not tell. Absent
   * where no event tells: the price is then read (`sharePrice` of the protocol).
   */
  priceAfter?(vault: V, after: Ledger, events: readonly Event[]): bigint | null
  /** What each of a transaction's events did besides moving shares from one account to another. */
  entries(vault: V, events: readonly Event[]): readonly (readonly OwnEntry[])[]
  /** The shares that an event moves from one owner to another, though no transfer tells so. */
  handedOver(vault: V, event: Event): ShareTransfer | undefined
  /** What an event settles; absent where no event tells, so that the vault is asked of each open request. */
  settlement?(event: Event): Settlement | undefined
  /** What an event means for settlements, whether they settle something or not; absent where no event tells. */
  settlementStep?(event: Event): SettlementStep | undefined
  /** Whether shares with this account are somebody's: neither the vault's own nor on their way through it. */
  isOwner(vault: V, account: Address): boolean
}

/** All requests of one kind with ids up to this one: `requested` in all, for which their claims give `given`, before fees. */
export type Settlement = {
  readonly kind: RequestKind
  readonly lastId: bigint
  readonly requested: bigint
  readonly given: bigint
}

/** A request arrives, a valuation is proposed that includes all that wait, or a settlement takes place. */
type SettlementStep =
  | { readonly does: 'request'; readonly kind: RequestKind; readonly id: bigint }
  | { readonly does: 'propose' | 'settle' }

/** What happened to an account. */
type OwnEntry = { readonly account: Address } & Happened

/** Shares that go from one account to another. */
export type ShareTransfer = { readonly from: Address; readonly to: Address; readonly shares: bigint }

/** What an event says of a transfer: how many shares, and from whom or to whom, or both. */
export type ExplainedTransfer = Pick<ShareTransfer, 'shares'> & Partial<ShareTransfer>

/** Whether an event is a transfer of shares, a mint or a burn. */
export function isShareTransfer(event: VaultEvent): event is EventOf<typeof erc20Abi> {
  return event.eventName === 'Transfer'
}
