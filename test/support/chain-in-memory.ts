import { type Address, type Hash, type Hex, numberToHex } from 'viem'
import type { LogFilter } from '../../lib/chain/logs.ts'
import type { ChainReader, ReadPlan } from '../../lib/chain/reader.ts'
import { evmChain } from '../../lib/chain/registry.ts'
import type { RpcOutcome, RpcRequest } from '../../lib/chain/rpc.ts'
import { toDate } from '../../lib/core/time.ts'
import type { UnindexedLog } from './bridge-events.ts'
import { runReadPlan, type SimulatedContracts } from './contracts-in-memory.ts'

/** Transaction of a simulated chain. A transaction without a block is pending. */
export type MemoryTransaction = {
  readonly hash: Hash
  readonly block?: number
  readonly status?: 'success' | 'reverted'
  readonly from?: Address
  readonly to?: Address
  readonly nonce?: number
  readonly input?: Hex
  readonly logs?: readonly UnindexedLog[]
}

/** Simulated blockchain in memory, for a chain in the service's registry. */
export type MemoryChain = {
  readonly id: number
  /** Unix time in seconds of each block, from block 0 to the newest block. */
  readonly times: readonly bigint[]
  readonly transactions?: readonly MemoryTransaction[]
  readonly contracts?: SimulatedContracts
  /** Number of blocks from the block tag `safe` or `finalized` to the newest block. Default: 0. */
  readonly tagLag?: number
  /** Bytecode that every account has. */
  readonly code?: Hex
  /** Returns the transaction count that every account has at a block. */
  readonly nonce?: (block: number) => number
}

/** Creates a ChainReader of a simulated chain, without a node. The reader cannot simulate transactions. */
export function createMemoryChainReader({
  id,
  times,
  transactions = [],
  contracts = { answers: {} },
  tagLag: tagBehind = 0,
  ...account
}: MemoryChain) {
  const chain = evmChain(id)
  const last = times.length - 1
  const timeOf = (block: number) => times[block] ?? 0n
  const blockOf = (tag: Hex | 'latest' | 'safe' | 'finalized') => {
    if (tag.startsWith('0x')) return Number(tag)
    return tag === 'latest' ? last : Math.max(0, last - tagBehind)
  }
  const hashOf = (block: number) => numberToHex(block + 1, { size: 32 })
  const mined = transactions.filter(({ block }) => block !== undefined && block <= last)
  const logsOf = ({ hash, block = 0, logs = [] }: MemoryTransaction, position: number) =>
    logs.map((log, index) => ({
      ...log,
      logIndex: numberToHex(position * 100 + index),
      blockNumber: numberToHex(block),
      blockTimestamp: numberToHex(timeOf(block)),
      transactionHash: hash,
    }))

  const answers: Readonly<Record<string, (...params: never[]) => unknown>> = {
    eth_getBlockByNumber(tag: Parameters<typeof blockOf>[0]) {
      const block = blockOf(tag)
      const [number, timestamp] = [numberToHex(block), numberToHex(timeOf(block))]
      return { number, timestamp, hash: hashOf(block), parentHash: hashOf(block - 1) }
    },
    eth_getTransactionByHash(wanted: Hash) {
      const transaction = transactions.find(({ hash }) => hash === wanted)
      if (!transaction) return null
      const { from, to, nonce = 0, input = '0x' } = transaction
      return { hash: wanted, from, to, nonce: numberToHex(nonce), input }
    },
    eth_getTransactionReceipt(wanted: Hash) {
      const position = mined.findIndex(({ hash }) => hash === wanted)
      const transaction = mined[position]
      if (!transaction) return null
      const { block = 0, status = 'success' } = transaction
      const place = { blockNumber: numberToHex(block), blockHash: hashOf(block), transactionHash: wanted }
      return { ...place, status: status === 'success' ? '0x1' : '0x0', logs: logsOf(transaction, position) }
    },
    eth_getTransactionCount: (_: Address, tag: Parameters<typeof blockOf>[0]) =>
      numberToHex(account.nonce?.(blockOf(tag)) ?? 0),
    eth_getCode: () => account.code ?? '0x',
    eth_getLogs({ address, topics, fromBlock, toBlock }: LogFilter & { fromBlock: Hex; toBlock: Hex }) {
      const isWanted = (topic: Hex | undefined, wanted: Hex | readonly Hex[] | null | undefined) =>
        wanted === null || (topic !== undefined && [wanted].flat().includes(topic))
      return mined.flatMap(logsOf).filter((log) => {
        const isInRange = BigInt(log.blockNumber) >= BigInt(fromBlock) && BigInt(log.blockNumber) <= BigInt(toBlock)
        const isOfContract = [address].flat().some((one) => one.toLowerCase() === log.address)
        return isInRange && isOfContract && topics.every((wanted, index) => isWanted(log.topics[index], wanted))
      })
    },
    eth_call: ({ to, data }: { to: Address; data: Hex }) =>
      runReadPlan(
        { address: to, slots: [], calls: [{ to, data, decode: (returned) => returned }], parse: (read) => read },
        contracts,
      ).answers[0],
  }
  const request = async (requests: readonly RpcRequest[]): Promise<RpcOutcome[]> =>
    requests.map(({ method, params }) => ({ result: answers[method]?.(...(params as never[])) }))
  const read = async (
    plans: readonly ReadPlan<unknown>[],
    { extraCalls = [] }: { readonly extraCalls?: readonly RpcRequest[] } = {},
  ) => ({
    block: { number: BigInt(last), timestamp: timeOf(last) },
    values: plans.map((plan) => runReadPlan(plan, contracts)),
    outcomes: await request(extraCalls),
    evidence: async () => {
      const block = { blockNumber: last, blockHash: hashOf(last), timestamp: toDate(timeOf(last)) }
      return { chainId: id, ...block, nodes: 1 }
    },
  })
  const reader: Partial<Record<keyof ChainReader, unknown>> = {
    ...{ chain, nodes: 1, request, read },
    readOne: async (plan: ReadPlan<unknown>, options?: Parameters<typeof read>[1]) => {
      const { values, ...others } = await read([plan], options)
      return { ...others, value: values[0] }
    },
  }
  return reader as ChainReader
}
