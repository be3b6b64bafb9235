import { buildCall } from '../chain/call.ts'
import { finalityRequests, parseFinality } from '../chain/finality.ts'
import { BlockHeader, blockRequest, type Log, parseResult, receiptRequest } from '../chain/logs.ts'
import { buildReadPlan, type ChainReader } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import { min } from '../core/bigint.ts'
import { badResponse } from '../core/errors.ts'
import { DAY_SECONDS, toDate, toSeconds } from '../core/time.ts'
import { poolAbi } from './abi.ts'
import { findRepayment, type OwedRefund } from './debts.ts'
import {
  findPossiblePayments,
  findRefundRecipient,
  hashRelay,
  POOL_TOPICS,
  parseDeposits,
  parsePayments,
} from './events.ts'
import {
  buildPollResult,
  FILLED_STATUS,
  findFinalBlock,
  getBridge,
  MAX_CALLS,
  type Poll,
  type PollResult,
  parseReceipt,
  readFillStatuses,
  recordHead,
  withEvents,
} from './poll.ts'
import { readNextEvents, type SearchStep } from './search.ts'
import type { Outcome, RefundSearch, Transfer, TransferEvent } from './transfer.ts'

/**
 * Maximum seconds by which another deposit's deadline may be before the transfer's deposit. Deposits with earlier
 * deadlines count as already refunded, because refunds take hours.
 */
const RIVAL_SECONDS = DAY_SECONDS
const SEARCH_SECONDS = 14n * DAY_SECONDS
const REFUND_KINDS = ['refund_owed', 'refunded'] as const
/** The transfer's amount divided by this number is the dust limit. The search stores only the total of smaller deposits and payments. */
const DUST_DIVISOR = 1000n
/**
 * Maximum number of deposits, payments and unread transactions that the search for a refund stores. Above it, the
 * search stops, and no payment counts as the transfer's refund.
 */
const MAX_KEPT = 100

/**
 * Reads the refund of a transfer that can no longer be filled. Reads the pool's payments to the depositor, and the
 * depositor's other deposits, from a day before the transfer's deposit on. Only final blocks are read, so no result can
 * be reverted. The search starts at the payment that the bridge's API reports, if any. Receipts prove every payment.
 * Throws `upstream_*`.
 */
export async function readRefund(poll: Poll, transfer: Transfer): Promise<PollResult> {
  const { getReader, budget } = poll
  // A search that finds no refund gives a final outcome, so a lack of calls must not shorten it. It therefore runs only
  // with the whole budget of calls.
  if (!budget.reaches(MAX_CALLS)) return buildPollResult(transfer, 'expired_searching')
  const source = getReader(Number(transfer.deposit.relayData.originChainId))
  const outcomes = await budget.ask(source, finalityRequests(source.chain))
  recordHead(poll, source, outcomes[1])
  const finality = parseFinality(source.chain, outcomes)
  const known = transfer.refundSearch
  // Transactions found by earlier polls are read before new blocks.
  const hasLeads = known !== undefined && known.leads.length > 0
  const final = (hasLeads && known.final) || (await findFinalBlock(poll, source, finality, known?.final))

  let search = transfer.refundSearch ?? (await beginSearch(poll, source, transfer, final))
  const { pool } = getBridge(source)
  const { deposit, events } = transfer
  const filters = [
    { address: pool, topics: [POOL_TOPICS.refunded] },
    { address: pool, topics: [POOL_TOPICS.deposited, null, null, deposit.relayData.depositor] },
  ]
  const head = { ...final, number: search.until === undefined ? final.number : min(search.until, final.number) }
  let progress: SearchStep['progress'] = 'more'
  const since = toSeconds(events[0].at) - RIVAL_SECONDS
  for (let hasRead = false; progress === 'more' && !isCrowded(search); hasRead = true) {
    const step = await readNextEvents(source, budget, search.blocks, { filters, head, since, reserved: 1, hasRead })
    const [payments = [], deposits = []] = step.logs
    search = addDeposits(search, source, transfer, deposits)
    search = addLeads(search, transfer, findPossiblePayments(payments, pool, deposit, since))
    search = { ...search, ...(step.search && { blocks: step.search }) }
    progress = step.progress
  }
  search = { ...(await readLeads(poll, source, transfer, search)), final }

  const keep = { ...transfer, refundSearch: search }
  const deadline = BigInt(deposit.relayData.fillDeadline)
  const isOver = final.timestamp > deadline + SEARCH_SECONDS
  const end = (outcome: Outcome) =>
    poll.isRecorded ? buildPollResult(keep, outcome, true) : buildPollResult(keep, 'expired_searching')
  if (isCrowded(search)) return isOver ? end('expired_undecided') : buildPollResult(keep, 'expired')
  if (progress !== 'complete' || search.leads.length > 0) return buildPollResult(keep, 'expired_searching')

  const found = search.payments.length > 0 ? await findPayment(poll, transfer, search) : undefined
  if (found === 'unknown') return buildPollResult(keep, 'expired_searching')
  if (found) {
    // The depositor may claim an owed refund in a later block. The search must then go on beyond the block that the API
    // reported.
    const read = { ...keep, refundSearch: { ...search, ...(found.isOwed && { until: undefined }) } }
    const refunded = withEvents(read, REFUND_KINDS, [buildEvent(transfer, found)])
    if (!found.isOwed) return buildPollResult(refunded, 'refunded', true)
    return (await isClaimable(poll, source, transfer))
      ? buildPollResult(refunded, 'refund_owed')
      : buildPollResult(withEvents(keep, REFUND_KINDS, []), 'expired')
  }
  // The payment that the API reported was not the refund, or did not suffice. The search then continues up to the
  // newest final block.
  if (search.until !== undefined) {
    return buildPollResult({ ...keep, refundSearch: { ...search, until: undefined } }, 'expired_searching')
  }
  if (!isOver) return buildPollResult(keep, 'expired')
  // A payment after the deadline may be this refund, or the refund of another deposit. Anyone can make deposits in
  // the depositor's name, so the outcome stays undecided.
  const isPaid = search.payments.some(({ at, isOwed }) => !isOwed && toSeconds(at) > deadline)
  return end(isPaid ? 'expired_undecided' : 'refund_not_found')
}

async function beginSearch(
  { budget, fetchHint }: Poll,
  source: ChainReader,
  { deposit }: Transfer,
  final: BlockHeader,
): Promise<RefundSearch> {
  const search = { leads: [], payments: [], rivals: [], dust: 0n }
  const { refund: hash } = await fetchHint(deposit.relayData)
  if (!hash || !budget.reaches(1)) return search
  const [outcome] = await budget.ask(source, [receiptRequest(hash)])
  const receipt = parseReceipt(outcome, hash)
  const isPayment = receipt && parsePayments(receipt.logs, getBridge(source).pool, deposit).length > 0
  return isPayment && receipt.blockNumber <= final.number ? { ...search, until: receipt.blockNumber } : search
}

function isCrowded({ rivals, payments, leads }: RefundSearch): boolean {
  return rivals.length + payments.length + leads.length > MAX_KEPT
}

function addDeposits(
  search: RefundSearch,
  source: ChainReader,
  transfer: Transfer,
  logs: readonly Log[],
): RefundSearch {
  const { deposit, events } = transfer
  const own = hashRelay(deposit)
  const since = toSeconds(events[0].at) - RIVAL_SECONDS
  const { inputToken } = deposit.relayData
  const others = parseDeposits(logs, getBridge(source).pool, source.chain.id).flatMap(({ deposit: other }) => {
    const { relayData, destinationChainId } = other
    const hash = hashRelay(other)
    if (hash === own || relayData.inputToken !== inputToken || relayData.fillDeadline < since) return []
    return [
      { relayHash: hash, destinationChainId, deadline: BigInt(relayData.fillDeadline), amount: relayData.inputAmount },
    ]
  })
  const dust = others
    .filter((other) => isDust(transfer, other))
    .reduce((total, { amount }) => total + amount, search.dust)
  return { ...search, rivals: [...search.rivals, ...others.filter((other) => !isDust(transfer, other))], dust }
}

function isDust({ deposit }: Transfer, { amount }: { readonly amount: bigint }): boolean {
  return amount * DUST_DIVISOR < deposit.relayData.inputAmount
}

/** Adds transactions whose receipts may prove a payment. Payments below the dust limit need no receipt. */
function addLeads(
  search: RefundSearch,
  transfer: Transfer,
  found: ReturnType<typeof findPossiblePayments>,
): RefundSearch {
  const leads = found.filter((lead) => !isDust(transfer, lead)).map(({ amount: _, ...lead }) => lead)
  const dust = found.filter((lead) => isDust(transfer, lead)).reduce((total, { amount }) => total + amount, search.dust)
  return { ...search, leads: [...search.leads, ...leads], dust }
}

async function readLeads(
  { budget }: Poll,
  source: ChainReader,
  transfer: Transfer,
  search: RefundSearch,
): Promise<RefundSearch> {
  const { deposit, events } = transfer
  const leads = search.leads.slice(0, Math.floor(budget.left() / 2))
  if (leads.length === 0) return search
  const requests = leads.flatMap(({ txHash, blockNumber }) => [receiptRequest(txHash), blockRequest(blockNumber)])
  const outcomes = await budget.ask(source, requests)
  const since = toSeconds(events[0].at) - RIVAL_SECONDS
  const payments = leads.flatMap(({ txHash }, index): Payment[] => {
    const receipt = parseReceipt(outcomes[2 * index], txHash)
    const { timestamp } = parseResult(BlockHeader, outcomes[2 * index + 1])
    if (!receipt) throw badResponse('no receipt of a final transaction')
    if (timestamp < since) return []
    const parsed = parsePayments(receipt.logs, getBridge(source).pool, deposit)
    return parsed.map(({ log: { logIndex }, ...payment }) => ({ txHash, logIndex, at: toDate(timestamp), ...payment }))
  })
  return {
    ...search,
    leads: search.leads.slice(leads.length),
    payments: [...search.payments, ...payments.filter((payment) => !isDust(transfer, payment))].toSorted(byTime),
    dust: payments
      .filter((payment) => isDust(transfer, payment))
      .reduce((total, { amount }) => total + amount, search.dust),
  }
}

function byTime(left: Payment, right: Payment): number {
  return left.at.getTime() - right.at.getTime() || left.logIndex - right.logIndex
}

type Payment = RefundSearch['payments'][number]

/**
 * Returns the payment, made or owed, that is certainly this transfer's refund; undefined if there is none. Returns
 * `unknown` if too few calls are left.
 */
async function findPayment(
  { getReader, budget }: Poll,
  { deposit }: Transfer,
  { rivals, payments, dust }: RefundSearch,
): Promise<Payment | 'unknown' | undefined> {
  const filled = new Set<string>()
  for (const [chainId, group] of Map.groupBy(rivals, ({ destinationChainId }) => destinationChainId)) {
    // A deposit to a chain that the service does not read may be unfilled, so the pool may owe its refund.
    if (!evmChain(chainId)?.bridge) continue
    if (!budget.reaches(1)) return 'unknown'
    budget.spend(1)
    const { values } = await readFillStatuses(
      getReader(chainId),
      group.map((rival) => rival.relayHash),
    )
    for (const [index, rival] of group.entries()) if (values[index] === FILLED_STATUS) filled.add(rival.relayHash)
  }
  const toDebt = (amount: bigint, deadline: bigint): OwedRefund => ({ amount, deadline: toDate(deadline) })
  const others = rivals.filter((rival) => !filled.has(rival.relayHash))
  const debts = others.map(({ amount, deadline }) => toDebt(amount, deadline))
  const debt = toDebt(deposit.relayData.inputAmount, BigInt(deposit.relayData.fillDeadline))
  const find = (of: readonly Payment[]) => findRepayment(debt, debts, of, dust)
  const paid = payments.filter(({ isOwed }) => !isOwed)
  return find(paid) ?? (paid.length < payments.length ? find(payments) : undefined)
}

function buildEvent({ deposit }: Transfer, { txHash, logIndex, at, isOwed }: Payment): TransferEvent {
  const { depositor: account, token } = findRefundRecipient(deposit)
  return {
    kind: isOwed ? 'refund_owed' : 'refunded',
    chainId: Number(deposit.relayData.originChainId),
    ...{ txHash, logIndex, at, amount: deposit.relayData.inputAmount, token, account },
    ...{ vaultAddress: null, shares: null },
  }
}

/**
 * Returns false if the pool no longer owes this amount to the depositor, because a block that is not yet final contains
 * the claim. Returns true if the budget has no call left to check.
 */
async function isClaimable({ budget }: Poll, source: ChainReader, { deposit }: Transfer): Promise<boolean> {
  if (!budget.reaches(1)) return true
  budget.spend(1)
  const { depositor, token } = findRefundRecipient(deposit)
  const address = getBridge(source).pool
  const owed = buildCall(address, poolAbi, 'getRelayerRefund', [token, depositor])
  const { value } = await source.readOne(
    buildReadPlan({ address, slots: {}, calls: { owed } }, ({ answers }) => answers.owed),
  )
  return value !== undefined && value >= deposit.relayData.inputAmount
}
