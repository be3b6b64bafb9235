import { type Address, concat, type Hash, type Hex, isHash, isHex, keccak256, numberToHex, size, slice } from 'viem'
import { inBatches } from '../batches.ts'
import { badAnswer } from '../errors.ts'
import type { ChainReader } from './reader.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'

/** How many addresses' code one call tells: what it returns is bounded as the code of a contract is (EIP-170). */
const MOST_ADDRESSES = 500

/** Of so many addresses the whole code is asked for at most: each has up to 24 KB. */
const MOST_CODES = 20

/** What stands for the hash where there is no code, whether anybody has used the address or not. */
export const NO_CODE: Hash = numberToHex(0, { size: 32 })

/** The length of the word in front of the hashes. Code must not start with 0xef (EIP-3541), as a hash may. */
const WORD = 32

/**
 * The calls for the hashes of what code stands at these addresses now: a contract's creation, which is never mined, that
 * asks for them (EXTCODEHASH) and returns them as its code. Nodes take such a call without a state override.
 */
export function codeHashRequests(addresses: readonly Address[]): RpcRequest[] {
  return inBatches(addresses, MOST_ADDRESSES).map((some) => {
    const steps = some.map((address, index) => concat(['0x73', address, '0x3f', push(WORD * (index + 1)), '0x52']))
    const data = concat([...steps, push(WORD * (some.length + 1)), '0x5ff3'])
    return { method: 'eth_call', params: [{ data }, 'latest'] }
  })
}

/**
 * The hashes that the outcomes of `codeHashRequests` tell, in order, `NO_CODE` where there is none; one more round trip,
 * with all of the code, where a node does not run such a call and they are at most 20. Throws `upstream_*`.
 */
export async function finishCodeHashes(
  reader: ChainReader,
  addresses: readonly Address[],
  outcomes: readonly RpcOutcome[],
): Promise<Hash[]> {
  const hashes = await readHashes(reader, addresses, outcomes)
  return hashes.map((hash) => (hash === EMPTY ? NO_CODE : hash))
}

/** The hash of an account that has no code, but something else. */
const EMPTY = keccak256('0x')

async function readHashes(
  reader: ChainReader,
  addresses: readonly Address[],
  outcomes: readonly RpcOutcome[],
): Promise<Hash[]> {
  const told = outcomes.map((outcome) => ('result' in outcome && isHex(outcome.result) ? outcome.result : '0x'))
  const isTold = inBatches(addresses, MOST_ADDRESSES).every(
    (some, index) => size(told[index] ?? '0x') === WORD * (some.length + 1),
  )
  if (isTold)
    return told.flatMap((data) => Array.from({ length: size(data) / WORD - 1 }, (_, i) => wordOf(data, i + 1)))
  if (addresses.length > MOST_CODES) throw badAnswer('the node does not tell the hashes of code')
  const codes = await readCodes(reader, addresses)
  return codes.map((code) => keccak256(code))
}

/** The code at these addresses now, in one round trip. Throws `upstream_*`. */
export async function readCodes(reader: ChainReader, addresses: readonly Address[]): Promise<Hex[]> {
  const outcomes = await reader.request(
    addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  )
  return outcomes.map((outcome) => {
    if ('result' in outcome && isHex(outcome.result)) return outcome.result
    throw badAnswer('no code')
  })
}

/** PUSH2. */
function push(value: number): Hex {
  return concat(['0x61', numberToHex(value, { size: 2 })])
}

function wordOf(data: Hex, index: number): Hash {
  const word = slice(data, WORD * index, WORD * (index + 1))
  if (!isHash(word)) throw badAnswer('no hash')
  return word
}
