import { type Abi, type Address, type Hex, isAddressEqual } from 'viem'
import type { Log } from '../chain/logs.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { RequestKind } from './request-kind.ts'
import type { TokenizedVault } from './tokenized-vault.ts'

/** Parameters of an operation by and for `account`; amounts in smallest units. */
export type OperationRequest = {
  readonly vault: Pick<TokenizedVault, 'address' | 'asset'>
  readonly account: Address
  /** Assets or shares, whichever the operation takes; 0 if it takes no amount. */
  readonly amount: bigint
  /** Account that pays the assets; defaults to `account`. The bridge's handler may pay instead. */
  readonly payer?: Address
  /** Minimum assets the account accepts, if the operation has such a bound. */
  readonly minimum?: bigint
  /** Id of the request, if the operation names one; 0 for all requests of the account. */
  readonly requestId?: bigint
}

/** Vault function that moves an account's assets or shares. */
export type Operation = {
  readonly name: string
  /** Unit of the amount that the call returns; absent if it returns none, as requests do. */
  readonly returns?: 'assets' | 'shares'
  /** True if the assets or shares arrive only by a later call. */
  readonly isAsync?: boolean
  /** Returns the calldata. */
  encode(request: OperationRequest): Hex
  /** Returns the parameters of such a call; undefined for the data of any other call. */
  decode(data: Hex): Terms | undefined
}

/** Parameters decoded from a call of an operation. */
type Terms = {
  readonly amount: bigint
  /** Account that receives the proceeds and owns the request; absent if it is the sender. */
  readonly receiver?: Address
  /** Account whose assets or shares are taken; absent if it is the sender. */
  readonly payer?: Address
  readonly minimum?: bigint
  readonly requestId?: bigint
  /** True if the call names a referrer, whom the vault pays. */
  readonly hasReferral?: boolean
}

/** Vault function that takes a deposit. Its first argument is the amount; the bridge writes the delivered amount there. */
export type DepositOperation = Omit<Operation, 'decode'> & {
  /** True if the shares come only after a settlement. */
  readonly isAsync: boolean
  decode(data: Hex): (Terms & { readonly receiver: Address }) | undefined
  /** Returns the deposit if `log` is its event; `logs` are all logs of the transaction. Returns undefined for other logs. */
  taken(log: Log, logs: readonly Log[]): TakenDeposit | undefined
}

/** Deposit that a vault took for `account`, paid by `payer`. Amounts in smallest units; `shares` is null for a request. */
type TakenDeposit = {
  readonly account: Address
  readonly payer: Address
  readonly assets: bigint
  readonly shares: bigint | null
}

/** Vault function that exchanges shares for assets, or claims settled assets or shares. */
export type WithdrawalOperation = Operation & {
  readonly takes: 'assets' | 'shares'
  /** True if some vaults take the shares by the account's approval. */
  readonly mayPullShares?: boolean
}

/** Functions of one protocol's vaults that move an account's assets and shares. */
export type Operations = {
  /** ABI that declares these functions. */
  readonly abi: Abi
  /** Functions that may take a deposit, the usual one first. */
  readonly deposits: readonly [DepositOperation, ...(readonly DepositOperation[])]
  /** Functions that may take a withdrawal, the preferred one first. */
  readonly withdrawals: readonly WithdrawalOperation[]
  /** Functions that claim settled requests of either kind; empty if nothing waits. */
  readonly claims: readonly WithdrawalOperation[]
  /** Functions that may cancel a pending request of this kind; they take no amount. */
  readonly cancels: Readonly<Record<RequestKind, readonly Operation[]>>
}

/** Empty list of cancellations, for protocols without requests. */
export const NO_CANCELS: Operations['cancels'] = { deposit: [], withdrawal: [] }

/** Operation with its parameters. */
export type Intent = { readonly operation: Operation; readonly request: OperationRequest }

/** Encodes the transaction that calls an operation. Requests and shares always belong to the account. */
export function encodeOperation({ operation, request }: Intent): Transaction {
  return { to: request.vault.address, data: operation.encode(request), value: 0n }
}

/**
 * Verifies transactions before they are returned: decodes each and compares every field with its intent. Throws an
 * Error on any difference. A difference is a bug, so the caller gets an internal error.
 */
export function verifyOperations(intents: readonly Intent[], transactions: readonly Transaction[]): void {
  if (transactions.length !== intents.length) throw new Error('There are more or fewer transactions than operations.')
  for (const [index, intent] of intents.entries()) {
    if (!isRight(intent, transactions[index])) throw new Error('The transaction differs from the operation requested.')
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
