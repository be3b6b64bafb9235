import { type Hash, type Hex, numberToHex } from 'viem'
import { buildCall } from '../chain/call.ts'
import { type ChainFinality, finalityRequests, parseFinality } from '../chain/finality.ts'
import { Quantity } from '../chain/hex.ts'
import { type BlockHeader, type Log, parseResult, receiptRequest } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { HOUR_SECONDS, toSeconds } from '../core/time.ts'
import { poolAbi } from './abi.ts'
import { type Fill, findFill, hashRelay, POOL_TOPICS, parseFillResult, toAddress } from './events.ts'
import {
  buildPollResult,
  FILLED_STATUS,
  getBridge,
  type Poll,
  type PollResult,
  parseReceipt,
  readFillStatuses,
  readTime,
  SLOW_FILL_REQUESTED_STATUS,
  withEvents,
} from './poll.ts'
import { readRefund } from './refund.ts'
import { readNextEvents } from './search.ts'
import { deriveOutcome } from './timeline.ts'
import type { BridgeDeposit, LogSearch, Transfer, TransferEvent } from './transfer.ts'

/** Maximum seconds by which a fill's block time may be before the deposit's, because the chains' clocks differ. */
const EARLY_SECONDS = HOUR_SECONDS
const CALLS_FOR_RECEIPT = 2

const FILL_KINDS = ['sped_up', 'filled', 'delivered', 'undelivered', 'vault_deposited', 'action_failed'] as const

/** Reads the state of a transfer whose deposit is mined on the source chain. Throws `upstream_*`. */
export async function readBridgedTransfer(poll: Poll, transfer: Transfer): Promise<PollResult> {
  const { getReader, budget } = poll
  const { deposit, events, isFinal } = transfer
  if (!evmChain(deposit.destinationChainId)?.bridge)
    return buildPollResult(transfer, 'destination_not_followed', isFinal)
  if (transfer.isUnfilled) return readRefund(poll, transfer)

  const destination = getReader(deposit.destinationChainId)
  const known = events.find(({ kind }) => kind === 'filled')
  if (known) {
    // Without calls left, the fill cannot be read again, so the stored outcome is returned.
    if (!budget.reaches(CALLS_FOR_RECEIPT)) return buildPollResult(transfer, deriveOutcome(transfer) ?? 'unproven')
    const isAsked = isFinal && budget.reaches(CALLS_FOR_RECEIPT + 2)
    const requests = isAsked ? finalityRequests(destination.chain) : []
    const [receipt, ...outcomes] = await budget.ask(destination, [receiptRequest(known.txHash), ...requests])
    const finality = isAsked ? parseFinality(destination.chain, outcomes) : undefined
    const filled = await parseFilled(poll, transfer, receipt, known.txHash)
    if (filled) return concludeFill(poll, transfer, filled, finality)
  }
  // The hash of the block that this poll reads takes one more call. It is read only if enough calls for the fill
  // remain.
  const withHash = budget.left() >= 2 + CALLS_FOR_RECEIPT
  budget.spend(withHash ? 2 : 1)
  const read = await readFillStatuses(destination, [hashRelay(deposit)], { withHash })
  const [status] = read.values
  const unfilled = withEvents(transfer, FILL_KINDS, [])
  const searched = status === FILLED_STATUS ? await searchFill(poll, destination, unfilled, read.block) : undefined
  const keep = searched ? { ...unfilled, fillSearch: searched.search } : unfilled
  if (searched?.filled) return concludeFill(poll, keep, searched.filled)
  if (withHash) poll.evidence.set(deposit.destinationChainId, await read.evidence())
  // The pool reports a fill, but the search has not found the fill's event. A later poll must find it.
  if (searched) return buildPollResult(keep, 'locating')
  if (read.block.timestamp <= BigInt(deposit.relayData.fillDeadline)) {
    if (status !== SLOW_FILL_REQUESTED_STATUS) return buildPollResult(keep, 'bridging')
    return buildPollResult(await withSlowFill(poll, destination, keep, read.block), 'bridging_slowly')
  }
  const isUnfilled = isFinal && (await isUnfilledForEver(poll, destination, deposit))
  return buildPollResult({ ...keep, ...(isUnfilled && { isUnfilled }) }, 'expired')
}

type Filled = {
  readonly fill: Fill
  readonly blockHash: Hash
  readonly at: Date
  readonly events: readonly TransferEvent[]
}

async function parseFilled(
  poll: Pick<Poll, 'getReader' | 'budget'>,
  { deposit }: Transfer,
  outcome: RpcOutcome | undefined,
  hash: Hash,
): Promise<Filled | undefined> {
  const reader = poll.getReader(deposit.destinationChainId)
  const { pool, multicallHandler: handler } = getBridge(reader)
  const receipt = parseReceipt(outcome, hash)
  const fill = receipt && findFill(receipt.logs, pool, deposit)
  if (!receipt || !fill) return undefined
  const { logs, blockHash } = receipt
  const at = await readTime(poll, reader, logs, fill.blockNumber)
  const token = toAddress(deposit.relayData.outputToken)
  const place = { chainId: deposit.destinationChainId, txHash: hash, logIndex: fill.logIndex, at, token }
  const none = { account: null, vaultAddress: null, shares: null }
  const filled: TransferEvent = { kind: 'filled', ...place, amount: fill.outputAmount, ...none }
  const result = parseFillResult(logs, { pool, handler, fill, deposit })
  const events: TransferEvent[] = [
    ...(fill.isSpedUp ? [{ ...filled, kind: 'sped_up' as const }] : []),
    filled,
    ...(result ? [{ ...place, ...result }] : []),
  ]
  return { fill, blockHash, at, events }
}

function concludeFill(
  { getReader, evidence }: Poll,
  transfer: Transfer,
  { fill: { blockNumber: number }, blockHash, at, events }: Filled,
  finality?: ChainFinality,
): PollResult {
  const chainId = transfer.deposit.destinationChainId
  const { nodes } = getReader(chainId)
  evidence.set(chainId, { chainId, blockNumber: Number(number), blockHash, timestamp: at, nodes })
  const keep = { ...withEvents(transfer, FILL_KINDS, events), fillSearch: undefined }
  const isFinal = finality?.isFinal({ number, timestamp: toSeconds(at) }) === true
  return buildPollResult(keep, deriveOutcome(keep) ?? 'unproven', isFinal)
}

type Searched = { readonly filled?: Filled | undefined; readonly search?: LogSearch | undefined }

/**
 * Searches for the fill of a deposit that the pool reports as filled. Tries the transaction that the bridge's API
 * reports, then the newest blocks, then older blocks back to the deposit. This may take several polls. The receipt
 * proves the fill. Throws `upstream_*`.
 */
async function searchFill(
  poll: Poll,
  destination: ChainReader,
  transfer: Transfer,
  head: BlockHeader,
): Promise<Searched> {
  const { budget, fetchHint } = poll
  const { deposit, events } = transfer
  const readReceipt = async (hash: Hash) => {
    const [outcome] = await budget.ask(destination, [receiptRequest(hash)])
    return parseFilled(poll, transfer, outcome, hash)
  }
  let search = transfer.fillSearch
  if (budget.left() >= CALLS_FOR_RECEIPT) {
    const { fill: hash } = await fetchHint(deposit.relayData)
    const hinted = hash && (await readReceipt(hash))
    if (hinted) return { filled: hinted }
  }
  const filters = [fillFilter(destination, POOL_TOPICS.filled, deposit)]
  const since = toSeconds(events[0].at) - EARLY_SECONDS
  for (let hasRead = false; ; hasRead = true) {
    // Two requests stay reserved: for the receipt of the fill, and for the time of its block.
    const step = await readNextEvents(destination, budget, search, { filters, head, since, reserved: 2, hasRead })
    search = step.search
    const fill = findFill(step.logs.flat(), getBridge(destination).pool, deposit)
    if (fill) {
      const filled = await readReceipt(fill.transactionHash)
      return filled?.fill.blockNumber === fill.blockNumber ? { filled } : {}
    }
    // The pool reports a fill but no block shows it, so the next poll restarts the search.
    if (step.progress === 'complete') return {}
    if (step.progress === 'paused') return { search }
  }
}

async function withSlowFill(
  poll: Poll,
  destination: ChainReader,
  transfer: Transfer,
  head: BlockHeader,
): Promise<Transfer> {
  const { deposit, events } = transfer
  if (events.some(({ kind }) => kind === 'slow_fill_requested') || !poll.budget.reaches(3)) return transfer
  const filters = [fillFilter(destination, POOL_TOPICS.slowFillRequested, deposit)]
  const options = { filters, head, since: toSeconds(events[0].at) - EARLY_SECONDS, reserved: 1, hasRead: true }
  const { logs } = await readNextEvents(destination, poll.budget, undefined, options)
  const [log]: (Log | undefined)[] = logs.flat()
  if (!log || (log.blockTimestamp === undefined && !poll.budget.reaches(1))) return transfer
  const at = await readTime(poll, destination, [log], log.blockNumber)
  const { transactionHash: txHash, logIndex } = log
  const { outputAmount: amount, outputToken } = deposit.relayData
  const place = { chainId: deposit.destinationChainId, txHash, logIndex, at, amount, token: toAddress(outputToken) }
  const event = { kind: 'slow_fill_requested', ...place, account: null, vaultAddress: null, shares: null } as const
  return withEvents(transfer, ['slow_fill_requested'], [event])
}

function fillFilter(destination: ChainReader, topic: Hash, { relayData }: BridgeDeposit) {
  const { originChainId, depositId } = relayData
  return { address: getBridge(destination).pool, topics: [topic, toTopic(originChainId), toTopic(depositId)] }
}

function toTopic(value: bigint): Hex {
  return numberToHex(value, { size: 32 })
}

async function isUnfilledForEver(poll: Poll, destination: ChainReader, deposit: BridgeDeposit): Promise<boolean> {
  if (!poll.budget.reaches(3)) return false
  const { to, data } = buildCall(getBridge(destination).pool, poolAbi, 'fillStatuses', [hashRelay(deposit)])
  const status: RpcRequest = { method: 'eth_call', params: [{ to, data }, 'latest'] }
  const outcomes = await poll.budget.ask(destination, [status, ...finalityRequests(destination.chain)])
  // The pool accepts no fill in a block after the deadline. Once such a block is final, an unfilled deposit stays
  // unfilled.
  const { isPast } = parseFinality(destination.chain, outcomes.slice(1))
  return isPast(BigInt(deposit.relayData.fillDeadline)) && parseResult(Quantity, outcomes[0]) !== FILLED_STATUS
}
