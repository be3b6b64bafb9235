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
 * A vault's total assets and share supply as computed from its events, in smallest units. Shares are worth about `shares × assets /
 * supply`, rounded down. Each protocol defines the exact formula (`shareValue`).
 */
export const Ledger = z.object({ assets: Amount, supply: Amount })
export type Ledger = z.output<typeof Ledger>

type EventLocation = Readonly<LogLocation> & {
  readonly chainId: number
  readonly transactionHash: Hash
  readonly blockHash?: Hash | undefined
  readonly timestamp: bigint
}

/** Event of a vault or its share token, with its position on the chain. */
export type VaultEvent = { readonly eventName: string; readonly args: object } & EventOrigin
/** Typed event of the ABI `A`, with its position on the chain. */
export type EventOf<A extends Abi> = DecodeEventLogReturnType<A> & EventOrigin
type EventOrigin = {
  readonly vault: Address
  readonly location: EventLocation
  /** Total assets and supply after the event; set only if the event moves shares between owners. */
  readonly ledger?: Ledger
}

/**
 * Transfer of the asset by which a vault's payment becomes known. Cooldown vaults pay from their silo contract without
 * an event of the vault.
 */
export type AssetPayment = {
  readonly eventName: 'HeardTransfer'
  readonly args: { readonly from: Address; readonly to: Address; readonly value: bigint }
} & EventOrigin

/**
 * Rules of one protocol that compute a vault's price and its accounts' ledger entries from its events. The rules are
 * pure functions: equal events give equal results.
 */
export type LedgerRules<V extends TokenizedVault = VaultOnChain, Event extends VaultEvent = VaultEvent> = {
  /** Names of the events that can change the share price, except mints and burns. */
  readonly repricing: ReadonlySet<string>
  /**
   * Returns the token and the sender of transfers that show the vault's payments (`AssetPayment`). Absent if the
   * vault's own events show them.
   */
  findForeignTransferSource?(vault: V): { readonly token: Address; readonly from: Address }
  /**
   * Returns a transaction's events with their account arguments in the order of the ERC; some vaults emit them in
   * another order. Absent if all vaults of the protocol follow the ERC. With `ofAccount`, `events` are only those that
   * name this account.
   */
  normalizeEvents?(events: readonly Event[], ofAccount?: Address): readonly Event[]
  /**
   * Returns the share transfer that an event explains: the mint of a deposit, or a move into or out of a request;
   * undefined if there is none.
   */
  explainTransfer(vault: V, event: Event): ExplainedTransfer | undefined
  /** Returns the value of these shares in the asset's smallest unit; null before the first known price. */
  shareValue(vault: V, ledger: Ledger, shares: bigint): bigint | null
  /** Returns total assets and supply after each event of a transaction. Absent if the protocol's events do not show the price. */
  foldLedgers?(vault: V, before: Ledger, events: readonly Event[]): readonly Ledger[]
  /**
   * Returns the value of one whole share after a transaction; null if its events do not show the value. Absent if the
   * protocol's events never show the value: `Protocol.shareValue` is then the call that reads it from the chain.
   */
  priceAfter?(vault: V, after: Ledger, events: readonly Event[]): bigint | null
  /** Returns the ledger entries of each event, except those for share transfers between accounts. */
  entries(vault: V, events: readonly Event[]): readonly (readonly OwnEntry[])[]
  /** Returns the transfer of shares between owners that an event implies without a Transfer event; undefined if there is none. */
  findHandover(vault: V, event: Event): ShareTransfer | undefined
  /**
   * Returns the requests that an event settles. Absent if no event shows settlements, so that each open request must be read from the
   * chain.
   */
  settlement?(event: Event): Settlement | undefined
  settlementStep?(event: Event): SettlementStep | undefined
  /** Returns true if the account is a user; false for the vault itself and for its silo, which holds assets of waiting requests. */
  isOwner(vault: V, account: Address): boolean
}

/**
 * Settlement of all requests of one kind with ids up to `lastId`. `requested` is the total of these requests. `given`
 * is the total that their claims pay, before fees.
 */
export type Settlement = {
  readonly kind: RequestKind
  readonly lastId: bigint
  readonly requested: bigint
  readonly given: bigint
}

/** Step towards a settlement: a request, a proposed valuation that includes all waiting requests, or the settlement itself. */
type SettlementStep =
  | { readonly does: 'request'; readonly kind: RequestKind; readonly id: bigint }
  | { readonly does: 'propose' | 'settle' }

type OwnEntry = { readonly account: Address } & EntryDetails

/** Transfer of shares from one account to another; a mint or a burn is one too. */
export type ShareTransfer = { readonly from: Address; readonly to: Address; readonly shares: bigint }

/** Transfer of shares whose sender or recipient may be unknown. */
export type ExplainedTransfer = Pick<ShareTransfer, 'shares'> & Partial<ShareTransfer>

/** Returns true if an event is a Transfer of shares, which includes mints and burns. */
export function isShareTransfer(event: VaultEvent): event is EventOf<typeof erc20Abi> {
  return event.eventName === 'Transfer'
}
