import { type Hash, type Hex, numberToHex } from 'viem'
import { max, min } from '../bigint.ts'
import { type BlockHeader, rangesOf, receiptRequest } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome } from '../chain/rpc.ts'
import { HOUR_SECONDS, toSeconds } from '../time.ts'
import { type Fill, type FillOutcome, findFill, POOL_TOPICS, parseFillOutcome } from './events.ts'
import { getBridge, type Poll, parseReceipt, readTime } from './poll.ts'
import { findFirstBlock, readRanges, startLogSearch } from './search.ts'
import type { BridgeDeposit, FillSearch, Source } from './transfer.ts'

/** A fill is searched for from this long before its deposit, for the clocks of two chains differ; then from earlier. */
const CLOCK_SECONDS = 60n
const EARLY_SECONDS = HOUR_SECONDS
/** Fills come before the deadline by the destination's own clock; so much longer their blocks are searched. */
const LATE_SECONDS = 60n
/** The newest blocks that are searched first: the most that any node gives in one call. */
const NEWEST_BLOCKS = 10_000n

/** A fill, what it led to, and its block's hash and time. */
export type Filled = {
  readonly fill: Fill
  readonly outcome: FillOutcome
  readonly blockHash: Hash
  readonly at: Date
}

/** The deposit's fill in the receipt of this transaction, with all its logs; undefined where it holds none. */
export function parseFilled(reader: ChainReader, deposit: BridgeDeposit, outcome: RpcOutcome | undefined, hash: Hash) {
  const { pool, multicallHandler: handler } = getBridge(reader)
  const receipt = parseReceipt(outcome, hash)
  if (!receipt) return undefined
  const { logs, blockHash } = receipt
  const fill = findFill(logs, pool, deposit)
  return fill && { fill, logs, blockHash, outcome: parseFillOutcome(logs, { pool, handler, fill, deposit }) }
}

type SearchedFill = {
  readonly found?: Filled
  /** How far the search has come, where it goes on. */
  readonly search?: FillSearch
}

/**
 * The fill of a deposit that the pool calls filled. First among the newest blocks, for most polls come soon after it;
 * else forward from the deposit's time to its deadline, in parts of which each is recorded. Throws `upstream_*`.
 */
export async function searchFill(
  poll: Poll,
  reader: ChainReader,
  { deposit, initiated }: Source,
  head: BlockHeader,
): Promise<SearchedFill> {
  const { recorded, budget } = poll
  const { pool } = getBridge(reader)
  const { originChainId, depositId, fillDeadline } = deposit.relayData
  const topics = [POOL_TOPICS.filled, toWord(originChainId), toWord(depositId)]
  // After the events come the receipt of what is found, and the time of its block.
  const options = { filters: [{ address: pool, topics }], end: head, reserved: 2 }
  let search = recorded.fillSearch
  if (!search) {
    const rangesFor = (span: bigint) => rangesOf(max(0n, head.number - span + 1n), head.number, span, 1)
    const read = await readRanges(reader, budget, { ...options, span: undefined, rangesFor, hasRead: false })
    search = { ...startLogSearch(reader, head), ...(read.span && { span: read.span }), early: false }
    if (!('logs' in read)) return read.span ? { search } : {}
    const fill = findFill(read.logs.flat(), pool, deposit)
    if (fill) return readFound(poll, reader, deposit, fill)
    if (head.number < NEWEST_BLOCKS && read.span === NEWEST_BLOCKS) return {}
  }
  const since = toSeconds(initiated) - (search.early ? EARLY_SECONDS : CLOCK_SECONDS)
  search = await findFirstBlock(reader, budget, search, min(since, head.timestamp))
  for (let hasRead = false; search.next !== undefined; hasRead = true) {
    const { next, span } = search
    const rangesFor = (blocks: bigint, most: number) => rangesOf(next, head.number, blocks, most)
    const read = await readRanges(reader, budget, { ...options, span, rangesFor, hasRead })
    if (!('logs' in read)) return { search: { ...search, ...(read.span && { span: read.span }) } }
    const fill = findFill(read.logs.flat(), pool, deposit)
    if (fill) {
      const { found } = await readFound(poll, reader, deposit, fill)
      return found ? { found } : { search }
    }
    search = { ...search, next: read.last.number + 1n, span: read.span }
    const isOver = read.last.number >= head.number || read.last.timestamp > BigInt(fillDeadline) + LATE_SECONDS
    // The pool says that there is a fill: it is searched for again, from earlier, and then anew.
    if (isOver) return search.early ? {} : { search: { ...startLogSearch(reader, head), span: read.span, early: true } }
  }
  return { search }
}

/** The fill that a search found, by its receipt; none where that says otherwise: the chain is being reorganised. */
async function readFound(poll: Poll, reader: ChainReader, deposit: BridgeDeposit, fill: Fill): Promise<SearchedFill> {
  const [outcome] = await poll.budget.ask(reader, [receiptRequest(fill.transactionHash)])
  const filled = parseFilled(reader, deposit, outcome, fill.transactionHash)
  if (filled?.fill.blockNumber !== fill.blockNumber) return {}
  return { found: { ...filled, at: await readTime(poll, reader, filled.logs, fill.blockNumber) } }
}

function toWord(value: bigint): Hex {
  return numberToHex(value, { size: 32 })
}
