import { type Hex, numberToHex, toFunctionSelector } from 'viem'
import { BLOCK_NUMBER_SELECTOR, createReturnDataChange, type RpcCall, rewriteResults } from './chain-answers.ts'
import type { RecordingProxy } from './wire.ts'

/** Filter of an event query (`eth_getLogs`) by block range. */
export type EventFilter = {
  readonly address: string | readonly string[]
  readonly topics: readonly (string | readonly string[] | null)[]
  readonly fromBlock: Hex
  readonly toBlock: Hex | 'latest'
}

const ARB_BLOCK_NUMBER = toFunctionSelector('arbBlockNumber()')

/**
 * Simulates empty blocks at no cost: a proxy in front of a node reports blocks that the node does not have. Later events have
 * higher block numbers at the proxy. The empty blocks have the time of the block after them.
 */
export function createEmptyBlocks() {
  const gaps: { after: number; by: number }[] = []

  const toReportedBlock = (block: number) =>
    block + gaps.reduce((sum, { after, by }) => (after < block ? sum + by : sum), 0)
  const toReportedHead = (head: number) =>
    head + gaps.reduce((sum, { after, by }) => (after <= head ? sum + by : sum), 0)
  /** Converts a reported block number, which begins or ends a range, to the node's block number. */
  const real = (block: number, end: 'from' | 'to') => {
    let shift = 0
    for (const { after, by } of gaps) {
      if (block <= after + shift) return block - shift
      if (block <= after + shift + by) return end === 'from' ? after + 1 : after
      shift += by
    }
    return block - shift
  }

  function moveRange(filter: EventFilter): EventFilter {
    const from = real(Number(filter.fromBlock), 'from')
    if (filter.toBlock === 'latest') return { ...filter, fromBlock: numberToHex(from) }
    const to = real(Number(filter.toBlock), 'to')
    // A range of only simulated blocks yields `from` above `to`. The query then reads block 0 instead, which has no
    // events.
    const [fromBlock, toBlock] = from > to ? [0, 0] : [from, to]
    return { ...filter, fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) }
  }

  return {
    /** Adds `by` empty blocks after the node's block `after`. `undo` removes them. */
    add(after: number, by: number): { undo(): void } {
      const gap = { after, by }
      gaps.push(gap)
      return { undo: () => gaps.splice(gaps.indexOf(gap), 1) }
    },
    toReportedHead,
    /** Returns the block number that the proxy reports for a block of the node. */
    toReportedBlock,
    applyTo(wire: RecordingProxy): void {
      wire.rewriteRequest = (request) => {
        const move = (call: RpcCall): RpcCall => {
          const [first, tag, ...rest] = call.params
          if (call.method === 'eth_getLogs') return { ...call, params: [moveRange(first as EventFilter)] }
          if (call.method === 'eth_getBlockByNumber' && String(first).startsWith('0x')) {
            return { ...call, params: [numberToHex(real(Number(first), 'to')), tag] }
          }
          if (call.method !== 'eth_call' || typeof tag !== 'string' || !tag.startsWith('0x')) return call
          return { ...call, params: [first, numberToHex(real(Number(tag), 'to')), ...rest] }
        }
        return JSON.stringify((JSON.parse(request) as RpcCall[]).map(move))
      }
      const moveHead = createReturnDataChange((data, selector) =>
        (selector === BLOCK_NUMBER_SELECTOR || selector === ARB_BLOCK_NUMBER) && data.length === 66
          ? numberToHex(toReportedHead(Number(data)), { size: 32 })
          : data,
      )
      rewriteResults(wire, (result, call) => {
        if (call.method === 'eth_getBlockByNumber' && result) {
          const header = result as { number: Hex }
          const [block] = call.params as [string]
          const number = Number(header.number)
          if (block.startsWith('0x')) return { ...header, number: block }
          return {
            ...header,
            number: numberToHex(block === 'latest' ? toReportedHead(number) : toReportedBlock(number)),
          }
        }
        if (call.method !== 'eth_getLogs') return moveHead(result, call)
        if (!Array.isArray(result)) return result
        const logs: { blockNumber: Hex }[] = result
        return logs.map((log) => ({ ...log, blockNumber: numberToHex(toReportedBlock(Number(log.blockNumber))) }))
      })
      const { rewrite } = wire
      wire.rewrite = (answer, request) => {
        // The node rejects an event query that begins after its last block. The proxy turns that error into an empty result.
        const calls: RpcCall[] = JSON.parse(request)
        const isOpen = ({ id, error }: { id: number; error?: unknown }) =>
          error !== undefined && (calls.find((call) => call.id === id)?.params[0] as EventFilter)?.toBlock === 'latest'
        const items: { id: number; error?: unknown }[] = JSON.parse(answer)
        const changedItems = items.map((item) => (isOpen(item) ? { jsonrpc: '2.0', id: item.id, result: [] } : item))
        return rewrite?.(JSON.stringify(changedItems), request) ?? answer
      }
    },
  }
}
/** Empty blocks that a proxy simulates for a test. */
export type EmptyBlocks = ReturnType<typeof createEmptyBlocks>
