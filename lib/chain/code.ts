import { type Address, concat, type Hex, isHex } from 'viem'
import { checksumAddress } from '../core/codecs.ts'
import { badResponse } from '../core/errors.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'

/** Returns the request for the current contract code at an address. */
export function codeRequest(address: Address): RpcRequest {
  return { method: 'eth_getCode', params: [address, 'latest'] }
}

/** Returns the code in the outcome of a `codeRequest`. Throws `upstream_bad_answer` if there is none. */
export function parseCode(outcome: RpcOutcome | undefined): Hex {
  if (outcome && 'result' in outcome && isHex(outcome.result)) return outcome.result
  throw badResponse('no code')
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
