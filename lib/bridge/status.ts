import { isDeepStrictEqual } from 'node:util'
import { type Hash, isAddressEqual } from 'viem'
import * as z from 'zod'
import { call, required } from '../chain/call.ts'
import type { Evidence } from '../chain/evidence.ts'
import { type Finality, finalityRequests, parseFinality } from '../chain/finality.ts'
import { Quantity } from '../chain/hex.ts'
import { BlockHeader, blockRequest, parseResult, type Receipt, receiptRequest } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { Address, TransactionHash } from '../codecs.ts'
import { badAnswer } from '../errors.ts'
import type { DepositLocation } from '../protocols/ledger-entry.ts'
import { toResult, unwrap } from '../result.ts'
import { toSeconds } from '../time.ts'
import { poolAbi } from './abi.ts'
import type { DepositSource } from './deposit-source.ts'
import { noteEnding } from './endings.ts'
import { parseDeposits, parseMessage, relayHash } from './events.ts'
import { type Filled, parseFilled, searchFill } from './fill.ts'
import { describeTransfer, type TransferFacts } from './outcomes.ts'
import {
  conclude,
  createBudget,
  FILLED,
  getBridge,
  noteHead,
  type Poll,
  parseReceipt,
  readFillStatuses,
  readTime,
  type Seen,
  SLOW_FILL_REQUESTED,
} from './poll.ts'
import { readRefund } from './refund.ts'
import type { TransfersStore } from './store.ts'
import type { BridgeDeposit, RecordedTransfer, Source, Transfer, TransferStatus } from './transfer.ts'

type Dependencies = {
  readonly getReader: (chainId: number) => ChainReader
  readonly transfers: Pick<TransfersStore, 'record' | 'follow'>
  readonly sources: { record(deposit: DepositLocation, source: DepositSource): Promise<void> }
}

/** What was read of a transfer: its status, where its deposit is to go, and the blocks that this rests on. */
type ReadTransfer = {
  readonly status: TransferStatus
  readonly target: Target | undefined
  readonly evidence: readonly Evidence[]
}

/** The contract on the destination that a transfer's deposit is meant for. */
export type Target = { readonly chainId: number; readonly address: z.output<typeof Address> }

/**
 * The status of a transfer and its target, from the chains alone, and records what is seen. It sends each host of the
 * chains at most 8 calls in 6 requests, and nothing once the status is final; a search that takes more goes on at the next
 * poll. `lookAt` says when the job is to look at it next, if at all, by what is recorded now: once it has ended, to tell clients. Throws `upstream_*`, where the
 * readers ask two hosts `nodes_disagree` and `second_node_silent`, and `internal` where the budget is not a whole one and
 * does not reach for what is always asked.
 */
export async function readTransfer(
  { getReader, transfers, sources }: Dependencies,
  { key, recorded }: RecordedTransfer,
  lookAt: (keep: Transfer, target: Target | undefined) => Date | undefined | Promise<Date | undefined>,
  budget = createBudget(),
): Promise<ReadTransfer> {
  if (recorded.final) return { status: recorded.final, target: getTarget(recorded), evidence: recorded.evidence ?? [] }

  const poll = { getReader, key, recorded, budget, evidence: new Map<number, Evidence>(), isRecorded: true }
  const read = await toResult(readNow(poll))
  // The next poll is set also where this one failed, so that one transfer holds up no other.
  const { keep: found, arrival, status } = 'value' in read ? read.value : { keep: recorded }
  const seen = status ? { ...found, latest: noteEnding(key, recorded.latest, status) } : found
  const target = getTarget(seen)
  const evidence = [...poll.evidence.values()]
  const keep = compact({
    ...seen,
    evidence: seen.final && evidence,
    lookAt: await lookAt(seen, target),
  })
  // Before the final status, after which nothing is read again.
  if (arrival) await sources.record(arrival, { chainId: key.sourceChainId, transactionHash: key.transactionHash })
  // Of unknown transactions nothing is recorded, or every hash asked for would leave an item.
  const isKnown = keep.source !== undefined || keep.sender !== undefined
  const isRecorded = !isKnown || isDeepStrictEqual(keep, recorded) || (await transfers.record(key, keep, recorded))
  // Another question recorded more meanwhile, perhaps of a client in whose vaults it does not end.
  if (!isRecorded && keep.lookAt && !recorded.lookAt) await transfers.follow(key, keep.lookAt)
  return { status: unwrap(read).status, target, evidence }
}

/** The same as these readers tell it, of which nothing is recorded: never final, for they may ask one host. */
export async function readTransferUnrecorded(
  { getReader }: Pick<Dependencies, 'getReader'>,
  { key, recorded }: RecordedTransfer,
): Promise<ReadTransfer> {
  const evidence = new Map<number, Evidence>()
  const { status, keep } = await readNow({
    ...{ getReader, key, recorded, evidence },
    budget: createBudget(),
    isRecorded: false,
  })
  return { status: { ...status, final: false }, target: getTarget(keep), evidence: [...evidence.values()] }
}

/** What the pool is asked of a deposit, and what finding its fill takes: its event, its receipt, the time of its block. */
const CALLS_FOR_STATUS = 1
const CALLS_FOR_FILL = 3

/** The contract that a transfer's deposit is meant for, undefined where it has none. */
export function getTarget({ source }: Transfer): Target | undefined {
  const deposit = source && parseMessage(source.deposit)?.deposit
  return deposit && { chainId: source.deposit.destinationChainId, address: deposit.vault }
}

/** Without the fields that are undefined, as it is stored. */
function compact(transfer: { readonly [Field in keyof Transfer]: Transfer[Field] | undefined }): Transfer {
  // Only optional fields can be undefined.
  return Object.fromEntries(Object.entries(transfer).filter(([, value]) => value !== undefined)) as Transfer
}

async function readNow(poll: Poll): Promise<Seen> {
  const { getReader, key, recorded, budget } = poll
  if (recorded.source?.isFinal) {
    const { evidence } = recorded.source
    if (evidence) poll.evidence.set(key.sourceChainId, evidence)
    return readBridged(poll, recorded.source)
  }

  const source = getReader(key.sourceChainId)
  // What is seen for the first time, or while its fill is searched for, is not called final: that leaves more for the search.
  const isFillFirst = (!recorded.source && !recorded.sender) || recorded.fillSearch !== undefined
  const outcomes = await budget.ask(source, [
    receiptRequest(key.transactionHash),
    ...(recorded.sender ? [] : [transactionRequest(key.transactionHash)]),
    ...(isFillFirst ? [blockRequest('latest')] : finalityRequests(source.chain)),
  ])
  noteHead(poll, source, outcomes.at(-1))
  const receipt = parseReceipt(outcomes[0], key.transactionHash)
  const transaction = recorded.sender ? undefined : parseTransaction(outcomes[1], key.transactionHash)
  const finality = isFillFirst ? undefined : parseFinality(source.chain, outcomes.slice(-2))
  if (!receipt) return readUnmined(poll, finality, transaction)

  const deposits = findDeposits(source, receipt)
  const deposit = deposits[key.index]
  if (!deposit) return readFailed(poll, receipt, deposits.length > 0)
  const { blockNumber } = receipt
  const sameBlock = recorded.source?.blockNumber === blockNumber ? recorded.source : undefined
  const initiated = sameBlock?.initiated ?? (await readTime(poll, source, receipt.logs, blockNumber))
  const isDeep = finality?.isFinal({ number: blockNumber, timestamp: toSeconds(initiated) }) === true
  const seen: Source = {
    ...{ deposit, initiated, blockNumber, isFinal: isDeep },
    ...(isDeep && { evidence: poll.evidence.get(key.sourceChainId) }),
  }
  const keep = { ...recorded, sender: recorded.sender ?? transaction?.sender, droppedAt: undefined, source: seen }
  return readBridged({ ...poll, recorded: keep }, seen)
}

/**
 * The status of a transfer whose source transaction has no receipt: it waits to be mined, or another transaction of the
 * sender's has taken its place for good.
 */
async function readUnmined(
  poll: Poll,
  finality: Finality | undefined,
  told: ReturnType<typeof parseTransaction>,
): Promise<Seen> {
  const { getReader, key, recorded, budget } = poll
  const { transactionHash } = key
  const source = getReader(key.sourceChainId)
  // Of transactions that wait, only those that call the bridge are recorded: they may never be mined, and cost nothing.
  const isOurs = told?.to && isAddressEqual(told.to, getBridge(source).pool)
  const { sender } = recorded
  // A node that lags behind, or a reorganisation: what was seen is not unseen.
  const seen = recorded.source
    ? await readBridged(poll, recorded.source)
    : conclude(describeTransfer(key), 'pending', { ...recorded, sender: sender ?? (isOurs ? told.sender : undefined) })
  if (!sender || !finality || seen.keep.fillTransaction || seen.status.terminal) return seen

  const requests: RpcRequest[] = [
    transactionRequest(transactionHash),
    { method: 'eth_getTransactionCount', params: [sender.address, 'latest'] },
  ]
  const isReplaced = ([transaction, count]: readonly RpcOutcome[]) =>
    !parseTransaction(transaction, transactionHash) && parseResult(Quantity, count) > BigInt(sender.nonce)
  if (!budget.reaches(requests.length)) return seen
  if (!isReplaced(await budget.ask(source, requests))) return { ...seen, keep: { ...seen.keep, droppedAt: undefined } }

  // A node can lag behind the one that saw it, so it must stay away until the head of this time is final.
  const droppedAt = recorded.droppedAt ?? finality.head
  const keep = { ...seen.keep, droppedAt }
  if (!finality.isFinal(droppedAt)) return { ...seen, keep }
  return conclude(describeTransfer(key), 'source_dropped', keep, true)
}

/**
 * The status for a source transaction that sent nothing with this index. It is recorded only where a deposit was seen in it
 * before.
 */
async function readFailed(poll: Poll, { status, blockNumber }: Receipt, hasOthers: boolean): Promise<Seen> {
  const { getReader, key, recorded, budget } = poll
  const source = getReader(key.sourceChainId)
  const outcomes = await budget.ask(source, [blockRequest(blockNumber), ...finalityRequests(source.chain)])
  const finality = parseFinality(source.chain, outcomes.slice(1))
  const { timestamp } = parseResult(BlockHeader, outcomes[0])
  const isFinal = finality.isFinal({ number: blockNumber, timestamp })
  const nothing = hasOthers ? 'no_deposit_with_index' : 'no_deposit_in_transaction'
  const outcome = status === 'success' ? nothing : 'source_reverted'
  return conclude(describeTransfer(key), outcome, recorded.source ? recorded : {}, isFinal)
}

/** The status of a transfer whose deposit is in the pool. */
async function readBridged(poll: Poll, source: Source): Promise<Seen> {
  const { getReader, key, recorded, budget } = poll
  const { deposit, isFinal } = source
  const facts = describeTransfer(key, source)
  if (!evmChain(deposit.destinationChainId)?.bridge) {
    return conclude(facts, 'destination_not_followed', recorded, isFinal)
  }
  if (recorded.isUnfilled) return readRefund(poll, source, facts)

  const destination = getReader(deposit.destinationChainId)
  if (recorded.fillTransaction) {
    const [receipt, ...outcomes] = await budget.ask(destination, [
      receiptRequest(recorded.fillTransaction),
      ...(isFinal ? finalityRequests(destination.chain) : []),
    ])
    const found = parseFilled(destination, deposit, receipt, recorded.fillTransaction)
    if (found) {
      const at = await readTime(poll, destination, found.logs, found.fill.blockNumber)
      const finality = isFinal ? parseFinality(destination.chain, outcomes) : undefined
      return readFilled(poll, deposit, facts, { ...found, at, finality })
    }
  }
  // Where the block's hash would leave too little for a fill, it is asked for after it.
  const withHash = budget.left() > CALLS_FOR_STATUS + CALLS_FOR_FILL
  budget.spend(withHash ? CALLS_FOR_STATUS + 1 : CALLS_FOR_STATUS)
  const read = await readFillStatuses(destination, [relayHash(deposit)], { withHash })
  const { values, block: head } = read
  const fillStatus = required(values[0])
  const filled = fillStatus === FILLED ? await searchFill(poll, destination, source, head) : undefined
  const keep = { ...recorded, ...(filled && { fillTransaction: undefined, fillSearch: filled.search }) }
  if (filled?.found) return readFilled({ ...poll, recorded: keep }, deposit, facts, filled.found)
  if (withHash || budget.left() > 0) {
    if (!withHash) budget.spend(1)
    poll.evidence.set(deposit.destinationChainId, await read.evidence())
  }
  // The pool knows of a fill that its logs do not show yet, or no longer: a later poll finds it.
  if (filled) return conclude(facts, 'locating', keep)
  if (head.timestamp <= BigInt(deposit.relayData.fillDeadline)) {
    return conclude(facts, fillStatus === SLOW_FILL_REQUESTED ? 'bridging_slowly' : 'bridging', recorded)
  }
  const isUnfilled = isFinal && (await isUnfilledForEver(poll, destination, deposit))
  return conclude(facts, 'expired', { ...recorded, ...(isUnfilled && { isUnfilled }) })
}

async function readFilled(
  poll: Poll,
  deposit: BridgeDeposit,
  facts: TransferFacts,
  { fill, outcome, blockHash, at, finality }: Filled & { readonly finality?: Finality | undefined },
): Promise<Seen> {
  const { transactionHash, blockNumber } = fill
  const chainId = deposit.destinationChainId
  const { nodes } = poll.getReader(chainId)
  poll.evidence.set(chainId, { chainId, blockNumber: Number(blockNumber), blockHash, timestamp: at, nodes })
  const { result } = outcome
  const isFinal = result !== 'unproven' && finality?.isFinal({ number: blockNumber, timestamp: toSeconds(at) }) === true
  const isCompleted = result === 'deposited' || result === 'delivered'
  const filled: TransferFacts = {
    ...facts,
    action: result === 'delivered' ? 'none' : facts.action,
    outputAmount: result === 'destination_action_failed' ? (outcome.returned ?? null) : fill.outputAmount,
    timestamps: { ...facts.timestamps, bridged: at, completed: isCompleted ? at : null },
    transactions: { ...facts.transactions, fill: transactionHash },
  }
  const keep = { ...poll.recorded, fillSearch: undefined, fillTransaction: transactionHash }
  const seen = conclude(filled, result, keep, isFinal)
  if (!isFinal || result !== 'deposited') return seen
  return { ...seen, arrival: { chainId: deposit.destinationChainId, transactionHash, logIndex: outcome.logIndex } }
}

/** Whether nobody filled the deposit before its deadline, and no reorganisation can change that. */
async function isUnfilledForEver(poll: Poll, destination: ChainReader, deposit: BridgeDeposit): Promise<boolean> {
  if (!poll.budget.reaches(3)) return false
  const { to, data } = call(getBridge(destination).pool, poolAbi, 'fillStatuses', [relayHash(deposit)])
  const status: RpcRequest = { method: 'eth_call', params: [{ to, data }, 'latest'] }
  const outcomes = await poll.budget.ask(destination, [status, ...finalityRequests(destination.chain)])
  // A fill is in a block that is not after the deadline.
  const { isPast } = parseFinality(destination.chain, outcomes.slice(1))
  return isPast(BigInt(deposit.relayData.fillDeadline)) && parseResult(Quantity, outcomes[0]) !== FILLED
}

/** The deposits in a source transaction, none where it has reverted. */
function findDeposits(source: ChainReader, { status, logs }: Receipt): BridgeDeposit[] {
  return status === 'success' ? parseDeposits(logs, getBridge(source).pool, source.chain.id) : []
}

const SentTransaction = z.object({
  hash: TransactionHash,
  from: Address,
  to: Address.nullish(),
  nonce: Quantity.pipe(z.bigint().max(2n ** 53n)),
})

function transactionRequest(hash: Hash): RpcRequest {
  return { method: 'eth_getTransactionByHash', params: [hash] }
}

/** Who sent a transaction and to whom; undefined where the node knows no such transaction. */
function parseTransaction(outcome: RpcOutcome | undefined, hash: Hash) {
  const told = parseResult(SentTransaction.nullable(), outcome)
  if (!told) return undefined
  if (told.hash !== hash) throw badAnswer('another transaction')
  return { to: told.to, sender: { address: told.from, nonce: Number(told.nonce) } }
}
