import { isDeepStrictEqual } from 'node:util'
import { type Address, getAddress, type Hash, type Hex, isAddressEqual, isHash } from 'viem'
import * as z from 'zod'
import type { DepositSources } from '../activity/source.ts'
import { call, required } from '../chain/call.ts'
import { type Finality, finalityRequests, parseFinality } from '../chain/finality.ts'
import { BlockHeader, blockRequest, type Log, parseResult, receiptRequest } from '../chain/logs.ts'
import { type ChainReader, readPlan } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { poolAbi } from './abi.ts'
import { knownOfDeposit, knownOfSource, OUTCOMES, type RecordedTransfer } from './answers.ts'
import { type BridgeDeposit, parseDeposits, parseMessage, relayHash } from './events.ts'
import { type Filled, parseFilled, searchFill } from './fill.ts'
import {
  type Allowance,
  badAnswer,
  bridgeOf,
  conclude,
  createAllowance,
  FILLED,
  isConfirmed,
  type Look,
  parseReceipt,
  readTime,
  type Seen,
  secondsOf,
} from './look.ts'
import { readRefund } from './refund.ts'
import type { TransfersStore } from './store.ts'
import type { Transfer, TransferKey, TransferStatus } from './transfer.ts'

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly transfers: Pick<TransfersStore, 'record'>
  readonly sources: Pick<DepositSources, 'record'>
}

/** Where a transfer stands, and the contract on the destination that its deposit is meant for. */
export type FoundTransfer = {
  readonly status: TransferStatus
  readonly target: Target | undefined
}
type Target = { readonly chainId: number; readonly address: Address }

const SLOW_FILL_REQUESTED = 1n
/**
 * Where the deposit of a source transaction stands, from the chains alone. It asks the chains for at most 8 calls in 6
 * requests, and nothing once the answer is final; a search that takes more goes on at the next question. A transfer that
 * ends at one of the caller's vaults is followed by the job from then on. Throws `upstream_*`.
 */
export async function readTransfer(
  dependencies: Dependencies & {
    readonly transfers: Pick<TransfersStore, 'get'>
    /** Epoch milliseconds. */
    readonly now: () => number
    readonly isVault: (target: Target) => boolean
  },
  key: TransferKey,
): Promise<FoundTransfer> {
  const { transfers, now, isVault } = dependencies
  return readRecorded(dependencies, key, (await transfers.get(key)) ?? {}, (keep) => {
    const target = targetOf(keep)
    return keep.lookAt ?? (target && isVault(target) ? new Date(now()) : undefined)
  })
}

/**
 * The same of a transfer of which this is recorded; `lookAt` says when the job is to look at it next, if at all. Throws
 * `internal` where the allowance is not a whole one and does not reach for what is always asked.
 */
export async function readRecorded(
  { readerOf, transfers, sources }: Dependencies,
  key: TransferKey,
  recorded: Transfer,
  lookAt: (keep: Transfer) => Date | undefined,
  allowance: Allowance = createAllowance(),
): Promise<FoundTransfer> {
  if (recorded.final) return { status: recorded.final, target: targetOf(recorded) }

  const look = { readerOf, key, recorded, allowance }
  // Also of a transfer that cannot be read now it is kept when the next look is, so that it holds up no other.
  const read = await readNow(look).catch((error: unknown) => unread(recorded, error))
  const { status, keep: seen, arrival } = read
  const keep = compact({ ...seen, lookAt: seen.final ? undefined : lookAt(seen) })
  // Before the answer is final, after which nobody looks again.
  if (arrival) await sources.record(arrival, { chainId: key.sourceChainId, transactionHash: key.transactionHash })
  // Of what nobody has seen nothing is kept, or every number asked for would leave an item.
  const isKnown = keep.source !== undefined || keep.sender !== undefined
  if (isKnown && !isDeepStrictEqual(keep, recorded)) await transfers.record(key, keep)
  if (!status) throw read.failure
  return { status, target: targetOf(keep) }
}

function unread(
  recorded: Transfer,
  failure: unknown,
): { status?: undefined; keep: Transfer; arrival?: undefined; failure: unknown } {
  return { keep: recorded, failure }
}

function targetOf({ source }: Transfer): Target | undefined {
  const named = source && parseMessage(source.deposit)?.deposit
  return named && { chainId: source.deposit.destinationChainId, address: named.vault }
}

/** Without the fields that are undefined, as it is stored. */
function compact(transfer: Transfer): Transfer {
  return Object.fromEntries(Object.entries(transfer).filter(([, value]) => value !== undefined)) as Transfer
}

async function readNow(look: Look): Promise<Seen> {
  const { readerOf, key, recorded, allowance } = look
  if (recorded.source?.isFinal) return readBridged(look, recorded.source)

  const source = readerOf(key.sourceChainId)
  // What is seen for the first time is not called final yet, which leaves more of the allowance for its fill.
  const isFirst = !recorded.source && !recorded.sender
  const outcomes = await allowance.ask(source, [
    receiptRequest(key.transactionHash),
    ...(recorded.sender ? [] : [transactionRequest(key.transactionHash)]),
    ...(isFirst ? [] : finalityRequests(source.chain)),
  ])
  const receipt = parseReceipt(outcomes[0], key.transactionHash)
  const transaction = recorded.sender ? undefined : parseTransaction(outcomes[1], key.transactionHash)
  const finality = isFirst ? undefined : parseFinality(source.chain, outcomes.slice(-2))
  if (!receipt) return readUnmined(look, finality, transaction)

  const deposit = receipt.status === 'success' ? depositIn(source, receipt.logs, key) : undefined
  if (!deposit) {
    const reason = receipt.status === 'success' ? 'no_deposit_in_transaction' : 'source_reverted'
    return readFailed(look, { reason, blockNumber: receipt.blockNumber })
  }
  const { blockNumber } = receipt
  const keep = { ...recorded, sender: recorded.sender ?? transaction?.sender, droppedAt: undefined }
  const block = recorded.source?.blockNumber === blockNumber ? recorded.source : undefined
  const initiated = block?.initiated ?? (await readTime(look, source, receipt.logs, blockNumber))
  const isDeep = finality?.isFinal({ number: blockNumber, timestamp: secondsOf(initiated) }) === true
  const seen = { deposit, initiated, blockNumber, isFinal: isDeep && !source.witness }
  const bridged = await readBridged({ ...look, recorded: { ...keep, source: seen } }, seen)
  if (!isDeep || seen.isFinal) return bridged
  // After what the question is about: where two nodes differ for long, the fill is found all the same.
  const isFinal = await isConfirmed(look, source, [receiptRequest(key.transactionHash)], ([outcome], theirs) => {
    const told = parseReceipt(outcome, key.transactionHash)
    const isSame = told && isDeepStrictEqual(depositIn(source, told.logs, key), deposit)
    return isSame === true && theirs.isFinal({ number: told.blockNumber, timestamp: secondsOf(initiated) })
  })
  return { ...bridged, keep: { ...bridged.keep, source: { ...seen, isFinal } } }
}

/** Where a transfer stands whose source transaction has no receipt. */
async function readUnmined(
  look: Look,
  finality: Finality | undefined,
  told: ReturnType<typeof parseTransaction>,
): Promise<Seen> {
  const { readerOf, key, recorded } = look
  const pool = readerOf(key.sourceChainId).chain.bridge?.pool
  // Of transactions that wait, only those that call the bridge are kept: they may never be mined, and cost nothing.
  const isOurs = told?.to && pool && isAddressEqual(told.to, pool)
  const sender = recorded.sender ?? (isOurs ? told.sender : undefined)
  // A node that lags behind, or a reorganisation: what was seen is not unseen.
  const seen = recorded.source
    ? await readBridged(look, recorded.source)
    : conclude({ ...knownOfSource(key), ...OUTCOMES.pending }, { ...recorded, sender }, false)
  if (!recorded.sender || !finality || seen.keep.fillTransaction || seen.status.terminal) return seen
  return readDropped(look, seen, { sender: recorded.sender, finality })
}

/** The same once another transaction of the sender's has the place of the source transaction, for good. */
async function readDropped(
  look: Look,
  seen: Seen,
  { sender, finality }: { sender: NonNullable<Transfer['sender']>; finality: Finality },
): Promise<Seen> {
  const { readerOf, key, recorded, allowance } = look
  const source = readerOf(key.sourceChainId)
  const requests: RpcRequest[] = [
    transactionRequest(key.transactionHash),
    { method: 'eth_getTransactionCount', params: [sender.address, 'latest'] },
  ]
  const isReplaced = ([transaction, count]: readonly RpcOutcome[]) =>
    !parseTransaction(transaction, key.transactionHash) && parseResult(Quantity, count) > BigInt(sender.nonce)
  if (!allowance.reaches(requests.length)) return seen
  if (!isReplaced(await allowance.ask(source, requests)))
    return { ...seen, keep: { ...seen.keep, droppedAt: undefined } }

  // A node can lag behind the one that saw it, so it must stay away until the head of this time is final.
  const droppedAt = recorded.droppedAt ?? finality.head
  const keep = { ...seen.keep, droppedAt }
  const isFinal =
    finality.isFinal(droppedAt) &&
    (await isConfirmed(
      look,
      source,
      [receiptRequest(key.transactionHash), ...requests],
      ([receipt, ...outcomes]) => !parseReceipt(receipt, key.transactionHash) && isReplaced(outcomes),
    ))
  return isFinal ? conclude({ ...knownOfSource(key), ...OUTCOMES.source_dropped }, keep, true) : { ...seen, keep }
}

/** The answer for a source transaction that sent nothing. It is stored only where a deposit was seen in it before. */
async function readFailed(
  look: Look,
  { reason, blockNumber }: { reason: 'source_reverted' | 'no_deposit_in_transaction'; blockNumber: bigint },
): Promise<Seen> {
  const { readerOf, key, recorded } = look
  const source = readerOf(key.sourceChainId)
  const outcomes = await look.allowance.ask(source, [blockRequest(blockNumber), ...finalityRequests(source.chain)])
  const finality = parseFinality(source.chain, outcomes.slice(1))
  const block = { number: blockNumber, timestamp: parseResult(BlockHeader, outcomes[0]).timestamp }
  const isFinal =
    finality.isFinal(block) &&
    (await isConfirmed(look, source, [receiptRequest(key.transactionHash)], ([outcome], theirs) => {
      const told = parseReceipt(outcome, key.transactionHash)
      const deposit = told?.status === 'success' ? depositIn(source, told.logs, key) : undefined
      const isSame = told && !deposit && (told.status === 'reverted') === (reason === 'source_reverted')
      return isSame === true && theirs.isFinal({ ...block, number: told.blockNumber })
    }))
  const keep = recorded.source ? recorded : {}
  return conclude({ ...knownOfSource(key), ...OUTCOMES[reason] }, keep, isFinal)
}

/** Where a deposit stands that is in the pool. */
async function readBridged(look: Look, source: NonNullable<Transfer['source']>): Promise<Seen> {
  const { readerOf, key, recorded, allowance } = look
  const { deposit, initiated, isFinal } = source
  const known = knownOfDeposit(key, { deposit, initiated, action: parseMessage(deposit)?.deposit ? 'deposit' : 'none' })
  if (!evmChain(deposit.destinationChainId)?.bridge) {
    return conclude({ ...known, ...OUTCOMES.destination_not_followed }, recorded, isFinal)
  }
  if (recorded.isUnfilled) return readRefund(look, source, known)

  const destination = readerOf(deposit.destinationChainId)
  if (recorded.fillTransaction) {
    const [receipt, ...outcomes] = await allowance.ask(destination, [
      receiptRequest(recorded.fillTransaction),
      ...(isFinal ? finalityRequests(destination.chain) : []),
    ])
    const found = parseFilled(destination, deposit, receipt, recorded.fillTransaction)
    if (found) {
      const at = await readTime(look, destination, found.logs, found.fill.blockNumber)
      const finality = isFinal ? parseFinality(destination.chain, outcomes) : undefined
      return readFilled(look, known, { ...found, at, finality })
    }
  }
  const { fillStatus, head } = await readFillStatus(look, destination, deposit)
  if (fillStatus === FILLED) {
    const { found, search } = await searchFill(look, destination, source, head)
    const keep = { ...recorded, fillTransaction: undefined, fillSearch: search }
    // The pool knows of a fill that its logs do not show yet, or no longer: the next question will tell.
    if (!found) return conclude({ ...known, ...OUTCOMES.locating }, keep, false)
    return readFilled({ ...look, recorded: keep }, known, found)
  }
  if (head.timestamp <= BigInt(deposit.relayData.fillDeadline)) {
    const outcome = fillStatus === SLOW_FILL_REQUESTED ? OUTCOMES.bridging_slowly : OUTCOMES.bridging
    return conclude({ ...known, ...outcome }, recorded, false)
  }
  const isUnfilled = isFinal && (await isUnfilledForEver(look, destination, deposit))
  const keep = { ...recorded, ...(isUnfilled && { isUnfilled }) }
  return conclude({ ...known, ...OUTCOMES.expired }, keep, false)
}

async function readFilled(look: Look, known: RecordedTransfer, { fill, outcome, at, finality }: Filled): Promise<Seen> {
  const { readerOf, recorded } = look
  const { transactionHash, blockNumber } = fill
  const keep = { ...recorded, fillSearch: undefined, fillTransaction: transactionHash }
  const deposit = recorded.source?.deposit
  const block = { number: blockNumber, timestamp: secondsOf(at) }
  const isFinal =
    deposit !== undefined &&
    outcome.result !== 'unproven' &&
    finality?.isFinal(block) === true &&
    (await isConfirmed(
      look,
      readerOf(deposit.destinationChainId),
      [receiptRequest(transactionHash)],
      ([receipt], theirs) => {
        const told = parseFilled(readerOf(deposit.destinationChainId), deposit, receipt, transactionHash)
        return isDeepStrictEqual(told?.outcome, outcome) && theirs.isFinal(block)
      },
    ))
  const seen = conclude(delivered(known, { fill, outcome, at }), keep, isFinal)
  if (!deposit || !seen.status.final || outcome.result !== 'deposited') return seen
  const { logIndex } = outcome
  return { ...seen, arrival: { chainId: deposit.destinationChainId, transactionHash, logIndex } }
}

function delivered(known: RecordedTransfer, { fill, outcome, at }: Filled): Omit<TransferStatus, 'final'> {
  const { result } = outcome
  const isCompleted = result === 'deposited' || result === 'delivered'
  const fields = {
    ...known,
    outputAmount: result === 'action_failed' ? (outcome.returned ?? null) : fill.outputAmount,
    timestamps: { ...known.timestamps, bridged: at, completed: isCompleted ? at : null },
    transactions: { ...known.transactions, fill: fill.transactionHash },
  }
  if (result === 'action_failed') return { ...fields, ...OUTCOMES.destination_action_failed }
  if (result === 'delivered') return { ...fields, ...OUTCOMES.delivered, action: 'none' }
  return { ...fields, ...OUTCOMES[result] }
}

/** What the destination's pool says of the deposit: 0 not filled, 1 slow fill requested, 2 filled. */
async function readFillStatus({ allowance }: Look, reader: ChainReader, deposit: BridgeDeposit) {
  const { pool } = bridgeOf(reader)
  const calls = { fillStatus: call(pool, poolAbi, 'fillStatuses', [relayHash(deposit)]) }
  const status = readPlan({ address: pool, slots: {}, calls }, ({ answers }) => required(answers.fillStatus))
  const { value, block } = await allowance.read(() => reader.readOne(status))
  return { fillStatus: value, head: block }
}

/** Whether nobody filled the deposit before its deadline, and no reorganisation can change that. */
async function isUnfilledForEver(look: Look, destination: ChainReader, deposit: BridgeDeposit): Promise<boolean> {
  if (!look.allowance.reaches(3)) return false
  const { pool } = bridgeOf(destination)
  const { data, decode } = call(pool, poolAbi, 'fillStatuses', [relayHash(deposit)])
  const status: RpcRequest = { method: 'eth_call', params: [{ to: pool, data }, 'latest'] }
  // A fill is in a block that is not after the deadline.
  const holds = ([outcome]: readonly RpcOutcome[], { isPast }: Finality) =>
    isPast(BigInt(deposit.relayData.fillDeadline)) && decode(parseResult(HexText, outcome)) !== FILLED
  const outcomes = await look.allowance.ask(destination, [status, ...finalityRequests(destination.chain)])
  const isHere = holds(outcomes, parseFinality(destination.chain, outcomes.slice(1)))
  return isHere && (await isConfirmed(look, destination, [status], holds))
}

function depositIn(reader: ChainReader, logs: readonly Log[], { index }: TransferKey): BridgeDeposit | undefined {
  return parseDeposits(logs, bridgeOf(reader).pool, reader.chain.id)[index]
}

const HexText = z.custom<Hex>((value) => typeof value === 'string' && /^0x([0-9a-f]{2})*$/i.test(value))
const Quantity = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value)).transform(BigInt)
const AddressText = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((text) => getAddress(text))
const SentTransaction = z
  .object({ hash: z.custom<Hash>((value) => typeof value === 'string' && isHash(value)) })
  .extend({ from: AddressText, to: AddressText.nullish(), nonce: Quantity.pipe(z.bigint().max(2n ** 53n)) })

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
