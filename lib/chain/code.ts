import { type Address, concat, type Hex } from 'viem'
import { checksumAddress } from '../core/codecs.ts'
import type { RpcRequest } from './rpc.ts'

/** Returns the request for the current contract code at an address. */
export function codeRequest(address: Address): RpcRequest {
  return { method: 'eth_getCode', params: [address, 'latest'] }
}

/** Returns the code of an account that delegates to this contract (EIP-7702). */
export function buildDelegationCode(contract: Address): Hex {
  return concat(['0xef0100', contract])
}

/** Returns the contract to which an account with this code delegates (EIP-7702); undefined if it does not delegate. */
export function findDelegate(code: Hex): Address | undefined {
  const [, delegate] = /^0xef0100([0-9a-f]{40})$/i.exec(code) ?? []
  return delegate === undefined ? undefined : checksumAddress(`0x${delegate}`)
}
