import { refuseUnless } from './refusal.ts'

// This file encodes calls of ERC-20, ERC-4626, ERC-7540, ERC-7887 and Lagoon's contracts from their specifications. It shares no code with
// the service that builds the calls. A byte-for-byte comparison with these calls thus reveals a wrong call of the service.

/** Encodes a 20-byte address or an amount as a 32-byte word, without 0x. */
export function encodeWord(value: string | bigint): string {
  const hex = typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()
  return hex.padStart(64, '0')
}

/** Encodes a `bytes` value: its length, then its bytes padded to whole words. */
export function encodeBytes(hex: string): string {
  return encodeWord(BigInt(hex.length / 2)) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')
}

/** Encodes dynamic ABI arguments: first the offset of each argument, then the contents. */
export function encodeDynamicParts(parts: readonly string[]): string {
  const starts = parts.map((_, index) =>
    parts.slice(0, index).reduce((sum, before) => sum + before.length / 2, 32 * parts.length),
  )
  return [...starts.map((start) => encodeWord(BigInt(start))), ...parts].join('')
}

/**
 * Selector of each function, then the names of its arguments. `user` receives the tokens of a call, or controls a
 * request or its cancellation. `payer` owns the tokens that a call takes, or controls the request that a call claims.
 * `nobody` is the zero address.
 */
const FUNCTIONS = {
  approve: ['095ea7b3', 'spender', 'amount'],
  deposit: ['6e553f65', 'amount', 'user'],
  requestDeposit: ['85b77f45', 'amount', 'user', 'payer'],
  syncDeposit: ['d01d073a', 'amount', 'user', 'nobody'],
  claimDeposit: ['2e2d2984', 'amount', 'user', 'payer'],
  mint: ['da39b3e7', 'amount', 'user', 'payer'],
  withdraw: ['b460af94', 'amount', 'user', 'payer'],
  redeem: ['ba087652', 'amount', 'user', 'payer'],
  requestRedeem: ['7d41c86e', 'amount', 'user', 'payer'],
  claimSharesAndRequestRedeem: ['5cfe2fe4', 'amount'],
  cooldownAssets: ['cdac52ed', 'amount'],
  cooldownShares: ['9343d9e1', 'amount'],
  unstake: ['f2888dbb', 'user'],
  syncRedeem: ['19815ab1', 'amount', 'user', 'minimum'],
  cancelRequestDeposit: ['9c428921'],
  cancelRequestRedeem: ['0953d841', 'user'],
  cancelDepositRequest: ['b9cf0634', 'id', 'user'],
  cancelRedeemRequest: ['2b9d9c1f', 'id', 'user'],
  claimCancelDepositRequest: ['69d77a44', 'id', 'user', 'payer'],
  claimCancelRedeemRequest: ['00a06d19', 'id', 'user', 'payer'],
} as const satisfies Record<string, readonly [selector: string, ...arguments: Argument[]]>

type Argument = 'amount' | 'minimum' | 'id' | 'user' | 'payer' | 'spender' | 'nobody'

/** Name of a known function; `claimDeposit` is ERC-7540's `deposit` with three arguments. */
export type FunctionName = keyof typeof FUNCTIONS

type Arguments = { readonly [Name in Exclude<Argument, 'nobody'>]?: string | bigint }

/** Encodes a call as hexadecimal text without 0x. An argument that is not given is 0. */
export function encodeCall(name: FunctionName, values: Arguments): string {
  const [selector, ...names]: readonly [string, ...Argument[]] = FUNCTIONS[name]
  return selector + names.map((argument) => encodeWord(argument === 'nobody' ? 0n : (values[argument] ?? 0n))).join('')
}

/** Transaction of a response in normal form: lower-case data without 0x, and the value in the smallest unit of the native coin. */
export type Transaction = { readonly to: string; readonly data: string; readonly value: bigint }

/** Decoded call: its function and its numeric arguments. An argument that the function does not have is 0. */
export type DecodedCall = {
  readonly name: FunctionName
  readonly amount: bigint
  readonly minimum: bigint
  readonly id: bigint
}

/**
 * Decodes a transaction as a call of one of the functions `names`. Throws a Refusal if it calls another function, or names other addresses
 * than `people`.
 */
export function decodeCall(
  { data }: Pick<Transaction, 'data'>,
  names: readonly FunctionName[],
  people: Pick<Arguments, 'user' | 'payer' | 'spender'>,
): DecodedCall {
  const name = names.find((candidate) => data.startsWith(FUNCTIONS[candidate][0]))
  refuseUnless(name !== undefined, `the call 0x${data.slice(0, 8)} does not fit the request`)
  const [, ...places]: readonly [string, ...Argument[]] = FUNCTIONS[name]
  const number = (argument: Argument) => {
    const index = places.indexOf(argument)
    const text = data.slice(8 + 64 * index, 72 + 64 * index)
    return index < 0 || text.length < 64 ? 0n : BigInt(`0x${text}`)
  }
  const amounts = { name, amount: number('amount'), minimum: number('minimum'), id: number('id') }
  refuseUnless(data === encodeCall(name, { ...people, ...amounts }), `the call of ${name} is not only for the user`)
  return amounts
}

/** Returns whether two addresses are equal, regardless of case. */
export function isSameAddress(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}
