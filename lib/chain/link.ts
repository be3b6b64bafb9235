import type { Abi } from 'viem'
import { decodeCall, findFunction } from './decode.ts'
import type { Transaction } from './transaction.ts'

/** What a link can say: a number in digits, and an address. */
const PLAIN_TYPE = /^(address|uint\d+)$/

/**
 * The link that makes a wallet send a call of this ABI (https://eips.ethereum.org/EIPS/eip-681), amounts in plain digits.
 * Null for any other call, and for one with an argument that a link cannot say.
 */
export function encodeLink(abi: Abi, chainId: number, { to, data }: Omit<Transaction, 'value'>): string | null {
  const called = findFunction(abi, data)
  const call = decodeCall(abi, data)
  if (!called || !call || !called.inputs.every(({ type }) => PLAIN_TYPE.test(type))) return null
  const parameters = called.inputs.map(({ type }, index) => `${type}=${call.args?.[index]}`).join('&')
  return `ethereum:${to}@${chainId}/${called.name}${parameters && `?${parameters}`}`
}
