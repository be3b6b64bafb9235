import type { Hash } from 'viem'
import { min } from '../bigint.ts'
import { required } from '../chain/call.ts'
import { type Finality, finalityRequests, parseFinality } from '../chain/finality.ts'
import {
  BlockHeader,
  blockRequest,
  type Log,
  type LogFilter,
  parseResult,
  rangesOf,
  receiptRequest,
} from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import { DAY_SECONDS, toSeconds } from '../time.ts'
import { deferringTransactions, findRepayment, POOL_TOPICS, parseDeposits, parsePayments, relayHash } from './events.ts'
import type { OUTCOMES, TransferFacts } from './outcomes.ts'
import {
  conclude,
  FILLED,
  getBridge,
  MOST_CALLS,
  noteHead,
  type Poll,
  parseReceipt,
  readFillStatuses,
  type Seen,
} from './poll.ts'
import { findFirstBlock, readRanges, startLogSearch } from './search.ts'
import type { BridgeDeposit, RefundSearch, Source } from './transfer.ts'

type TimedPayment = RefundSearch['payments'][number]

/**
 * How long before this deposit another one of the depositor's counts that may still be owed back; refunds take hours.
 * What expired earlier is taken as paid.
 */
const RIVAL_SECONDS = DAY_SECONDS
/** How long after its deadline a deposit's refund is searched for. */
const SEARCH_SECONDS = 14n * DAY_SECONDS
/** With more deposits or payments than this in that time, it is not told which payment is for which. */
const MOST_RIVALS = 20
const MOST_PAYMENTS = 50

/**
 * The status of a transfer that nobody filled and nobody can fill any more. The pool's payments are searched forward from
 * a day before the deposit, over final blocks only, so that nothing that is found goes away again; and with them the
 * other deposits of the same depositor and token that it may owe, for nothing on the chain says which deposit a payment
 * is for. Throws `upstream_*`.
 */
export async function readRefund(poll: Poll, source: Source, facts: TransferFacts): Promise<Seen> {
  const { getReader, key, recorded, budget } = poll
  // A search that ends without a refund is final: it starts only where the budget lasts to its end.
  if (!budget.reaches(MOST_CALLS)) return conclude(facts, 'expired_searching', recorded)
  const reader = getReader(key.sourceChainId)
  const { deposit, initiated } = source
  const outcomes = await budget.ask(reader, finalityRequests(reader.chain))
  noteHead(poll, reader, outcomes[1])
  const finality = parseFinality(reader.chain, outcomes)
  const { head, tagged: last = head } = finality
  const since = toSeconds(initiated) - RIVAL_SECONDS
  const begun = recorded.refundSearch ?? { ...startLogSearch(reader, head), rivals: [], payments: [], isCrowded: false }
  const found = await findFirstBlock(reader, budget, begun, min(since, head.timestamp))

  const deadline = BigInt(deposit.relayData.fillDeadline)
  const search = await withDebts(poll, found, deposit, 'as owed')
  // Reading the debts may have taken most of the budget: the search goes on at the next poll.
  let part: Part = { search, live: [], progress: search === found ? 'more' : 'paused' }
  const repayment = () => part.search.debts && findRepayment(part.search.debts, [...part.search.payments, ...part.live])
  for (let hasRead = false; part.progress === 'more' && !part.search.isCrowded && !repayment(); hasRead = true) {
    const { next } = part.search
    if (next === undefined || next > last.number) break
    part = await readPart(poll, reader, part.search, { source, next, finality, hasRead })
  }
  const tell = (outcome: keyof typeof OUTCOMES, isFinal = false) =>
    conclude(facts, outcome, { ...recorded, refundSearch: part.search }, isFinal)
  const tellEnd = (outcome: 'expired_undecided' | 'refund_not_found') =>
    poll.isRecorded ? tell(outcome, true) : tell('expired_searching')
  const { isCrowded, isPastDeadline, debts, next, payments } = part.search
  const isOver = finality.isPast(deadline + SEARCH_SECONDS)
  if (isCrowded) return isOver ? tellEnd('expired_undecided') : tell('expired_crowded')
  if (repayment()) return tell('refunded', true)
  const isComplete = part.progress === 'complete' || (next !== undefined && next > last.number)
  if (!isComplete || (isPastDeadline && !debts)) return tell('expired_searching')
  if (!isOver) return tell('expired')
  // Anybody may deposit in the depositor's name, and so make debts that what was paid does not cover.
  const isPaid = [...payments, ...part.live].some(({ timestamp }) => timestamp > deadline)
  return tellEnd(isPaid ? 'expired_undecided' : 'refund_not_found')
}

type Part = {
  readonly search: RefundSearch
  /** Final payments in blocks that the next poll reads again. */
  readonly live: readonly TimedPayment[]
  /** Whether more can be read in this poll, only in the next one, or all is read that there is. */
  readonly progress: 'more' | 'paused' | 'complete'
}

/** The search after one more request from the block `next` on. Throws `upstream_*`. */
async function readPart(
  poll: Poll,
  reader: ChainReader,
  search: RefundSearch,
  { source, next, finality, hasRead }: { source: Source; next: bigint; finality: Finality; hasRead: boolean },
): Promise<Part> {
  const { deposit } = source
  const { depositor, fillDeadline } = deposit.relayData
  const { pool } = getBridge(reader)
  const { head, tagged: last = head } = finality
  const filters: LogFilter[] = [{ address: pool, topics: [POOL_TOPICS.refunded] }]
  if (!search.isPastDeadline) filters.push({ address: pool, topics: [POOL_TOPICS.deposited, null, null, depositor] })
  const rangesFor = (blocks: bigint, most: number) => rangesOf(next, search.until ?? last.number, blocks, most)
  const read = await readRanges(reader, poll.budget, { filters, span: search.span, rangesFor, end: last, hasRead })
  if (!('logs' in read))
    return { search: { ...search, ...(read.span && { span: read.span }) }, live: [], progress: 'paused' }
  const [refundLogs = [], depositLogs = []] = read.logs
  const isAllFinal = finality.isFinal(read.last)
  const { payments, unread } = await readPayments(poll, reader, refundLogs, { deposit, last: read.last })
  // The search goes on at the first block of which not all is known, that one alone, so that the budget reaches.
  const stop = isAllFinal ? unread : undefined
  const rivals = [...search.rivals, ...findRivals(depositLogs, reader, source, stop)]
  const all = [...search.payments, ...payments]
  const isStuck = stop !== undefined && stop === search.until
  const isCrowded = rivals.length > MOST_RIVALS || all.length > MOST_PAYMENTS || isStuck
  const reached = stop === undefined ? read.last.timestamp : 0n
  if (isCrowded) return { search: { ...search, isCrowded }, live: [], progress: 'paused' }

  // Which of the others are owed is known once all blocks up to the deadline are read.
  const deadline = BigInt(fillDeadline)
  const isPastDeadline = search.isPastDeadline || (reached > deadline && finality.isPast(deadline))
  const found = await withDebts(poll, { ...search, span: read.span, rivals, isPastDeadline }, deposit, 'later')
  if (!isAllFinal) {
    const live = payments.filter(({ blockNumber, timestamp }) => finality.isFinal({ number: blockNumber, timestamp }))
    // What is not final is read again by the next poll, with the deposits in it, until which are owed is known.
    const kept = isPastDeadline ? found : { ...found, rivals: search.rivals }
    return { search: kept, live, progress: search.until === undefined ? 'complete' : 'paused' }
  }
  const { until: _, ...rest } = found
  const moved = { ...rest, payments: all, next: stop ?? read.last.number + 1n }
  if (stop !== undefined) return { search: { ...moved, until: stop }, live: [], progress: 'paused' }
  const isComplete = reached > deadline + SEARCH_SECONDS && moved.debts !== undefined
  return { search: moved, live: [], progress: isComplete ? 'complete' : 'more' }
}

/**
 * The search with what the pool owes the depositor, once all blocks up to the deadline are read: those of the rivals that
 * are not filled, and this deposit, last of its deadline. On a chain that is not followed a rival counts as owed. Rivals
 * that are beyond the budget count as owed too, or all is left for the next poll.
 */
async function withDebts(
  { getReader, budget }: Poll,
  search: RefundSearch,
  deposit: BridgeDeposit,
  beyond: 'as owed' | 'later',
): Promise<RefundSearch> {
  if (!search.isPastDeadline || search.debts) return search
  const filled = new Set<string>()
  for (const [chainId, group] of Map.groupBy(search.rivals, ({ destinationChainId }) => destinationChainId)) {
    if (!evmChain(chainId)?.bridge) continue
    if (!budget.reaches(1)) {
      if (beyond === 'later') return search
      continue
    }
    budget.spend(1)
    const hashes = group.map((rival) => rival.relayHash)
    const { values } = await readFillStatuses(getReader(chainId), hashes)
    for (const [index, hash] of hashes.entries()) {
      if (values[index] === FILLED) filled.add(hash)
    }
  }
  const owed = search.rivals
    .filter((rival) => !filled.has(rival.relayHash))
    .map(({ deadline, amount }) => ({ deadline, amount }))
    .toSorted((left, right) => Number(left.deadline - right.deadline))
  const { fillDeadline, inputAmount: amount } = deposit.relayData
  return { ...search, debts: [...owed, { deadline: BigInt(fillDeadline), amount }], rivals: [] }
}

/**
 * Other deposits of the same depositor and token that come before this one by deadline, then by order, among these logs
 * below the block `stop`.
 */
function findRivals(logs: readonly Log[], reader: ChainReader, { deposit, blockNumber }: Source, stop?: bigint) {
  const { depositor, inputToken, fillDeadline } = deposit.relayData
  const own = relayHash(deposit)
  let isLater = false
  return logs.flatMap((log) => {
    const [other] = parseDeposits([log], getBridge(reader).pool, reader.chain.id)
    if (!other) return []
    const { relayData, destinationChainId } = other
    const hash = relayHash(other)
    isLater ||= hash === own || (blockNumber !== undefined && log.blockNumber > blockNumber)
    const isRival =
      (stop === undefined || log.blockNumber < stop) &&
      hash !== own &&
      relayData.depositor === depositor &&
      relayData.inputToken === inputToken &&
      relayData.inputAmount > 0n &&
      (isLater ? relayData.fillDeadline < fillDeadline : relayData.fillDeadline <= fillDeadline)
    const { inputAmount: amount } = relayData
    return isRival ? [{ relayHash: hash, destinationChainId, deadline: BigInt(relayData.fillDeadline), amount }] : []
  })
}

/**
 * The payments that these events tell of, with the times of their blocks, and the first block that needs more calls than
 * the budget has left: for its time, where the events do not tell it, and for what was paid in a transaction of it that
 * deferred payments.
 */
async function readPayments(
  { budget }: Poll,
  reader: ChainReader,
  events: readonly Log[],
  { deposit, last }: { deposit: BridgeDeposit; last: BlockHeader },
): Promise<{ payments: TimedPayment[]; unread: bigint | undefined }> {
  const { pool } = getBridge(reader)
  const blocks: bigint[] = []
  const hashes: Hash[] = []
  const times = new Map([[last.number, last.timestamp]])
  let unread: bigint | undefined
  for (const [block, ofBlock] of Map.groupBy(events, ({ blockNumber }) => blockNumber)) {
    const deferring = deferringTransactions(ofBlock, pool, deposit)
    const told = ofBlock.every(({ blockTimestamp }) => blockTimestamp !== undefined) && ofBlock[0]?.blockTimestamp
    // A receipt need not tell the time of its events.
    if (told) times.set(block, told)
    const isTimeNeeded = !times.has(block) && (deferring.length > 0 || parsePayments(ofBlock, pool, deposit).length > 0)
    const more = deferring.length + (isTimeNeeded ? 1 : 0)
    if (more > 0 && !budget.reaches(blocks.length + hashes.length + more)) {
      unread = block
      break
    }
    if (isTimeNeeded) blocks.push(block)
    hashes.push(...deferring)
  }
  const requests = [...blocks.map(blockRequest), ...hashes.map(receiptRequest)]
  const outcomes = requests.length > 0 ? await budget.ask(reader, requests) : []
  for (const [index, block] of blocks.entries()) times.set(block, parseResult(BlockHeader, outcomes[index]).timestamp)
  const receipts = hashes.map((hash, index) => required(parseReceipt(outcomes[blocks.length + index], hash)))
  const receiptLogs = new Map(receipts.map(({ transactionHash, logs }) => [transactionHash, logs]))
  const read = events.filter(({ blockNumber }) => unread === undefined || blockNumber < unread)
  const whole = [...Map.groupBy(read, ({ transactionHash }) => transactionHash)].flatMap(
    ([hash, logs]) => receiptLogs.get(hash) ?? logs,
  )
  const payments = parsePayments(whole, pool, deposit).map(({ amount, blockNumber, blockTimestamp }) => ({
    amount,
    blockNumber,
    timestamp: required(blockTimestamp ?? times.get(blockNumber)),
  }))
  return { payments, unread }
}
