import fc from 'fast-check'
import { type Address, type Hex, numberToHex, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  BlockHeader,
  blockRequest,
  Log,
  type LogFilter,
  parseResult,
  Receipt,
  readLogsUntil,
  receiptRequest,
} from '../../../lib/chain/logs.ts'
import type { Rpc, RpcError, RpcOutcome, RpcRequest } from '../../../lib/chain/rpc.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { catchFailure } from '../../support/errors.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const CONTRACT: Address = '0x00000000000000000000000000000000000000A1'
const TOPIC = pad('0x01')
const FILTER = { address: CONTRACT, topics: [TOPIC, null, pad('0x02')] }
const TOO_LARGE = { error: { code: -32602 } }
const BLOCKS = (from: bigint, to: bigint) => to - from + 1n

const readLogs = async (rpc: Rpc, filter: LogFilter, from: bigint, to: bigint) =>
  (await readLogsUntil(rpc, filter, from, to, () => false)).logs

type Range = { readonly from: bigint; readonly to: bigint }
type Refuses = (range: Range) => boolean

function someLog(blockNumber: bigint, logIndex = 0): Record<string, unknown> {
  return {
    address: CONTRACT.toLowerCase(),
    topics: [TOPIC],
    data: '0x',
    logIndex: numberToHex(logIndex),
    blockNumber: numberToHex(blockNumber),
    transactionHash: pad(numberToHex(blockNumber + 1n)),
    removed: false,
  }
}

function startNode({
  blocks = [],
  refuses = () => false,
  refusal = TOO_LARGE.error,
}: {
  blocks?: readonly bigint[]
  refuses?: Refuses
  refusal?: RpcError
} = {}) {
  const sentRequests: { method: string; params: unknown[] }[] = []
  const answered: Range[] = []
  let answeredTurns = 0
  let turns = 0
  const rpc: Rpc = async (requests) => {
    // Requests that are sent before earlier requests get a response belong to the same round trip.
    turns = answeredTurns + 1
    const turn = turns
    const outcomes = requests.map(({ method, params }) => {
      sentRequests.push({ method, params: [...params] })
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: Hex; toBlock: Hex }]
      const range = { from: BigInt(fromBlock), to: BigInt(toBlock) }
      if (refuses(range)) return { error: refusal }
      answered.push(range)
      return {
        result: blocks.filter((block) => block >= range.from && block <= range.to).map((block) => someLog(block)),
      }
    })
    await Promise.resolve()
    answeredTurns = Math.max(answeredTurns, turn)
    return outcomes
  }
  return { rpc, sentRequests, answered, turns: () => turns }
}

function covers(ranges: readonly Range[], { from, to }: Range): boolean {
  let next = from
  for (const range of [...ranges].sort((a, b) => (a.from < b.from ? -1 : 1))) {
    if (range.from > next || range.from < from || range.to > to) return false
    if (range.to >= next) next = range.to + 1n
  }
  return next === to + 1n
}

const anyRange = fc
  .tuple(
    fc.oneof(fc.constantFrom(0n, 1n, 999n, 1_000n, 2n ** 40n), fc.bigInt({ min: 0n, max: 2n ** 50n })),
    fc.oneof(
      fc.constantFrom(0n, 1n, 998n, 999n, 1_000n, 9_998n, 9_999n, 10_000n),
      fc.bigInt({ min: 0n, max: 60_000n }),
    ),
  )
  .map(([from, length]): Range => ({ from, to: from + length }))
/**
 * Block ranges, each with blocks that have events. Many of these blocks are at an end of the range, or at an end of a
 * part of 1,000 blocks.
 */
const anySetting = anyRange.chain((range) =>
  fc
    .uniqueArray(
      fc.oneof(
        fc.constantFrom(range.from, range.to),
        fc.bigInt({ min: range.from, max: range.to }),
        fc.bigInt({ min: 0n, max: 60n }).map((seam) => clamp(range.from + seam * 1_000n, range)),
        fc.bigInt({ min: 1n, max: 60n }).map((seam) => clamp(range.from + seam * 1_000n - 1n, range)),
      ),
      { maxLength: 12 },
    )
    .map((blocks) => ({ range, blocks: blocks.sort((a, b) => (a < b ? -1 : 1)) })),
)

function clamp(block: bigint, { from, to }: Range): bigint {
  return block < from ? from : block > to ? to : block
}

describe('A read of events in a range of blocks', () => {
  test('returns each event once and in order, whatever range limit the node has', async () => {
    const limits = fc.oneof(
      fc.constantFrom(1_000n, 1_001n, 2_000n, 9_999n, 10_000n, 10_001n),
      fc.bigInt({ min: 1_000n, max: 100_000n }),
    )
    await fc.assert(
      fc.asyncProperty(anySetting, limits, async ({ range, blocks }, limit) => {
        const { rpc, answered } = startNode({ blocks, refuses: ({ from, to }) => BLOCKS(from, to) > limit })
        const logs = await readLogs(rpc, FILTER, range.from, range.to)
        expect(logs.map(({ blockNumber }) => blockNumber)).toEqual(blocks)
        expect(covers(answered, range)).toBe(true)
      }),
    )
  })

  test('returns all blocks or throws, whichever ranges the node refuses', async () => {
    const anyRefusal = fc.record({
      salt: fc.bigInt({ min: 1n, max: 2n ** 32n }),
      share: fc.integer({ min: 0, max: 60 }),
    })
    let whole = 0
    let failed = 0
    await fc.assert(
      fc.asyncProperty(anySetting, anyRefusal, async ({ range, blocks }, { salt, share }) => {
        const refuses: Refuses = ({ from, to }) => ((from * 31n + to * 17n) * salt) % 101n < BigInt(share)
        const { rpc, answered } = startNode({ blocks, refuses })
        const logs = await readLogs(rpc, FILTER, range.from, range.to).catch(({ code }: AppError) => code)
        if (logs === 'upstream_bad_answer') {
          failed += 1
          return
        }
        whole += 1
        expect(logs).toHaveLength(blocks.length)
        expect(covers(answered, range)).toBe(true)
      }),
      { numRuns: scaleSampleCount(200) },
    )
    expect(Math.min(whole, failed)).toBeGreaterThan(0)
  })

  test.for([0n, 1n, 999n, 9_999n, 10_000n, 54_321n])(
    'is one round trip if no range is refused, for %d more blocks than one',
    async (length) => {
      const { rpc, sentRequests, turns } = startNode()
      expect(await readLogs(rpc, FILTER, 7n, 7n + length)).toEqual([])
      expect(turns()).toBe(1)
      expect(sentRequests).toHaveLength(Number(length / 10_000n) + 1)
      for (const { method, params } of sentRequests) {
        expect(method).toBe('eth_getLogs')
        expect(params).toEqual([expect.objectContaining(FILTER)])
      }
    },
  )

  test('continues from the first refused range with shorter ones, then tries longer ones again', async () => {
    const { rpc, sentRequests, turns } = startNode({
      blocks: [5n, 15_000n, 29_999n],
      refuses: ({ from, to }) => BLOCKS(from, to) > 1_000n && from < 20_000n && from >= 10_000n,
    })
    const logs = await readLogs(rpc, FILTER, 0n, 29_999n)
    expect(logs.map(({ blockNumber }) => blockNumber)).toEqual([5n, 15_000n, 29_999n])
    expect(turns()).toBeLessThan(8)
    expect(sentRequests.length).toBeLessThan(60)
  })

  test('uses the range limit that the refusal names', async () => {
    const { rpc, turns } = startNode({
      refuses: ({ from, to }) => BLOCKS(from, to) > 500n,
      refusal: { code: -32_614, refusal: 'range', blocks: 500 },
    })
    expect(await readLogs(rpc, FILTER, 0n, 3_999n)).toEqual([])
    expect(turns()).toBe(2)
  })

  test('stops at the end of a block once it has enough events, and reports the last block', async () => {
    const blocks = Array.from({ length: 30 }, (_, block) => BigInt(block * 10_000))
    const { rpc } = startNode({ blocks })
    const { logs, through } = await readLogsUntil(rpc, FILTER, 0n, 299_999n, (events) => events >= 3)
    expect(logs.map(({ blockNumber }) => blockNumber)).toEqual(blocks.filter((block) => block <= through))
    expect(logs.length).toBeGreaterThanOrEqual(3)
    expect(logs.length).toBeLessThan(30)
    const rest = await readLogsUntil(rpc, FILTER, through + 1n, 299_999n, () => false)
    expect([...logs, ...rest.logs].map(({ blockNumber }) => blockNumber)).toEqual(blocks)
    expect(rest.through).toBe(299_999n)
  })

  test('after too many events reads fewer blocks, then ranges by the density of events', async () => {
    const blocks = Array.from({ length: 20_000 }, (_, index) => BigInt(Math.floor(index / 50)))
    const isDense = ({ from, to }: Range) => from < 400n && BLOCKS(from, to) > 200n
    const refusal = { code: 413, refusal: 'results', blocks: 200 } as const
    const { rpc, answered } = startNode({ blocks, refuses: isDense, refusal })
    expect(await readLogs(rpc, FILTER, 0n, 9_999n)).toHaveLength(20_000)
    const widths = answered.filter(({ from }) => from < 400n).map(({ from, to }) => BLOCKS(from, to))
    expect(widths).toEqual([200n, 100n, 100n])
  })

  test('reads a block with too many events from its receipts, filtered alike', async () => {
    const other = '0x00000000000000000000000000000000000000b2'
    const own = [someLog(6n, 0), { ...someLog(6n, 3), topics: [pad('0x03'), TOPIC] }]
    const foreign = [
      { ...someLog(6n, 1), address: other },
      { ...someLog(6n, 2), topics: [pad('0x04'), TOPIC] },
      { ...someLog(6n, 4), topics: [TOPIC, pad('0x05')] },
      { ...someLog(6n, 5), topics: [pad('0x03')] },
    ]
    const node = startNode({
      blocks: [5n, 7n],
      refuses: ({ from, to }) => from <= 6n && to >= 6n,
      refusal: { code: -32_005, refusal: 'results' },
    })
    let receipts = 0
    const rpc: Rpc = async (requests) => {
      if (requests[0]?.method !== 'eth_getBlockReceipts') return node.rpc(requests)
      receipts += 1
      expect(requests).toEqual([{ method: 'eth_getBlockReceipts', params: ['0x6'] }])
      return [{ result: [{ logs: own }, { logs: [] }, { logs: foreign }] }]
    }
    const address: Address[] = ['0x00000000000000000000000000000000000000c3', CONTRACT]
    const logs = await readLogs(rpc, { address, topics: [[TOPIC, pad('0x03')]] }, 0n, 20n)
    expect(logs.map(({ blockNumber, logIndex }) => [blockNumber, logIndex])).toEqual([
      [5n, 0],
      [6n, 0],
      [6n, 3],
      [6n, 4],
      [6n, 5],
      [7n, 0],
    ])
    const narrow = await readLogs(rpc, { address: CONTRACT, topics: [null, TOPIC] }, 6n, 6n)
    expect(narrow.map(({ logIndex }) => logIndex)).toEqual([2, 3])
    expect(receipts).toBe(2)
  })

  test.for<[string, RpcOutcome]>([
    ['are refused', { error: { code: -32_601, refusal: 'unsupported' } }],
    ['are not known', { result: null }],
    ['are of another block', { result: [{ logs: [someLog(7n)] }] }],
  ])('fails with upstream_bad_answer if the receipts of such a block %s', async ([, outcome]) => {
    const refusal = { error: { code: -32_005, refusal: 'results' } } as const
    const rpc: Rpc = async (requests) =>
      requests.map(({ method }) => (method === 'eth_getBlockReceipts' ? outcome : refusal))
    expect(await catchFailure(readLogs(rpc, FILTER, 0n, 5n))).toMatchObject({ code: 'upstream_bad_answer' })
  })

  test('sends no request for a range without blocks', async () => {
    const { rpc, sentRequests } = startNode()
    expect(await readLogs(rpc, FILTER, 8n, 7n)).toEqual([])
    expect(sentRequests).toEqual([])
  })

  test.for(['upstream_unavailable', 'upstream_timeout', 'upstream_bad_answer'] as const)(
    'fails with %s when the node does',
    async (code) => {
      const rpc: Rpc = () => Promise.reject(new AppError(code))
      expect(await catchFailure(readLogs(rpc, FILTER, 0n, 5n))).toMatchObject({ code })
    },
  )

  test('fails with upstream_bad_answer if the node refuses every range', async () => {
    const { rpc } = startNode({ refuses: () => true })
    expect(await catchFailure(readLogs(rpc, FILTER, 0n, 50_000n))).toMatchObject({ code: 'upstream_bad_answer' })
  })

  test('fails with the node’s error after its first response', async () => {
    let requests = 0
    const rpc: Rpc = async (batch) => {
      requests += 1
      if (requests > 1) throw new AppError('upstream_timeout')
      return batch.map(() => TOO_LARGE)
    }
    expect(await catchFailure(readLogs(rpc, FILTER, 0n, 5n))).toMatchObject({ code: 'upstream_timeout' })
  })

  test.for<[string, unknown]>([
    ['null', null],
    ['nothing', undefined],
    ['a text', 'logs'],
    ['an object', {}],
    ['a log without its block', [{ ...someLog(1n), blockNumber: null }]],
    ['a log without its index', [{ ...someLog(1n), logIndex: undefined }]],
    ['a log without its transaction', [{ ...someLog(1n), transactionHash: null }]],
    ['a log with an invalid address', [{ ...someLog(1n), address: '0x12' }]],
    ['a log with invalid data', [{ ...someLog(1n), data: 'zz' }]],
    ['a log with half a topic', [{ ...someLog(1n), topics: ['0x1234'] }]],
    ['one invalid log among valid ones', [someLog(1n), null, someLog(2n)]],
  ])('fails with upstream_bad_answer if the node returns %s', async ([, result]) => {
    const rpc: Rpc = async (requests) => requests.map(() => ({ result }))
    expect(await catchFailure(readLogs(rpc, FILTER, 0n, 5n))).toMatchObject({ code: 'upstream_bad_answer' })
  })

  test('reads logs without topics', async () => {
    const rpc: Rpc = async (requests) => requests.map(() => ({ result: [{ ...someLog(3n, 2), topics: [] }] }))
    expect(await readLogs(rpc, FILTER, 0n, 5n)).toEqual([
      {
        address: CONTRACT.toLowerCase(),
        topics: [],
        data: '0x',
        logIndex: 2,
        blockNumber: 3n,
        transactionHash: pad('0x04'),
      },
    ])
  })
})

const HASH = pad('0xabcdef')
const RECEIPT = { status: '0x1', blockNumber: '0x10', blockHash: HASH, transactionHash: HASH, logs: [someLog(16n)] }

describe('A receipt or a block header', () => {
  test('is requested by hash or number', () => {
    const requests: RpcRequest[] = [receiptRequest(HASH), blockRequest(16n), blockRequest('latest')]
    expect(requests).toEqual([
      { method: 'eth_getTransactionReceipt', params: [HASH] },
      { method: 'eth_getBlockByNumber', params: ['0x10', false] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
    ])
  })

  test('reports success, a revert, or nothing yet', () => {
    const parse = (result: unknown) => parseResult(Receipt.nullable(), { result })
    expect(parse(RECEIPT)).toMatchObject({ status: 'success', blockNumber: 16n, logs: [{ blockNumber: 16n }] })
    expect(parse({ ...RECEIPT, status: '0x0', logs: [] })).toMatchObject({ status: 'reverted', logs: [] })
    expect(parse(null)).toBeNull()
  })

  test.for<[string, RpcOutcome | undefined]>([
    ['an error', { error: { code: -32000 } }],
    ['no outcome', undefined],
    ['no result', { result: undefined }],
    ['a receipt without a status', { result: { ...RECEIPT, status: undefined } }],
    ['a receipt of a transaction that waits', { result: { ...RECEIPT, blockNumber: null } }],
    ['a receipt with a broken log', { result: { ...RECEIPT, logs: [{ ...someLog(1n), data: 7 }] } }],
  ])('is a typed error for %s', ([, outcome]) => {
    expect(() => parseResult(Receipt.nullable(), outcome)).toThrow(
      expect.objectContaining({ code: 'upstream_bad_answer' }),
    )
  })

  test.for([
    null,
    { number: '0x1' },
    { number: '1', timestamp: '0x1' },
    { number: null, timestamp: '0x1' },
    { number: '0x', timestamp: '0x1' },
  ])('is a typed error for the block %j', (result) => {
    expect(() => parseResult(BlockHeader, { result })).toThrow(expect.objectContaining({ code: 'upstream_bad_answer' }))
  })

  const END_OF_9999 = BigInt(Date.UTC(10_000, 0, 1)) / 1000n
  test('is refused after the year 9999, the limit of timestamps', () => {
    const at = (timestamp: bigint) => ({ result: { number: '0x1', timestamp: numberToHex(timestamp) } })
    expect(parseResult(BlockHeader, at(END_OF_9999 - 1n)).timestamp).toBe(END_OF_9999 - 1n)
    for (const timestamp of [END_OF_9999, 2n ** 63n, 2n ** 256n - 1n]) {
      expect(() => parseResult(BlockHeader, at(timestamp))).toThrow(
        expect.objectContaining({ code: 'upstream_bad_answer' }),
      )
    }
  })

  test('has no time from a log after the year 9999', () => {
    const log = { address: '0x00000000000000000000000000000000000000A1', topics: [], data: '0x', logIndex: '0x0' }
    const rest = { blockNumber: '0x1', transactionHash: numberToHex(1, { size: 32 }) }
    expect(Log.parse({ ...log, ...rest, blockTimestamp: numberToHex(END_OF_9999) }).blockTimestamp).toBeUndefined()
  })
})
