import { type Abi, type Address, type Hex, isAddressEqual } from 'viem'
import type { Log } from '../chain/logs.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { RequestKind } from './request-kind.ts'
import type { TokenizedVault } from './tokenized-vault.ts'

/** What an operation is asked for, by and for `account`; amounts in smallest units. */
export type OperationRequest = {
  readonly vault: Pick<TokenizedVault, 'address' | 'asset'>
  readonly account: Address
  /** Of the asset or of shares, whichever the operation takes; 0 where it takes none. */
  readonly amount: bigint
  /** Who holds and pays the assets: the account, unless the bridge's handler does it for the account. */
  readonly payer?: Address
  /** The least of the asset that the account accepts, where the operation has such a bound. */
  readonly minimum?: bigint
  /** Which of the account's requests it is about, where the operation names one; 0 for all of them. */
  readonly requestId?: bigint
}

/** One of a vault's functions that move an account's assets or shares. */
export type Operation = {
  readonly name: string
  /** What the call returns an amount of: what was paid or taken by it; absent where it returns none, as requests do. */
  readonly returns?: 'assets' | 'shares'
  /** Whether what it is for comes only later, by another call. */
  readonly isAsync?: boolean
  /** The call's data. */
  encode(request: OperationRequest): Hex
  /** What such a call asks for; undefined for the data of any other call. */
  decode(data: Hex): Terms | undefined
}

/** What a call of an operation asks for. */
type Terms = {
  readonly amount: bigint
  /** Who gets what comes of it, and whose request it is; absent where that is the sender. */
  readonly receiver?: Address
  /** Whose assets or shares are taken; absent where they are the sender's. */
  readonly payer?: Address
  readonly minimum?: bigint
  readonly requestId?: bigint
  /** Whether it names somebody who is paid for it. */
  readonly hasReferral?: boolean
}

/** A function that takes a deposit. Its first argument is the amount, where the bridge puts what it delivers. */
export type DepositOperation = Omit<Operation, 'decode'> & {
  /** Whether the shares come only after a settlement. */
  readonly isAsync: boolean
  decode(data: Hex): (Terms & { readonly receiver: Address }) | undefined
  /** The deposit that the vault took, if this log among the logs of its transaction is the event of such a deposit. */
  taken(log: Log, logs: readonly Log[]): TakenDeposit | undefined
}

/** A deposit that a vault took for `account`, paid by `payer`. Amounts in smallest units; `shares` null for a request. */
type TakenDeposit = {
  readonly account: Address
  readonly payer: Address
  readonly assets: bigint
  readonly shares: bigint | null
}

/** A function by which shares leave a vault for assets, or which gives what is settled. */
export type WithdrawalOperation = Operation & {
  readonly takes: 'assets' | 'shares'
  /** Whether there are vaults that take the shares by the account's approval. */
  readonly mayPullShares?: boolean
}

/** The functions of one protocol's vaults that move an account's assets and shares. */
export type Operations = {
  /** In which these functions are written down, with their arguments. */
  readonly abi: Abi
  /** Those that may take a deposit, the usual one first. */
  readonly deposits: readonly [DepositOperation, ...(readonly DepositOperation[])]
  /** Those that may take a withdrawal, in the order in which one is preferred to the next. */
  readonly withdrawals: readonly WithdrawalOperation[]
  /** Those that give what is settled of either kind; none where nothing waits. */
  readonly claims: readonly WithdrawalOperation[]
  /** Those that may take back a pending request of this kind; they take no amount. */
  readonly cancels: Readonly<Record<RequestKind, readonly Operation[]>>
}

/** What cancels where nothing waits. */
export const NO_CANCELS: Operations['cancels'] = { deposit: [], withdrawal: [] }

/** An operation and what it is asked for. */
export type Intent = { readonly operation: Operation; readonly request: OperationRequest }

/** The transaction that calls an operation: request and shares are always the account's. */
export function encodeOperation({ operation, request }: Intent): Transaction {
  return { to: request.vault.address, data: operation.encode(request), value: 0n }
}

/**
 * Verifies operations before they are returned: decodes each and compares every field with what was asked for.
 * Throws on any difference; a difference is our mistake, so it reaches the caller as an internal error.
 */
export function verifyOperations(intents: readonly Intent[], transactions: readonly Transaction[]): void {
  if (transactions.length !== intents.length) throw new Error('There are not exactly the operations asked for.')
  for (const [index, intent] of intents.entries()) {
    if (!isRight(intent, transactions[index])) throw new Error('The operation is not what was asked for.')
  }
}

function isRight({ operation, request }: Intent, transaction: Transaction | undefined): boolean {
  const { vault, account, amount, payer = account, minimum, requestId = 0n } = request
  if (!transaction) return false
  const terms = operation.decode(transaction.data)
  return (
    terms !== undefined &&
    isAddressEqual(transaction.to, vault.address) &&
    transaction.value === 0n &&
    terms.amount === amount &&
    isAddressEqual(terms.receiver ?? account, account) &&
    isAddressEqual(terms.payer ?? payer, payer) &&
    terms.minimum === minimum &&
    (terms.requestId ?? requestId) === requestId &&
    !terms.hasReferral
  )
}
