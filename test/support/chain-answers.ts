import { decodeFunctionData, decodeFunctionResult, encodeFunctionResult, type Hex, toFunctionSelector } from 'viem'
import { MULTICALL3 } from '../../lib/chain/multicall.ts'
import { MULTICALL_ABI } from './oracles.ts'
import type { RecordingProxy } from './wire.ts'

/** One JSON-RPC call of a batch request. */
export type RpcCall = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
/** Maps a node's result of a JSON-RPC call to the result that the client receives instead. */
export type ResultChange = (result: unknown, call: RpcCall) => unknown

/** Rewrites every JSON-RPC result on its way from the node to the client. */
export function rewriteResults(wire: RecordingProxy, change: ResultChange): void {
  wire.rewrite = (answer, request) => {
    const calls: RpcCall[] = JSON.parse(request)
    const items: { id: number; result: unknown }[] = JSON.parse(answer)
    const resultOf = ({ id, result }: (typeof items)[number]) => {
      const call = calls.find((candidate) => candidate.id === id)
      return call ? change(result, call) : result
    }
    return JSON.stringify(items.map((item) => ({ ...item, result: resultOf(item) })))
  }
}

/** Selector of the function with which a Multicall3 batch reads the number of its own block. */
export const BLOCK_NUMBER_SELECTOR = toFunctionSelector('getBlockNumber()')
/** Selector of the function with which a Multicall3 batch reads the time of its own block. */
export const BLOCK_TIME_SELECTOR = toFunctionSelector('getCurrentBlockTimestamp()')

/**
 * Returns a `ResultChange` that applies `change` to the return data of each contract call, also inside a Multicall3 batch.
 * `change` gets the return data, the called function's selector and the JSON-RPC call.
 */
export function createReturnDataChange(change: (data: Hex, selector: string, call: RpcCall) => string): ResultChange {
  return (result, call) => {
    const { method, params } = call
    if (method !== 'eth_call' || result === undefined) return result
    const [{ to, data }] = params as [{ to: string; data: Hex }]
    if (to.toLowerCase() !== MULTICALL3.toLowerCase()) return change(result as Hex, data.slice(0, 10), call)
    const [calls = []] = decodeFunctionData({ abi: MULTICALL_ABI, data }).args ?? []
    const abi = { abi: MULTICALL_ABI, functionName: 'aggregate3' } as const
    const changed = decodeFunctionResult({ ...abi, data: result as Hex }).map(({ success, returnData }, index) => ({
      success,
      returnData: change(returnData, calls[index]?.callData.slice(0, 10) ?? '', call) as Hex,
    }))
    return encodeFunctionResult({ ...abi, result: changed })
  }
}

/**
 * Returns a `ResultChange` that applies `change` to the return data of contract calls. The block number and block time of a
 * Multicall3 batch stay unchanged.
 */
export function createValueChange(change: (data: Hex) => string): ResultChange {
  return createReturnDataChange((data, selector) =>
    [BLOCK_NUMBER_SELECTOR, BLOCK_TIME_SELECTOR].includes(selector as Hex) ? data : change(data),
  )
}

/**
 * Makes calls of these functions return no data, as a contract without them may do. The node also appears to lack
 * `eth_simulateV1`.
 */
export function revertCalls(wire: RecordingProxy, functions: readonly string[]): void {
  const reverting = new Set<string>(functions.map((signature) => toFunctionSelector(signature)))
  const changeCalls = createReturnDataChange((data, selector) => (reverting.has(selector) ? '0x' : data))
  rewriteResults(wire, (result, call) => (call.method === 'eth_simulateV1' ? null : changeCalls(result, call)))
}
