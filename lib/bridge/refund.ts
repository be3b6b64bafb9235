import * as z from 'zod'
import { type Finality, finalityRequests, parseFinality } from '../chain/finality.ts'
import { BlockHeader, blockRequest, Log, type LogFilter, logsRequest, parseResult } from '../chain/logs.ts'
import { type ChainReader, query } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import { view } from '../chain/view.ts'
import { poolAbi } from './abi.ts'
import { type Known, OUTCOMES } from './answers.ts'
import {
  type BridgeDeposit,
  type Debt,
  type Payment,
  POOL_TOPICS,
  parseDeposits,
  parsePayments,
  relayHash,
  settlingPayment,
} from './events.ts'
import { bridgeOf, conclude, FILLED, isConfirmed, type Look, type Seen, secondsOf } from './look.ts'
import { findFirstBlock, rangesAfter, readRanges, refused, startLogSearch } from './search.ts'
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
 * Where the refund of a deposit stands that nobody filled for ever. The pool's payments are searched forward from a day
 * before the deposit, over final blocks only, so that nothing that is found goes away again; and with them the other
 * deposits of the same depositor and token that it may owe, for nothing on the chain says which deposit a payment is for.
 */
export async function readRefund(look: Look, source: Source, known: Known): Promise<Seen> {
  const { readerOf, key, recorded, allowance } = look
  const { deposit, initiated } = source
  const reader = readerOf(key.sourceChainId)
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
  const keeping = (kept: RefundSearch): Transfer => ({ ...recorded, refundSearch: kept })

  const deadline = BigInt(deposit.relayData.fillDeadline)
  const end = deadline + SEARCH_SECONDS
  const last = finality.tagged ?? head
  let live: readonly TimedPayment[] = []
  let isThrough = false
  while (search.next !== undefined && search.next <= last.number && !search.isCrowded && !isThrough) {
    const read = await readPart(look, reader, search, { source, last, finality })
    if (!read) break
    if ('failure' in read)
      return {
        ...conclude({ ...known, ...OUTCOMES.expired_searching }, keeping(read.search), false),
        failure: read.failure,
      }
    search = read.search
    live = read.live
    isThrough = !read.isAllFinal || (read.reached > end && search.debts !== undefined)
  }
  isThrough ||= search.next !== undefined && search.next > last.number
  if (search.isCrowded) {
    const isOver = head.timestamp > end
    const outcome = isOver ? OUTCOMES.refund_not_found : OUTCOMES.expired_crowded
    return conclude({ ...known, ...outcome }, keeping(search), isOver)
  }

  const payment = search.debts && settlingPayment(search.debts, [...search.payments, ...live])
  if (payment) {
    const isFinal = await isPaymentConfirmed(look, reader, deposit, payment)
    return conclude({ ...known, ...OUTCOMES.refunded }, keeping(search), isFinal)
  }
  if (!isThrough) return conclude({ ...known, ...OUTCOMES.expired_searching }, keeping(search), false)
  const isOver = finality.isFinal({ number: last.number, timestamp: end })
  return conclude({ ...known, ...(isOver ? OUTCOMES.refund_not_found : OUTCOMES.expired) }, keeping(search), isOver)
}

/** The search after one request more; `live` are final payments in blocks that are read again the next time. */
async function readPart(
  look: Look,
  reader: ChainReader,
  search: RefundSearch,
  { source, last, finality }: { source: Source; last: BlockHeader; finality: Finality },
) {
  const { allowance } = look
  const { deposit } = source
  const { pool } = bridgeOf(reader)
  const next = search.next ?? 0n
  const filters: LogFilter[] = [
    { address: pool, topics: [POOL_TOPICS.refunded] },
    ...(search.debts
      ? []
      : [{ address: pool, topics: [POOL_TOPICS.deposited, null, null, deposit.relayData.depositor] }]),
  ]
  const rangesFor = (blocks: bigint, most: number) => rangesAfter(next, last.number, blocks, most)
  const read = await readRanges(reader, allowance, {
    filters,
    span: search.span,
    rangesFor,
    end: last,
  })
  if (!('logs' in read)) {
    if (!read.isRefused) return undefined
    return { search: { ...search, ...(read.span && { span: read.span }) }, failure: refused() }
  }
  const [refundLogs = [], depositLogs = []] = read.logs
  const payments = await withTimes(look, reader, parsePayments(refundLogs, pool, deposit))
  if (!payments) return undefined
  const deadline = BigInt(deposit.relayData.fillDeadline)
  const rivals = [...search.rivals, ...rivalsAmong(depositLogs, reader, source)]
  const isAllFinal = finality.isFinal(read.last)
  const all = [...search.payments, ...payments]
  const isCrowded = rivals.length > MOST_RIVALS || all.length > MOST_PAYMENTS
  if (isCrowded) return { search: { ...search, isCrowded }, live: [], isAllFinal, reached: read.last.timestamp }

  // Which of the others are owed is known once all blocks up to the deadline are read.
  const isPastDeadline =
    read.last.timestamp > deadline && finality.isFinal({ number: read.last.number, timestamp: deadline })
  const debts = search.debts ?? (isPastDeadline ? await readDebts(look, rivals, deposit) : undefined)
  if (isPastDeadline && !debts) return undefined
  const found = { span: read.span, ...(debts && { debts }) }
  const isFinalPayment = ({ blockNumber, timestamp }: TimedPayment) =>
    finality.isFinal({ number: blockNumber, timestamp })
  if (!isAllFinal) {
    const live = payments.filter(isFinalPayment)
    return {
      search: { ...search, ...found, ...(debts && { rivals: [] }) },
      live,
      isAllFinal,
      reached: read.last.timestamp,
    }
  }
  const moved = { ...search, ...found, rivals: debts ? [] : rivals, payments: all, next: read.last.number + 1n }
  return { search: moved, live: [], isAllFinal, reached: read.last.timestamp }
}

/** Other deposits of the same depositor and token that come before this one by deadline, then by order, among these logs. */
function rivalsAmong(logs: readonly Log[], reader: ChainReader, { deposit, blockNumber }: Source): Rival[] {
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
 * not reach.
 */
async function readDebts(
  { readerOf, allowance }: Look,
  rivals: readonly Rival[],
  deposit: BridgeDeposit,
): Promise<Debt[] | undefined> {
  const filled = new Set<string>()
  for (const [chainId, group] of Map.groupBy(rivals, ({ destinationChainId }) => destinationChainId)) {
    if (!evmChain(chainId)?.bridge) continue
    const destination = readerOf(chainId)
    const { pool: address } = bridgeOf(destination)
    const queries = group.map((rival) =>
      query(
        { address, slots: {}, views: { status: view(address, poolAbi, 'fillStatuses', [rival.relayHash]) } },
        ({ answers }) => answers.status === FILLED,
      ),
    )
    const nodes = destination.witness ? [destination, destination.witness] : [destination]
    if (allowance.left({ trips: nodes.length - 1, calls: nodes.length - 1 }) < 1) return undefined
    const told = await Promise.all(
      nodes.map((node) => {
        allowance.spend()
        return node.read(queries)
      }),
    )
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

/** Payments with the times of their blocks; undefined where the allowance does not reach. */
async function withTimes(
  { allowance }: Look,
  reader: ChainReader,
  payments: readonly Payment[],
): Promise<TimedPayment[] | undefined> {
  const untold = [
    ...new Set(
      payments.filter(({ blockTimestamp }) => blockTimestamp === undefined).map(({ blockNumber }) => blockNumber),
    ),
  ]
  if (untold.length > 0 && allowance.left() < untold.length) return undefined
  const outcomes = untold.length > 0 ? await allowance.ask(reader, untold.map(blockRequest)) : []
  const times = outcomes.map((outcome) => parseResult(BlockHeader, outcome).timestamp)
  return payments.map(({ amount, blockNumber, blockTimestamp }) => ({
    amount,
    blockNumber,
    timestamp: blockTimestamp ?? times[untold.indexOf(blockNumber)] ?? 0n,
  }))
}

function isPaymentConfirmed(
  look: Look,
  reader: ChainReader,
  deposit: BridgeDeposit,
  payment: TimedPayment,
): Promise<boolean> {
  const { pool } = bridgeOf(reader)
  const { blockNumber } = payment
  const request = logsRequest({ address: pool, topics: [POOL_TOPICS.refunded] }, [blockNumber, blockNumber])
  return isConfirmed(look, reader, [request], ([outcome], theirs) => {
    const told = parsePayments(parseResult(z.array(Log), outcome), pool, deposit)
    const isSame = told.some(({ amount }) => amount === payment.amount)
    return isSame && theirs.isFinal({ number: blockNumber, timestamp: payment.timestamp })
  })
}
