import { type Address, type Hex, isAddressEqual } from 'viem'
import type { Log } from '../chain/logs.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { TokenizedVault } from './tokenized-vault.ts'

/** A deposit into the vault for `account`, of `amount` of its asset in the smallest unit; or the claim of one. */
export type DepositRequest = {
  readonly vault: Pick<TokenizedVault, 'address' | 'asset'>
  readonly account: Address
  readonly amount: bigint
  /** Who holds and pays the assets: the account, unless the bridge's handler does it for the account. */
  readonly payer?: Address
}

/** One of a vault's functions that move an account's assets or shares. */
export type Operation = {
  /** The call's data. */
  encode(request: DepositRequest): Hex
  /** What such a call asks for; undefined for the data of any other call. */
  decode(data: Hex): Terms | undefined
}

/** What a call of an operation asks for. */
type Terms = {
  readonly amount: bigint
  readonly receiver: Address
  /** Absent where the sender is who pays. */
  readonly payer?: Address
  /** Whether it names somebody who is paid for it. */
  readonly hasReferral?: boolean
}

/** A function that takes a deposit. Its first argument is the amount, where the bridge puts what it delivers. */
export type DepositOperation = Operation & {
  readonly name: string
  /** Whether the shares come only after a settlement. */
  readonly isAsync: boolean
  /** For whom the vault took such a deposit and who paid it, by the event that tells of it; undefined for other logs. */
  taken(log: Log): { readonly account: Address; readonly payer: Address } | undefined
}

/** The functions of one protocol's vaults that move an account's assets and shares. */
export type Operations = {
  /** Those that may take a deposit, the usual one first. */
  readonly deposits: readonly [DepositOperation, ...(readonly DepositOperation[])]
  /** Pays out the shares of settled deposits, and returns how many; absent where shares come at once. */
  readonly claim?: Operation
}

/** The transaction that calls an operation: request and shares are always the account's. */
export function encodeOperation({ encode }: Operation, request: DepositRequest): Transaction {
  return { to: request.vault.address, data: encode(request), value: 0n }
}

/**
 * The last look before an operation leaves: decodes it and compares every field with what was asked for.
 * Throws on any difference; a difference is our mistake, so it reaches the caller as an internal error.
 */
export function verifyOperation(
  { decode }: Operation,
  { vault, account, amount, payer = account }: DepositRequest,
  transactions: readonly Transaction[],
): void {
  const [transaction, ...more] = transactions
  if (!transaction || more.length > 0) throw new Error('There is not exactly one operation.')
  const terms = decode(transaction.data)
  const right =
    isAddressEqual(transaction.to, vault.address) &&
    transaction.value === 0n &&
    terms?.amount === amount &&
    isAddressEqual(terms.receiver, account) &&
    isAddressEqual(terms.payer ?? payer, payer) &&
    !terms.hasReferral
  if (!right) throw new Error('The operation is not what was asked for.')
}
