import { type Address, decodeFunctionData, encodeFunctionData, type Hex, isAddressEqual, zeroAddress } from 'viem'
import type { Transaction } from '../chain/transaction.ts'
import { erc4626Abi, lagoonAbi } from '../protocols/abi.ts'
import type { Vault } from './vault.ts'

/** A deposit into the vault for `user`, of `amount` of its asset in the smallest unit. */
export type DepositRequest = {
  readonly vault: Pick<Vault, 'address' | 'asset'>
  readonly user: Address
  readonly amount: bigint
  /** Who holds and pays the assets: the user, unless the bridge's handler does it for the user. */
  readonly payer?: Address
}

/**
 * The calls that take a deposit: ERC-4626 `deposit`, ERC-7540 `requestDeposit`, whose shares come after a settlement,
 * and Lagoon's `syncDeposit`, whose shares come at once.
 */
export type DepositOperation = 'deposit' | 'requestDeposit' | 'syncDeposit'

/** The call that deposits: request and shares are always the user's. */
export function encodeDeposit(operation: DepositOperation, request: DepositRequest): Transaction {
  const { vault, user, amount, payer = user } = request
  const data = {
    deposit: () => encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [amount, user] }),
    requestDeposit: () =>
      encodeFunctionData({ abi: lagoonAbi, functionName: 'requestDeposit', args: [amount, user, payer] }),
    syncDeposit: () =>
      encodeFunctionData({ abi: lagoonAbi, functionName: 'syncDeposit', args: [amount, user, zeroAddress] }),
  }[operation]()
  return { to: vault.address, data, value: 0n }
}

/** ERC-7540 `deposit(assets, receiver, controller)`: claims the shares of `amount` settled assets for the user. */
export function encodeClaim({ vault, user, amount }: DepositRequest): Transaction {
  const data = encodeFunctionData({ abi: lagoonAbi, functionName: 'deposit', args: [amount, user, user] })
  return { to: vault.address, data, value: 0n }
}

/**
 * The last look before a deposit leaves: decodes it and compares every field with what was asked for.
 * Throws on any difference; a difference is our mistake, so it reaches the caller as an internal error.
 */
export function verifyDeposit(
  operation: DepositOperation,
  request: DepositRequest,
  transactions: readonly Transaction[],
): void {
  checkSingle(operation, request, transactions, parseDeposit)
}

/** The same last look for a claim. */
export function verifyClaim(request: DepositRequest, transactions: readonly Transaction[]): void {
  checkSingle('claim', request, transactions, parseClaim)
}

type Terms = {
  readonly operation: DepositOperation | 'claim'
  readonly amount: bigint
  readonly receiver: Address
  readonly payer?: Address
}

function checkSingle(
  operation: Terms['operation'],
  { vault, user, amount, payer = user }: DepositRequest,
  transactions: readonly Transaction[],
  parse: (data: Hex) => Terms,
): void {
  const [transaction, ...more] = transactions
  if (!transaction || more.length > 0) throw new Error('There is not exactly one operation.')
  const terms = parse(transaction.data)
  const right =
    isAddressEqual(transaction.to, vault.address) &&
    transaction.value === 0n &&
    terms.operation === operation &&
    terms.amount === amount &&
    isAddressEqual(terms.receiver, user) &&
    isAddressEqual(terms.payer ?? payer, payer)
  if (!right) throw new Error('The operation is not what was asked for.')
}

function parseDeposit(data: Hex): Terms {
  const { functionName: operation, args } = decodeFunctionData({ abi: [...erc4626Abi, ...lagoonAbi], data })
  if (operation === 'requestDeposit') return { operation, amount: args[0], receiver: args[1], payer: args[2] }
  if (operation === 'syncDeposit' && args[2] === zeroAddress) return { operation, amount: args[0], receiver: args[1] }
  if (operation === 'deposit' && args.length === 2) return { operation, amount: args[0], receiver: args[1] }
  throw new Error('The operation is no deposit.')
}

function parseClaim(data: Hex): Terms {
  const { functionName, args } = decodeFunctionData({ abi: lagoonAbi, data })
  if (functionName === 'deposit') return { operation: 'claim', amount: args[0], receiver: args[1], payer: args[2] }
  throw new Error('The operation is no claim.')
}
