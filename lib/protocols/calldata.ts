import { type AbiFunction, type Address, encodeFunctionData, type Hex, isAddressEqual, zeroAddress } from 'viem'
import { decodeCall } from '../chain/decode.ts'
import type { Log } from '../chain/logs.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { RequestKind } from './request-kind.ts'
import type { TokenizedVault } from './tokenized-vault.ts'

/** Parameters of a vault operation that `account` performs for itself. Amounts are in smallest units. */
export type OperationRequest = {
  readonly vault: Pick<TokenizedVault, 'address' | 'asset'>
  readonly account: Address
  /** Amount of assets or shares, as the operation requires; 0 if the operation takes no amount. */
  readonly amount: bigint
  /** Account that pays: `account` by default. For a deposit from another chain, the bridge's handler contract pays. */
  readonly payer?: Address
  /** Minimum assets that the operation must pay, else it reverts; set only if its function has such an argument. */
  readonly minimum?: bigint
  /** Id of the request that the operation names; 0 for all requests of the account. */
  readonly requestId?: bigint
}

/** Vault function that moves an account's assets or shares. */
export type Operation = {
  readonly name: string
  /** Unit of the function's return value. Absent for functions that return no amount, such as those that make a request. */
  readonly returns?: 'assets' | 'shares'
  /** True if the shares or assets arrive only by a later call. */
  readonly isAsync?: boolean
  encode(request: OperationRequest): Hex
  /** Decodes calldata of this operation; returns undefined for any other calldata. */
  decode(data: Hex): Terms | undefined
}

type Terms = {
  readonly amount: bigint
  /** Receiver of the shares or assets, and owner of the request; absent if the call names none, so that the sender is the receiver. */
  readonly receiver?: Address
  /** Owner of the assets or shares that are spent; absent if the call names none, so that the sender pays. */
  readonly payer?: Address
  readonly minimum?: bigint
  readonly requestId?: bigint
  /** Referrer, who would be paid; the zero address for none. */
  readonly referral?: Address
}

/** Vault function that takes a deposit. Its first argument is the amount, which the bridge overwrites with the amount that arrived. */
export type DepositOperation = Omit<Operation, 'decode'> & {
  /** True if the shares arrive only after a settlement of the request. */
  readonly isAsync: boolean
  decode(data: Hex): (Terms & { readonly receiver: Address }) | undefined
  /** Returns the deposit that `log` reports; undefined for other logs. `logs` are all logs of the transaction. */
  parseTakenDeposit(log: Log, logs: readonly Log[]): TakenDeposit | undefined
}

/** Deposit that a vault took, in smallest units. `shares` is null if the deposit is a request, which gives shares later. */
type TakenDeposit = {
  readonly account: Address
  readonly payer: Address
  readonly assets: bigint
  readonly shares: bigint | null
}

/** Vault function that exchanges shares for assets, requests such an exchange, or claims settled deposit or withdrawal requests. */
export type WithdrawalOperation = Operation & {
  readonly takes: 'assets' | 'shares'
  /** True if some vaults need the account to approve its shares for the vault first. */
  readonly mayPullShares?: boolean
}

/** Operations of the vaults of one protocol, such as Lagoon. */
export type Operations = {
  /** Deposit operations; the one that most deposits use is first. */
  readonly deposits: readonly [DepositOperation, ...(readonly DepositOperation[])]
  /** Withdrawal operations in the order of preference. */
  readonly withdrawals: readonly WithdrawalOperation[]
  /** Operations that claim settled deposits or withdrawals; empty if the protocol has no requests. */
  readonly claims: readonly WithdrawalOperation[]
  /** Operations that cancel pending requests; they take no amount. */
  readonly cancels: Readonly<Record<RequestKind, readonly Operation[]>>
}

/** Value of `Operations.cancels` for protocols without requests. */
export const NO_CANCELS: Operations['cancels'] = { deposit: [], withdrawal: [] }

/** Arguments of vault functions: their types, and their values in calls that the service encodes. */
const ARGUMENTS = {
  amount: { type: 'uint256', valueOf: ({ amount }: OperationRequest) => amount },
  minimum: { type: 'uint256', valueOf: ({ minimum = 0n }: OperationRequest) => minimum },
  requestId: { type: 'uint256', valueOf: ({ requestId = 0n }: OperationRequest) => requestId },
  receiver: { type: 'address', valueOf: ({ account }: OperationRequest) => account },
  payer: { type: 'address', valueOf: ({ account, payer = account }: OperationRequest) => payer },
  referral: { type: 'address', valueOf: () => zeroAddress },
} as const

/** Returns the encoder and decoder of calls of the vault function `name` with these arguments, in the function's order. */
export function buildCallCodec<Name extends keyof typeof ARGUMENTS>(name: string, ...names: readonly Name[]) {
  const inputs = names.map((one) => ({ type: ARGUMENTS[one].type }))
  const abi: readonly [AbiFunction] = [{ type: 'function', name, inputs, outputs: [], stateMutability: 'nonpayable' }]
  return {
    name,
    encode: (request: OperationRequest) =>
      encodeFunctionData({ abi, functionName: name, args: names.map((one) => ARGUMENTS[one].valueOf(request)) }),
    decode(data: Hex) {
      const call = decodeCall(abi, data)
      if (!call) return undefined
      const values = Object.fromEntries(names.map((one, index) => [one, call.args?.[index]]))
      // The cast holds: the decoded arguments have the types in ARGUMENTS.
      return { amount: 0n, ...values } as Terms & Pick<Required<Terms>, Name>
    },
  }
}

/** Operation with the parameters to encode. */
export type PlannedOperation = { readonly operation: Operation; readonly request: OperationRequest }

/** Encodes the transaction of an operation. The resulting request or shares always belong to `account`, even if another account pays. */
export function encodeOperation({ operation, request }: PlannedOperation): Transaction {
  return { to: request.vault.address, data: operation.encode(request), value: 0n }
}

/**
 * Compares transactions field by field with the operations that they were encoded from, before the API returns them. Throws an Error on any
 * difference, which is a bug: the caller of the API gets an internal error.
 */
export function verifyOperations(intents: readonly PlannedOperation[], transactions: readonly Transaction[]): void {
  if (transactions.length !== intents.length) throw new Error('There are more or fewer transactions than operations.')
  for (const [index, intent] of intents.entries()) {
    if (!matchesIntent(intent, transactions[index]))
      throw new Error('The transaction differs from the operation requested.')
  }
}

function matchesIntent({ operation, request }: PlannedOperation, transaction: Transaction | undefined): boolean {
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
    (terms.referral ?? zeroAddress) === zeroAddress
  )
}
