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

/** Kind and amounts of a ledger entry. `LedgerEntry` explains each kind. */
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
 * Entry of an account's ledger in one vault, from a chain event; amounts in smallest units. Later entries show what
 * became of a deposit.
 *
 * * `deposit`: assets went in, for shares immediately if `requestId` is 0. `payer` is set if another account paid.
 * * `cancel`: assets of the latest unsettled requests with this id came back: all without an amount.
 * * `claim`: settled assets became shares.
 * * `redeem`: a redemption was requested; `payer` as for deposits. `assets` is the payment, if it is fixed.
 * * `paid`: assets came out of all fixed requests of this account or of another one.
 * * `cancelRedeem`: shares of the latest unsettled requests with this id came back.
 * * `withdraw`: assets came out of a settled request (`isClaim`), or immediately for shares in the wallet.
 * * `receive`, `send`: shares moved without assets. `assets` is their value then, null before the first known price.
 */
export type LedgerEntry = EntryLocation & EntryDetails

/** Position on a chain of the event that identifies a deposit. */
export type DepositLocation = Pick<LedgerEntry, 'chainId' | 'transactionHash' | 'logIndex'>
