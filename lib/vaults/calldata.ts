import { type Address, decodeFunctionData, encodeFunctionData, isAddressEqual, zeroAddress } from 'viem'
import type { Transaction } from '../chain/transaction.ts'
import { erc20Abi, erc4626Abi, lagoonAbi } from './abi.ts'
import type { Vault } from './vault.ts'

/** A deposit of `amount` of the vault's asset, in its smallest unit, by and for `user`. */
export type DepositRequest = { readonly vault: Vault; readonly user: Address; readonly amount: bigint }

/** The approval of exactly `amount`, preceded by one of 0 for tokens that refuse to change an allowance in one step. */
export function encodeApprovals(
  { vault, amount }: DepositRequest,
  { resetFirst }: { resetFirst: boolean },
): Transaction[] {
  const approve = (allowance: bigint) =>
    transaction(
      vault.asset,
      encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [vault.address, allowance] }),
    )
  return resetFirst ? [approve(0n), approve(amount)] : [approve(amount)]
}

/** ERC-4626 `deposit(assets, receiver)`: the shares go to the user at once. */
export function encodeDeposit({ vault, user, amount }: DepositRequest): Transaction {
  return transaction(
    vault.address,
    encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [amount, user] }),
  )
}

/** ERC-7540 `requestDeposit(assets, controller, owner)`: the user controls the request and pays it. */
export function encodeRequestDeposit({ vault, user, amount }: DepositRequest): Transaction {
  return transaction(
    vault.address,
    encodeFunctionData({ abi: lagoonAbi, functionName: 'requestDeposit', args: [amount, user, user] }),
  )
}

/** Lagoon's `syncDeposit(assets, receiver, referral)`, without a referral: the shares go to the user at once. */
export function encodeSyncDeposit({ vault, user, amount }: DepositRequest): Transaction {
  return transaction(
    vault.address,
    encodeFunctionData({ abi: lagoonAbi, functionName: 'syncDeposit', args: [amount, user, zeroAddress] }),
  )
}

/** ERC-7540 `deposit(assets, receiver, controller)`: claims the shares of `amount` settled assets for the user. */
export function encodeClaim({ vault, user, amount }: DepositRequest): Transaction {
  return transaction(
    vault.address,
    encodeFunctionData({ abi: lagoonAbi, functionName: 'deposit', args: [amount, user, user] }),
  )
}

/**
 * The last look before transactions leave: decodes them and compares every field with what was asked for.
 * Throws on any difference; a difference is our mistake, so it reaches the caller as an internal error.
 */
export function checkDeposit(
  request: DepositRequest,
  { approval, operations }: { approval: readonly Transaction[]; operations: readonly Transaction[] },
): void {
  const amounts = approval.map((approve) => approvedAmount(request, approve))
  const exact =
    amounts.length === 0 || (amounts.at(-1) === request.amount && amounts.slice(0, -1).every((a) => a === 0n))
  if (!exact || amounts.length > 2) throw new Error('The approvals are not for exactly the amount.')
  checkSingle(request, operations, depositTerms)
}

/** The same last look for a claim. */
export function checkClaim(request: DepositRequest, operations: readonly Transaction[]): void {
  checkSingle(request, operations, claimTerms)
}

type Terms = { readonly amount: bigint; readonly parties: readonly Address[] }

function checkSingle(
  { vault, user, amount }: DepositRequest,
  operations: readonly Transaction[],
  decode: (operation: Transaction) => Terms,
): void {
  const [operation, ...more] = operations
  if (!operation || more.length > 0) throw new Error('There is not exactly one operation.')
  const terms = decode(operation)
  const right =
    isAddressEqual(operation.to, vault.address) &&
    operation.value === 0n &&
    terms.amount === amount &&
    terms.parties.length > 0 &&
    terms.parties.every((party) => isAddressEqual(party, user))
  if (!right) throw new Error('The operation is not what was asked for.')
}

function approvedAmount({ vault }: DepositRequest, { to, data, value }: Transaction): bigint {
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data })
  const right =
    functionName === 'approve' &&
    isAddressEqual(to, vault.asset) &&
    value === 0n &&
    isAddressEqual(args[0], vault.address)
  if (!right) throw new Error('The approval is not for the vault.')
  return args[1]
}

function depositTerms({ data }: Transaction): Terms {
  const { functionName, args } = decodeFunctionData({ abi: [...erc4626Abi, ...lagoonAbi], data })
  if (functionName === 'requestDeposit') return { amount: args[0], parties: [args[1], args[2]] }
  if (functionName === 'syncDeposit' && args[2] === zeroAddress) return { amount: args[0], parties: [args[1]] }
  if (functionName === 'deposit' && args.length === 2) return { amount: args[0], parties: [args[1]] }
  throw new Error('The operation is no deposit.')
}

function claimTerms({ data }: Transaction): Terms {
  const { functionName, args } = decodeFunctionData({ abi: lagoonAbi, data })
  if (functionName === 'deposit') return { amount: args[0], parties: [args[1], args[2]] }
  throw new Error('The operation is no claim.')
}

function transaction(to: Address, data: Transaction['data']): Transaction {
  return { to, data, value: 0n }
}
