import type { Address, Hash } from 'viem'

/** Position of an event on a chain, with the account and the vault that it concerns. */
export type EntryLocation = {
  readonly account: Address
  readonly chainId: number
  readonly vault: Address
  readonly transactionHash: Hash
  readonly blockNumber: number
  readonly logIndex: number
  readonly timestamp: Date
}

/** Kind and amounts of a ledger entry, in smallest units. `LedgerEntry` explains each kind. */
export type EntryDetails =
  | {
      readonly kind: 'deposit'
      readonly requestId: bigint
      readonly assets: bigint
      readonly shares: bigint | null
      readonly payer?: Address
    }
  | { readonly kind: 'cancel'; readonly requestId: bigint; readonly assets?: bigint }
  | { readonly kind: 'claim'; readonly assets: bigint; readonly shares: bigint }
  | {
      readonly kind: 'redeem'
      readonly requestId: bigint
      readonly shares: bigint
      readonly assets?: bigint
      readonly payer?: Address
    }
  | { readonly kind: 'paid'; readonly assets: bigint }
  | { readonly kind: 'cancelRedeem'; readonly requestId: bigint; readonly shares: bigint }
  | { readonly kind: 'withdraw'; readonly assets: bigint; readonly shares: bigint; readonly isClaim: boolean }
  | { readonly kind: 'receive'; readonly assets: bigint | null; readonly shares: bigint }
  | { readonly kind: 'send'; readonly assets: bigint | null; readonly shares: bigint }

/**
 * Entry of an account's ledger in one vault, from a chain event; amounts are in smallest units.
 * - `deposit`: the account deposited assets, by a request or, if `requestId` is 0, for immediate shares. `payer` is set
 *   if another account paid.
 * - `cancel`: the vault returned assets of the latest unsettled deposit requests with this id; all of them if `assets`
 *   is absent.
 * - `claim`: assets of settled deposit requests became shares.
 * - `redeem`: the account requested a redemption. `payer` is set if another account's shares were used. `assets` is the
 *   payment if it is already fixed.
 * - `paid`: the vault paid assets to this account, for all open redemptions with a fixed payment: those that this
 *   account requested, or those of another account.
 * - `cancelRedeem`: the vault returned shares of the latest unsettled redemption requests with this id.
 * - `withdraw`: the vault paid assets for a settled request (`isClaim`), or immediately for shares in the wallet.
 * - `receive`, `send`: shares changed their owner. `assets` is their value at that time; null before the first known
 *   price.
 */
export type LedgerEntry = EntryLocation & EntryDetails

/** Position on a chain of the event that identifies a deposit. */
export type DepositLocation = Pick<LedgerEntry, 'chainId' | 'transactionHash' | 'logIndex'>
