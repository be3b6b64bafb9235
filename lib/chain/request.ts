import * as z from 'zod'
import { Quantity } from './hex.ts'
import type { RpcRequest } from './rpc.ts'

/** RPC methods that a healthy node may lack. A node that claims to lack another `eth_` method counts as temporarily broken. */
const OPTIONAL = ['eth_simulateV1', 'eth_getBlockReceipts']
const OVERRIDES = 'state overrides'

const Range = z.object({ fromBlock: Quantity, toBlock: Quantity })

/** True for a request for contract events (eth_getLogs). */
export function isEventsRequest({ method }: RpcRequest): boolean {
  return method === 'eth_getLogs'
}

/** True for a request for the latest block's header. */
export function isLatestHeader({ method, params }: RpcRequest): boolean {
  return method === 'eth_getBlockByNumber' && params[0] === 'latest'
}

/** True for an eth_call with state overrides. */
export function hasOverrides({ method, params }: RpcRequest): boolean {
  return method === 'eth_call' && params.length > 2
}

/** Returns the feature that a call needs and a node may lack: its method, or state overrides. */
export function featureOf(request: RpcRequest): string {
  return hasOverrides(request) ? OVERRIDES : request.method
}

/** True for a method or feature that a healthy node may lack. */
export function isOptional(feature: string): boolean {
  return !feature.startsWith('eth_') || OPTIONAL.includes(feature)
}

/**
 * Returns the first and last block number of a request for events. Returns undefined for other requests, and for block
 * tags such as `latest`.
 */
export function rangeOf({ method, params: [filter] }: RpcRequest): readonly [first: number, last: number] | undefined {
  const range = method === 'eth_getLogs' ? Range.safeParse(filter).data : undefined
  return range && [Number(range.fromBlock), Number(range.toBlock)]
}

/**
 * Returns the number of blocks that a request for events covers. Returns undefined for other requests, and for block
 * tags such as `latest`.
 */
export function countBlocks(request: RpcRequest): number | undefined {
  const range = rangeOf(request)
  return range && range[1] - range[0] + 1
}

/** Index of the block among an RPC method's parameters; 1 for methods not listed. */
const PLACES: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getStorageAt: 2,
}

/** Returns the number of the oldest block that a call reads; undefined if it contains no block number. */
export function blockOf(request: RpcRequest): number | undefined {
  const block = request.params[PLACES[request.method] ?? 1]
  return rangeOf(request)?.[0] ?? (typeof block === 'string' ? toNumber(block) : undefined)
}

function toNumber(text: string): number | undefined {
  return /^0x[0-9a-f]{1,12}$/i.test(text) ? Number(text) : undefined
}
