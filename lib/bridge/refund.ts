import type { Hash } from 'viem'
import * as z from 'zod'
import { call } from '../chain/call.ts'
import { type Finality, finalityRequests, parseFinality } from '../chain/finality.ts'
import {
  BlockHeader,
  blockRequest,
  Log,
  type LogFilter,
  logsRequest,
  parseResult,
  rangesOf,
  receiptRequest,
} from '../chain/logs.ts'
import { type ChainReader, readPlan } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import type { RpcRequest } from '../chain/rpc.ts'
import { AppError } from '../errors.ts'
import { poolAbi } from './abi.ts'
import { OUTCOMES, type RecordedTransfer } from './answers.ts'
import {
  type BridgeDeposit,
  type Debt,
  deferringTransactions,
  POOL_TOPICS,
  parseDeposits,
  parsePayments,
  refundTransfers,
  relayHash,
  settlingPayment,
} from './events.ts'
import {
  badAnswer,
  bridgeOf,
  conclude,
  FILLED,
  isConfirmed,
  type Look,
  MOST_CALLS,
  parseReceipt,
  type Seen,
  secondsOf,
} from './look.ts'
import { findFirstBlock, readRanges, refused, startLogSearch } from './search.ts'
import type { RefundSearch, Transfer } from './transfer.ts'

type Source = NonNullable<Transfer['source']>
type Rival = RefundSearch['rivals'][number]
type TimedPayment = RefundSearch['payments'][number]

/**
 * How long before this deposit another one of the depositor's counts that may still be owed back; refunds take hours.
 * What expired earlier is taken as paid.
 */
const RIVAL_SECONDS = 86_400n
/** How long after its deadline a deposit's refund is searched for. */
const SEARCH_SECONDS = 1_209_600n
/** With more deposits or payments than this in that time, it is not told which payment is for which. */
const MOST_RIVALS = 20
const MOST_PAYMENTS = 50

/**
 * Where the refund of a deposit stands that nobody filled for ever. That a search came to its end without one is final
 * when another search at another host, where one is configured, has come to the same end.
 */
export async function readRefund(look: Look, source: Source, known: RecordedTransfer): Promise<Seen> {
  const { readerOf, key, recorded, allowance } = look
  const searching = conclude({ ...known, ...OUTCOMES.expired_searching }, recorded, false)
  // What it cannot reach counts for ever, so it needs a whole allowance.
  if (!allowance.reaches(MOST_CALLS)) return searching
  const reader = readerOf(key.sourceChainId)
  const { witness } = reader
  if (!recorded.refundEnd || !witness) return searchRefund(look, reader, source, known)
  try {
    return await searchRefund(look, { ...witness, witness: reader }, source, known)
  } catch (error) {
    if (error instanceof AppError) return searching
    throw error
  }
}

/**
 * The same as one host tells it. The pool's payments are searched forward from a day before the deposit, over final
 * blocks only, so that nothing that is found goes away again; and with them the other deposits of the same depositor and
 * token that it may owe, for nothing on the chain says which deposit a payment is for.
 */
async function searchRefund(look: Look, reader: ChainReader, source: Source, known: RecordedTransfer): Promise<Seen> {
  const { recorded, allowance } = look
  const { deposit, initiated } = source
  const finality = parseFinality(reader.chain, await allowance.ask(reader, finalityRequests(reader.chain)))
  const { head } = finality
  const since = secondsOf(initiated) - RIVAL_SECONDS
  const begun: RefundSearch = recorded.refundSearch ?? {
    ...startLogSearch(reader, head),
    rivals: [],
    payments: [],
    isCrowded: false,
  }
  let search = await findFirstBlock(reader, allowance, begun, since < head.timestamp ? since : head.timestamp)

  const deadline = BigInt(deposit.relayData.fillDeadline)
  const end = deadline + SEARCH_SECONDS
  const last = finality.tagged ?? head
  let live: readonly TimedPayment[] = []
  let isThrough = false
  const owing = await withDebts(look, search, deposit, 'as owed')
  // What is owed may have taken most of the allowance: the search goes on at the next question.
  const isFresh = owing === search
  search = owing
  const settled = () => search.debts && settlingPayment(search.debts, [...search.payments, ...live])
  let hasRead = false
  while (isFresh && search.next !== undefined && search.next <= last.number && !isThrough && !settled()) {
    if (search.isCrowded) break
    const part = await readPart(look, reader, search, { source, next: search.next, last, finality })
    search = part.search
    if ('isRefused' in part) {
      if (part.isRefused && !hasRead) throw refused()
      break
    }
    hasRead = true
    live = part.live
    if (search.until !== undefined) break
    isThrough = !part.isAllFinal || (part.reached > end && search.debts !== undefined)
  }
  isThrough ||= search.next !== undefined && search.next > last.number

  const keep: Transfer = { ...recorded, refundSearch: search }
  const told = (outcome: keyof typeof OUTCOMES, isFinal = false) =>
    conclude({ ...known, ...OUTCOMES[outcome] }, keep, isFinal)
  /** At its end the search is over, or begins anew at another host; where two came to different ends, at the first one. */
  const ended = (refundEnd: NonNullable<Transfer['refundEnd']>): Seen => {
    if (!reader.witness || recorded.refundEnd === refundEnd) return told(refundEnd, true)
    const anew = { ...recorded, refundSearch: undefined, refundEnd: recorded.refundEnd ? undefined : refundEnd }
    return conclude({ ...known, ...OUTCOMES.expired_searching }, anew, false)
  }
  const isOver = finality.isPast(end)
  if (search.isCrowded) return isOver ? ended('expired_undecided') : told('expired_crowded')
  const payment = settled()
  if (payment) return told('refunded', await isPaymentConfirmed(look, reader, deposit, payment))
  if (!isThrough || (search.isPastDeadline && !search.debts)) return told('expired_searching')
  if (!isOver) return told('expired')
  // Anybody may deposit in the depositor's name, and so make debts that what was paid does not cover.
  const isPaid = [...search.payments, ...live].some(({ timestamp }) => timestamp > deadline)
  return ended(isPaid ? 'expired_undecided' : 'refund_not_found')
}

/**
 * The search after one request more from the block `next` on, or why nothing was read; `live` are final payments in
 * blocks that are read again the next time.
 */
async function readPart(
  look: Look,
  reader: ChainReader,
  search: RefundSearch,
  { source, next, last, finality }: { source: Source; next: bigint; last: BlockHeader; finality: Finality },
) {
  const { allowance } = look
  const { deposit } = source
  const { pool } = bridgeOf(reader)
  const to = search.until ?? last.number
  const filters: LogFilter[] = [
    { address: pool, topics: [POOL_TOPICS.refunded] },
    ...(search.isPastDeadline
      ? []
      : [{ address: pool, topics: [POOL_TOPICS.deposited, null, null, deposit.relayData.depositor] }]),
  ]
  const rangesFor = (blocks: bigint, most: number) => rangesOf(next, to, blocks, most)
  const read = await readRanges(reader, allowance, { filters, span: search.span, rangesFor, end: last })
  if (!('logs' in read)) {
    const { isRefused, span } = read
    return { search: { ...search, ...(span && { span }) }, isRefused }
  }
  const [refundLogs = [], depositLogs = []] = read.logs
  const isAllFinal = finality.isFinal(read.last)
  const { payments, unread } = await readPayments(look, reader, refundLogs, { deposit, last: read.last })
  // The search goes on at the first block of which not all is known, that one alone, so that the allowance reaches.
  const stop = isAllFinal ? unread : undefined
  const rivals = search.isPastDeadline
    ? search.rivals
    : [...search.rivals, ...rivalsAmong(depositLogs, reader, source, stop)]
  const all = [...search.payments, ...payments]
  const isStuck = stop !== undefined && stop === search.until
  const isCrowded = rivals.length > MOST_RIVALS || all.length > MOST_PAYMENTS || isStuck
  const reached = stop === undefined ? read.last.timestamp : 0n
  if (isCrowded) return { search: { ...search, isCrowded }, live: [], isAllFinal, reached }

  // Which of the others are owed is known once all blocks up to the deadline are read.
  const deadline = BigInt(deposit.relayData.fillDeadline)
  const isPastDeadline = search.isPastDeadline || (reached > deadline && finality.isPast(deadline))
  const found = await withDebts(look, { ...search, span: read.span, rivals, isPastDeadline }, deposit, 'later')
  if (isAllFinal) {
    const { until: _, ...rest } = found
    const moved = {
      ...rest,
      payments: all,
      next: stop ?? read.last.number + 1n,
      ...(stop !== undefined && { until: stop }),
    }
    return { search: moved, live: [], isAllFinal, reached }
  }
  const isFinalPayment = ({ blockNumber, timestamp }: TimedPayment) =>
    finality.isFinal({ number: blockNumber, timestamp })
  // What is not final is read again the next time, with the deposits in it, until which are owed is known.
  const kept = isPastDeadline ? found : { ...found, rivals: search.rivals }
  return { search: kept, live: payments.filter(isFinalPayment), isAllFinal, reached }
}

/**
 * The search with what the pool owes, once all blocks up to the deadline are read. Rivals that the allowance does not
 * reach count as owed, or all is left for the next question, which begins with this.
 */
async function withDebts(
  look: Look,
  search: RefundSearch,
  deposit: BridgeDeposit,
  beyond: 'as owed' | 'later',
): Promise<RefundSearch> {
  if (!search.isPastDeadline || search.debts) return search
  const debts = await readDebts(look, search.rivals, deposit, beyond)
  return debts ? { ...search, debts, rivals: [] } : search
}

/**
 * Other deposits of the same depositor and token that come before this one by deadline, then by order, among these logs
 * below the block `stop`.
 */
function rivalsAmong(
  logs: readonly Log[],
  reader: ChainReader,
  { deposit, blockNumber }: Source,
  stop: bigint | undefined,
): Rival[] {
  const { depositor, inputToken, fillDeadline } = deposit.relayData
  const own = relayHash(deposit)
  let isLater = false
  return logs.flatMap((log) => {
    const [other] = parseDeposits([log], bridgeOf(reader).pool, reader.chain.id)
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
 * What the pool owes the depositor: those of the rivals that are not filled, and this deposit, last of its deadline. Of a
 * chain that is not followed, or of which two nodes differ, a rival counts as owed. Undefined where the allowance does
 * not reach and the next question's may.
 */
async function readDebts(
  { readerOf, allowance }: Look,
  rivals: readonly Rival[],
  deposit: BridgeDeposit,
  beyond: 'as owed' | 'later',
): Promise<Debt[] | undefined> {
  const filled = new Set<string>()
  for (const [chainId, group] of Map.groupBy(rivals, ({ destinationChainId }) => destinationChainId)) {
    if (!evmChain(chainId)?.bridge) continue
    const destination = readerOf(chainId)
    const { pool: address } = bridgeOf(destination)
    const queries = group.map((rival) =>
      readPlan(
        { address, slots: {}, calls: { status: call(address, poolAbi, 'fillStatuses', [rival.relayHash]) } },
        ({ answers }) => answers.status === FILLED,
      ),
    )
    const nodes = destination.witness ? [destination, destination.witness] : [destination]
    if (!allowance.reaches(1, { trips: nodes.length - 1, calls: nodes.length - 1 })) {
      if (beyond === 'later') return undefined
      continue
    }
    const told = await Promise.all(nodes.map((node) => allowance.read(() => node.read(queries))))
    for (const [index, { relayHash }] of group.entries()) {
      if (told.every(({ values }) => values[index] === true)) filled.add(relayHash)
    }
  }
  const { fillDeadline, inputAmount } = deposit.relayData
  const owed = rivals
    .filter(({ relayHash }) => !filled.has(relayHash))
    .map(({ deadline, amount }) => ({ deadline, amount }))
  const sorted = owed.toSorted((left, right) => Number(left.deadline - right.deadline))
  return [...sorted, { deadline: BigInt(fillDeadline), amount: inputAmount }]
}

/**
 * The payments that these events tell of, with the times of their blocks, and the first block of which the allowance
 * does not reach to know all: its time, where the events do not tell it, and what was paid in a transaction of it that
 * deferred payments.
 */
async function readPayments(
  { allowance }: Look,
  reader: ChainReader,
  events: readonly Log[],
  { deposit, last }: { deposit: BridgeDeposit; last: BlockHeader },
): Promise<{ payments: TimedPayment[]; unread: bigint | undefined }> {
  const { pool } = bridgeOf(reader)
  const needed: { readonly block: bigint; readonly request: RpcRequest; readonly hash?: Hash }[] = []
  let unread: bigint | undefined
  for (const [block, ofBlock] of Map.groupBy(events, ({ blockNumber }) => blockNumber)) {
    const hashes = deferringTransactions(ofBlock, pool, deposit)
    const isTold = block === last.number || ofBlock.every(({ blockTimestamp }) => blockTimestamp !== undefined)
    const isTimeNeeded = !isTold && (hashes.length > 0 || parsePayments(ofBlock, pool, deposit).length > 0)
    const more = [
      ...(isTimeNeeded ? [{ block, request: blockRequest(block) }] : []),
      ...hashes.map((hash) => ({ block, request: receiptRequest(hash), hash })),
    ]
    if (more.length > 0 && !allowance.reaches(needed.length + more.length)) {
      unread = block
      break
    }
    needed.push(...more)
  }
  const outcomes =
    needed.length > 0
      ? await allowance.ask(
          reader,
          needed.map(({ request }) => request),
        )
      : []
  const times = new Map([[last.number, last.timestamp]])
  const receipts = new Map<Hash, readonly Log[]>()
  for (const [index, { block, hash }] of needed.entries()) {
    if (!hash) times.set(block, parseResult(BlockHeader, outcomes[index]).timestamp)
    else {
      const receipt = parseReceipt(outcomes[index], hash)
      if (!receipt) throw badAnswer('no receipt of a transaction that has events')
      receipts.set(hash, receipt.logs)
    }
  }
  const known = events.filter(({ blockNumber }) => unread === undefined || blockNumber < unread)
  const whole = [...Map.groupBy(known, ({ transactionHash }) => transactionHash)].flatMap(
    ([hash, logs]) => receipts.get(hash) ?? logs,
  )
  const payments = parsePayments(whole, pool, deposit).map(({ amount, blockNumber, blockTimestamp }) => {
    const timestamp = blockTimestamp ?? times.get(blockNumber)
    if (timestamp === undefined) throw badAnswer('a payment in another block than was asked for')
    return { amount, blockNumber, timestamp }
  })
  return { payments, unread }
}

function isPaymentConfirmed(
  look: Look,
  reader: ChainReader,
  deposit: BridgeDeposit,
  payment: TimedPayment,
): Promise<boolean> {
  const { pool } = bridgeOf(reader)
  const { blockNumber } = payment
  const filters = [{ address: pool, topics: [POOL_TOPICS.refunded] }, refundTransfers(pool, deposit)]
  const requests = filters.map((filter) => logsRequest(filter, [blockNumber, blockNumber]))
  return isConfirmed(look, reader, requests, (outcomes, theirs) => {
    const logs = outcomes.flatMap((outcome) => parseResult(z.array(Log), outcome))
    const told = parsePayments(logs, pool, deposit)
    const isSame = told.some(({ amount }) => amount === payment.amount)
    return isSame && theirs.isFinal({ number: blockNumber, timestamp: payment.timestamp })
  })
}
