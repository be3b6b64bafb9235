import { type Hash, type Hex, numberToHex } from 'viem'
import type { Finality } from '../chain/finality.ts'
import { type BlockHeader, rangesOf, receiptRequest } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome } from '../chain/rpc.ts'
import { type BridgeDeposit, type Fill, type FillOutcome, findFill, POOL_TOPICS, parseFillOutcome } from './events.ts'
import { bridgeOf, type Look, parseReceipt, readTime, secondsOf } from './look.ts'
import { findFirstBlock, readRanges, refused, startLogSearch } from './search.ts'
import type { FillSearch, Transfer } from './transfer.ts'

/** A fill is searched for from this long before its deposit, for the clocks of two chains differ; then from earlier. */
const CLOCK_SECONDS = 60n
const EARLY_SECONDS = 3_600n
/** Fills come before the deadline by the destination's own clock; so much longer their blocks are searched. */
const LATE_SECONDS = 60n
/** The newest blocks that are searched first: the most that any node gives in one call. */
const NEWEST_BLOCKS = 10_000n

/** A fill, what it led to, and the time of its block; with the finality of its chain where that was asked for. */
export type Filled = {
  readonly fill: Fill
  readonly outcome: FillOutcome
  readonly at: Date
  readonly finality?: Finality | undefined
}

/** The fill in the receipt of this transaction and what it led to; undefined where it has none, or no such fill. */
export function parseFilled(reader: ChainReader, deposit: BridgeDeposit, outcome: RpcOutcome | undefined, hash: Hash) {
  const { pool, multicallHandler: handler } = bridgeOf(reader)
  const receipt = parseReceipt(outcome, hash)
  const fill = receipt && findFill(receipt.logs, pool, deposit)
  if (!fill) return undefined
  return { fill, logs: receipt.logs, outcome: parseFillOutcome(receipt.logs, { pool, handler, fill, deposit }) }
}

type SearchedFill = {
  readonly found?: Filled
  /** How far the search has come, where it goes on. */
  readonly search?: FillSearch
}

/**
 * The fill of a deposit that the pool calls filled. First among the newest blocks, for most questions come soon after
 * it; else forward from the deposit's time, in parts that are remembered, to the deadline.
 */
export async function searchFill(
  look: Look,
  reader: ChainReader,
  { deposit, initiated }: NonNullable<Transfer['source']>,
  head: BlockHeader,
): Promise<SearchedFill> {
  const { recorded, allowance } = look
  const { pool } = bridgeOf(reader)
  const { originChainId, depositId, fillDeadline } = deposit.relayData
  const topics = [POOL_TOPICS.filled, word(originChainId), word(depositId)]
  // The receipt of what is found, and the time of its block.
  const options = { filters: [{ address: pool, topics }], end: head, reserved: { trips: 2, calls: 2 } }
  let search = recorded.fillSearch
  if (!search) {
    const newest = (span: bigint) => rangesOf(larger(0n, head.number - span + 1n), head.number, span, 1)
    const read = await readRanges(reader, allowance, { ...options, span: undefined, rangesFor: newest })
    const isRead = 'logs' in read
    const fill = isRead ? findFill(read.logs.flat(), pool, deposit) : undefined
    if (fill) return readFound(look, reader, deposit, fill)
    if (isRead && head.number < NEWEST_BLOCKS && read.span === NEWEST_BLOCKS) return {}
    search = { ...startLogSearch(reader, head), ...(read.span && { span: read.span }), early: false }
    if (!isRead) {
      if (read.isRefused) throw refused()
      return read.span ? { search } : {}
    }
  }
  const since = secondsOf(initiated) - (search.early ? EARLY_SECONDS : CLOCK_SECONDS)
  search = await findFirstBlock(reader, allowance, search, since < head.timestamp ? since : head.timestamp)
  for (let hasRead = false; search.next !== undefined; hasRead = true) {
    const { next, span } = search
    const rangesFor = (blocks: bigint, most: number) => rangesOf(next, head.number, blocks, most)
    const read = await readRanges(reader, allowance, { ...options, span, rangesFor })
    if (!('logs' in read)) {
      if (read.isRefused && !hasRead) throw refused()
      return { search: { ...search, ...(read.span && { span: read.span }) } }
    }
    const fill = findFill(read.logs.flat(), pool, deposit)
    if (fill) {
      const { found } = await readFound(look, reader, deposit, fill)
      return found ? { found } : { search }
    }
    search = { ...search, next: read.last.number + 1n, span: read.span }
    const isOver = read.last.number >= head.number || read.last.timestamp > BigInt(fillDeadline) + LATE_SECONDS
    // The pool says that there is a fill. It is looked for again, from earlier, and then anew.
    if (isOver) return search.early ? {} : { search: { ...startLogSearch(reader, head), span: read.span, early: true } }
  }
  return { search }
}

/** The fill that a search came upon, by its receipt; none where that says otherwise: the chain is being reorganised. */
async function readFound(look: Look, reader: ChainReader, deposit: BridgeDeposit, fill: Fill): Promise<SearchedFill> {
  const [outcome] = await look.allowance.ask(reader, [receiptRequest(fill.transactionHash)])
  const filled = parseFilled(reader, deposit, outcome, fill.transactionHash)
  if (filled?.fill.blockNumber !== fill.blockNumber) return {}
  return { found: { ...filled, at: await readTime(look, reader, filled.logs, fill.blockNumber) } }
}

function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 })
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
