import {
  type Address,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  type Hex,
  numberToHex,
  padHex,
  toFunctionSelector,
} from 'viem'
import { createRpc } from '../../lib/chain/nodes.ts'
import { type ChainReader, createChainReader } from '../../lib/chain/reader.ts'
import { evmChain } from '../../lib/chain/registry.ts'
import { BLOCK_NUMBER_SELECTOR, BLOCK_TIME_SELECTOR } from './chain-answers.ts'
import { memoryDynamo } from './memory-dynamo.ts'
import { MULTICALL_ABI } from './oracles.ts'
import { openTables, TEST_TABLES } from './tables.ts'

/** Creates a virtual clock. The clock stands still until all work waits for it, then jumps to the earliest awaited time. */
export function createVirtualClock(start = Date.UTC(2026, 10, 21)) {
  let time = start
  let waiting: { readonly at: number; readonly wake: () => void }[] = []
  let isRunning = false

  async function run() {
    isRunning = true
    while (waiting.length > 0) {
      // Resumed work may wait for the clock again. So it gets some turns of the event loop before the clock jumps.
      for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      const next = Math.min(...waiting.map(({ at }) => at))
      time = Math.max(time, next)
      const due = waiting.filter(({ at }) => at <= time)
      waiting = waiting.filter(({ at }) => at > time)
      for (const { wake } of due) wake()
      for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    isRunning = false
  }

  return {
    now: () => time,
    wait(milliseconds: number): Promise<void> {
      return new Promise((wake) => {
        waiting.push({ at: time + milliseconds, wake })
        if (!isRunning) void run()
      })
    },
    set: (to: number) => {
      time = Math.max(time, to)
    },
  }
}
type VirtualClock = ReturnType<typeof createVirtualClock>

type CountedEvent = {
  readonly address: Address
  readonly block: number
  readonly topics: readonly Hex[]
  readonly data: Hex
}

type NodeLimits = {
  /** Maximum number of calls in one JSON-RPC batch. */
  readonly mostCalls: number
  /** Maximum number of blocks in one event query. */
  readonly mostBlocks: number
  readonly delayMs: number
}

const TOTAL_ASSETS = toFunctionSelector('totalAssets()')

const PIECE = 65_536

/** Events are stored in groups of this many blocks, so that a query reads only the groups in its block range. */
const BLOCKS_PER_GROUP = 10_000

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
type Filter = { readonly address: string[]; readonly fromBlock: Hex; readonly toBlock: Hex }

/**
 * Simulates Base with synchronous vaults and blocks of 200 ms, at a node with these limits. `counts` has the node's requests,
 * calls and sent bytes.
 */
export function createCountingChain(clock: VirtualClock, { mostCalls, mostBlocks, delayMs }: NodeLimits) {
  const chain = evmChain(8453)
  if (!chain) throw new Error('Base is not in the registry')
  const counts = { requests: 0, calls: 0, bytes: 0 }
  const groups = new Map<number, (CountedEvent & { readonly logIndex: number })[]>()
  let logIndex = 0
  const state = { head: 0, totalAssets: 1n }
  const timeOf = (block: number) => 1_700_000_000 + Math.floor(block / 5)
  const header = (block: number) => ({
    number: numberToHex(block),
    timestamp: numberToHex(timeOf(block)),
    hash: numberToHex(block, { size: 32 }),
    parentHash: numberToHex(block - 1, { size: 32 }),
  })

  function logs({ address, fromBlock, toBlock }: Filter) {
    const wanted = new Set(address.map((one) => one.toLowerCase()))
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    const read = Array.from(
      { length: Math.floor(to / BLOCKS_PER_GROUP) - Math.floor(from / BLOCKS_PER_GROUP) + 1 },
      (_, index) => groups.get(Math.floor(from / BLOCKS_PER_GROUP) + index) ?? [],
    )
    return read
      .flat()
      .filter(({ block, address: of }) => block >= from && block <= to && wanted.has(of.toLowerCase()))
      .toSorted((left, right) => left.block - right.block || left.logIndex - right.logIndex)
      .map(({ block, logIndex, ...event }) => ({
        ...event,
        logIndex: numberToHex(logIndex),
        blockNumber: numberToHex(block),
        transactionHash: numberToHex(block * 100_000 + logIndex, { size: 32 }),
        blockTimestamp: numberToHex(timeOf(block)),
      }))
  }

  function viewOf(selector: string): Hex {
    if (selector === BLOCK_NUMBER_SELECTOR) return numberToHex(state.head, { size: 32 })
    if (selector === BLOCK_TIME_SELECTOR) return numberToHex(timeOf(state.head), { size: 32 })
    return numberToHex(selector === TOTAL_ASSETS ? state.totalAssets : 1_000_000n, { size: 32 })
  }

  function answer({ method, params }: Call): unknown {
    const [first] = params
    if (method === 'eth_chainId') return '0x2105'
    if (method === 'eth_getBlockByNumber') {
      return header(first === 'latest' ? state.head : first === 'safe' ? state.head - 1_000 : Number(first))
    }
    if (method === 'eth_getLogs') return logs(first as Filter)
    const { data } = first as { data: Hex }
    if (!data.startsWith(toFunctionSelector(MULTICALL_ABI[0]))) return viewOf(data.slice(0, 10))
    const [calls = []] = decodeFunctionData({ abi: MULTICALL_ABI, data }).args ?? []
    return encodeFunctionResult({
      abi: MULTICALL_ABI,
      functionName: 'aggregate3',
      result: calls.map(({ callData }) => ({
        success: true,
        returnData: viewOf(callData.slice(0, 10)),
      })),
    })
  }

  /** Creates a response that sends its body in chunks. `counts.bytes` includes only chunks that the client reads. */
  const streamed = (body: unknown): Response => {
    const bytes = Buffer.from(JSON.stringify(body))
    let sent = 0
    return new Response(
      new ReadableStream({
        pull(controller) {
          const piece = bytes.subarray(sent, sent + PIECE)
          if (piece.length === 0) return controller.close()
          sent += piece.length
          counts.bytes += piece.length
          controller.enqueue(piece)
        },
      }),
      { headers: { 'content-type': 'application/json' } },
    )
  }

  const fetch = async (_url: unknown, { body }: RequestInit = {}): Promise<Response> => {
    const calls: Call[] = JSON.parse(String(body))
    counts.requests += 1
    await clock.wait(delayMs)
    if (calls.length > mostCalls) {
      return Response.json({ error: { code: -32_014, message: `maximum ${mostCalls} calls in 1 batch` }, id: null })
    }
    counts.calls += calls.length
    return streamed(
      calls.map((call) => {
        const filter = call.method === 'eth_getLogs' ? (call.params[0] as Filter) : undefined
        const isTooWide = filter && Number(filter.toBlock) - Number(filter.fromBlock) >= mostBlocks
        const error = { code: -32_614, message: `eth_getLogs is limited to a ${mostBlocks} range` }
        return { id: call.id, ...(isTooWide ? { error } : { result: answer(call) }) }
      }),
    )
  }

  const rpc = createRpc(['https://node.example/'], { fetch, random: () => 0, now: clock.now }, { chainId: 8453 })
  return {
    reader: createChainReader(chain, rpc) satisfies ChainReader,
    counts,
    state,
    logsOf: (address: Address) => logs({ address: [address], fromBlock: '0x0', toBlock: numberToHex(state.head) }),
    timeOf: (block: number) => BigInt(timeOf(block)),
    emit(emitted: readonly CountedEvent[]) {
      for (const event of emitted) {
        const group = Math.floor(event.block / BLOCKS_PER_GROUP)
        const events = groups.get(group) ?? []
        groups.set(group, events)
        events.push({ ...event, logIndex: logIndex++ })
      }
    },
  }
}

/**
 * Builds the event of a share transfer between two accounts. It leads to a ledger entry of each account and no share
 * price.
 */
export function buildTransferEvent(address: Address, block: number, shares: bigint): CountedEvent {
  const topic = (of: Hex) => padHex(of, { size: 32 })
  return {
    address,
    block,
    topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', topic('0xa1'), topic('0xa2')],
    data: encodeAbiParameters([{ type: 'uint256' }], [shares]),
  }
}

/**
 * Builds the event of a vault deposit. It leads to one ledger entry and a share price of one asset unit per share unit.
 */
export function buildDepositEvent(address: Address, block: number, shares: bigint): CountedEvent {
  const topic = (of: Hex) => padHex(of, { size: 32 })
  return {
    address,
    block,
    topics: ['0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7', topic('0xa1'), topic('0xa1')],
    data: encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [shares, shares]),
  }
}

/** Creates tables in memory that respond after a delay on the virtual clock. `requests` returns the number of requests. */
export function createCountingTables(clock: VirtualClock, delayMs: number) {
  const memory = memoryDynamo({ now: clock.now })
  memory.hold = () => clock.wait(delayMs)
  return { tables: openTables(memory.dynamo, TEST_TABLES), requests: () => memory.tries.length }
}
