import { type Abi, type Address, type Hex, isAddressEqual } from 'viem'
import type { Log } from '../chain/logs.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { RequestKind } from './request-kind.ts'
import type { TokenizedVault } from './tokenized-vault.ts'

/** Parameters of an operation by and for `account`; amounts in smallest units. */
export type OperationRequest = {
  readonly vault: Pick<TokenizedVault, 'address' | 'asset'>
  readonly account: Address
  /** Assets or shares; 0 if the operation takes no amount. */
  readonly amount: bigint
  /** Account that pays: `account` by default, or the bridge's handler. */
  readonly payer?: Address
  /** Minimum assets, if the operation has such a bound. */
  readonly minimum?: bigint
  /** Request that the operation names; 0 for all of the account's. */
  readonly requestId?: bigint
}

/** Vault function that moves an account's assets or shares. */
export type Operation = {
  readonly name: string
  /** Unit of the call's return value; absent without one, as for requests. */
  readonly returns?: 'assets' | 'shares'
  /** True if the proceeds come only by a later call. */
  readonly isAsync?: boolean
  encode(request: OperationRequest): Hex
  /** Returns undefined for the data of any other call. */
  decode(data: Hex): Terms | undefined
}

/** Parameters of a call. */
type Terms = {
  readonly amount: bigint
  /** Receiver of the proceeds and owner of the request; absent if it is the sender. */
  readonly receiver?: Address
  /** Owner of the assets or shares taken; absent if it is the sender. */
  readonly payer?: Address
  readonly minimum?: bigint
  readonly requestId?: bigint
  /** True if the call names a paid referrer. */
  readonly hasReferral?: boolean
}

/** Vault function that takes a deposit. Its first argument is the amount, which the bridge fills in. */
export type DepositOperation = Omit<Operation, 'decode'> & {
  /** True if the shares come only after a settlement. */
  readonly isAsync: boolean
  decode(data: Hex): (Terms & { readonly receiver: Address }) | undefined
  /** Returns the deposit that `log` reports, undefined for other logs; `logs` are all of its transaction. */
  parseTakenDeposit(log: Log, logs: readonly Log[]): TakenDeposit | undefined
}

/** Deposit that a vault took; amounts in smallest units, `shares` null for a request. */
type TakenDeposit = {
  readonly account: Address
  readonly payer: Address
  readonly assets: bigint
  readonly shares: bigint | null
}

/** Vault function that exchanges shares for assets, or claims settled requests. */
export type WithdrawalOperation = Operation & {
  readonly takes: 'assets' | 'shares'
  /** True if some vaults need an approval of the shares. */
  readonly mayPullShares?: boolean
}

/** Operations of one protocol's vaults. */
export type Operations = {
  readonly abi: Abi
  /** Deposits, the usual one first. */
  readonly deposits: readonly [DepositOperation, ...(readonly DepositOperation[])]
  /** Withdrawals, the preferred one first. */
  readonly withdrawals: readonly WithdrawalOperation[]
  /** Claims of either kind; empty if nothing waits. */
  readonly claims: readonly WithdrawalOperation[]
  /** Cancellations, which take no amount. */
  readonly cancels: Readonly<Record<RequestKind, readonly Operation[]>>
}

/** Cancellations of protocols without requests. */
export const NO_CANCELS: Operations['cancels'] = { deposit: [], withdrawal: [] }

/** Operation with its parameters. */
export type Intent = { readonly operation: Operation; readonly request: OperationRequest }

/** Encodes an operation's transaction. Requests and shares always belong to the account. */
export function encodeOperation({ operation, request }: Intent): Transaction {
  return { to: request.vault.address, data: operation.encode(request), value: 0n }
}

/**
 * Verifies transactions before they are returned, field by field. Throws an Error on any difference: it is a bug, so
 * the caller gets an internal error.
 */
export function verifyOperations(intents: readonly Intent[], transactions: readonly Transaction[]): void {
  if (transactions.length !== intents.length) throw new Error('There are more or fewer transactions than operations.')
  for (const [index, intent] of intents.entries()) {
    if (!matchesIntent(intent, transactions[index]))
      throw new Error('The transaction differs from the operation requested.')
  }
}

function matchesIntent({ operation, request }: Intent, transaction: Transaction | undefined): boolean {
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
