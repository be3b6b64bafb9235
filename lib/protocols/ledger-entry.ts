import type { Address, Hash } from 'viem'

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
 * One thing that happened to one account in one vault, as an event of the chain says; assets and shares in their smallest
 * units. What a deposit has become follows from the entries after it.
 *
 * * `deposit`: assets went in; shares immediately for synchronous ones (`requestId` 0). `payer` gave them, if another account.
 * * `cancel`: assets of the requests with this id came back: of the last ones that are not settled; all if it names none.
 * * `claim`: settled assets became shares.
 * * `redeem`: a redemption of shares was requested; `payer` as for deposits. `assets` is what it pays, if that is fixed.
 * * `paid`: assets came out of requests whose assets were fixed: of all that the account or another one had.
 * * `cancelRedeem`: shares of the requests with this id came back: of the last ones that are not settled.
 * * `withdraw`: assets came out: of a settled request (`isClaim`), or for shares in the wallet immediately.
 * * `receive`, `send`: shares came or went without assets; `assets` is their value then, null before the first known price.
 */
export type LedgerEntry = EntryLocation & Happened

/** The event that names a deposit. */
export type DepositLocation = Pick<LedgerEntry, 'chainId' | 'transactionHash' | 'logIndex'>
