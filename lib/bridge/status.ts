import { isDeepStrictEqual } from 'node:util'
import { type Address, type Hash, type Hex, numberToHex, pad, parseAbiItem, size, toEventSelector } from 'viem'
import { BlockHeader, blockRequest, parseResult, Receipt, receiptRequest } from '../chain/logs.ts'
import { type ChainReader, query } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import type { RpcOutcome } from '../chain/rpc.ts'
import { known, view } from '../chain/view.ts'
import { AppError } from '../errors.ts'
import { poolAbi } from './abi.ts'
import {
  addressIn,
  type BridgeDeposit,
  FILLED_RELAY,
  type Fill,
  type FillOutcome,
  findFill,
  parseDeposits,
  parseFillOutcome,
  parseMessage,
  paysBack,
  relayHash,
} from './events.ts'
import type { TransfersTable } from './table.ts'
import { namedChain, type Transfer, type TransferKey, type TransferStatus } from './transfer.ts'

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly transfers: Pick<TransfersTable, 'record'>
}

/** Where a transfer stands, and the contract on the destination that its deposit is meant for. */
export type FoundTransfer = {
  readonly status: TransferStatus
  readonly target: { readonly chainId: number; readonly address: Address } | undefined
}

/** What is seen of a transfer now, and what is to be kept of it. */
type Seen = { readonly status: TransferStatus; readonly keep: Transfer }

const TRANSFER_EVENT = toEventSelector(
  parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
)
/** Blocks are counted back by the chain's usual pace; this much more is read, in percent, and as many blocks besides. */
const PACE_MARGIN_PERCENT = 30n
const MARGIN_BLOCKS = 200n
/** The longest time that the pool lets a deposit wait for its fill. */
const LONGEST_FILL_SECONDS = 21_600n
/** How long after its deadline a deposit is an old one. */
const OLD_SECONDS = 86_400n
const NEAR_SECONDS = 1_800n
const MOST_LOOKS = 8
const FILLED = 2n
const SLOW_FILL_REQUESTED = 1n

/**
 * Where the deposit of a source transaction stands, from the chains alone. A final answer costs no RPC, an unfinished
 * transfer two round trips, an expired one three; a question that finds a new fill or a refund costs four.
 * Throws `upstream_*`.
 */
export async function readTransfer(
  dependencies: Dependencies & { readonly transfers: Pick<TransfersTable, 'get'> },
  key: TransferKey,
): Promise<FoundTransfer> {
  return readRecorded(dependencies, key, (await dependencies.transfers.get(key)) ?? {})
}

/** The same of a transfer of which this is recorded. */
export async function readRecorded(
  { readerOf, transfers }: Dependencies,
  key: TransferKey,
  recorded: Transfer,
): Promise<FoundTransfer> {
  if (recorded.final) return found({ status: recorded.final, keep: recorded })

  const { status, keep } = await readNow(readerOf, key, recorded)
  if (!isDeepStrictEqual(keep, recorded)) await transfers.record(key, keep)
  return found({ status, keep })
}

function found({ status, keep: { source } }: Seen): FoundTransfer {
  const message = source && parseMessage(source.deposit)
  return {
    status,
    target: message && source && { chainId: source.deposit.destinationChainId, address: message.target },
  }
}

async function readNow(
  readerOf: (chainId: number) => ChainReader,
  key: TransferKey,
  recorded: Transfer,
): Promise<Seen> {
  const reader = readerOf(key.sourceChainId)
  if (recorded.source?.isFinal) return readBridged(readerOf, key, recorded, recorded.source.deposit)

  const outcomes = await reader.request([receiptRequest(key.transactionHash), blockRequest('latest')])
  const receipt = parseResult(Receipt.nullable(), outcomes[0])
  const head = parseResult(BlockHeader, outcomes[1])
  if (!receipt) {
    // A node that lags behind the one that was asked before, or a reorganisation: what was seen is not unseen.
    if (recorded.source) return readBridged(readerOf, key, recorded, recorded.source.deposit, { head })
    return { status: pending(key), keep: recorded }
  }

  const isFinal = isDeep(reader, receipt.blockNumber, head)
  if (receipt.status === 'reverted') return conclude(failed(key, 'source_reverted'), recorded, isFinal)
  const pool = reader.chain.bridge?.pool
  const deposit = pool && parseDeposits(receipt.logs, pool, reader.chain.id)[key.index]
  if (!deposit || !evmChain(deposit.destinationChainId)?.bridge) {
    return conclude(failed(key, 'no_deposit_in_transaction'), recorded, isFinal)
  }
  return readBridged(readerOf, key, recorded, deposit, { head, block: { number: receipt.blockNumber, isFinal } })
}

/** What was just seen of the source chain: its head, and the block of the deposit. */
type Sight = {
  readonly head?: BlockHeader
  readonly block?: { readonly number: bigint; readonly isFinal: boolean }
}

/** Where a deposit stands that is in the pool. */
async function readBridged(
  readerOf: (chainId: number) => ChainReader,
  key: TransferKey,
  recorded: Transfer,
  deposit: BridgeDeposit,
  sight: Sight = {},
): Promise<Seen> {
  const { block } = sight
  const source = readerOf(key.sourceChainId)
  const destination = readerOf(deposit.destinationChainId)
  const [initiated, { fillStatus, head, recordedFill }] = await Promise.all([
    block ? readTime(source, block.number) : (recorded.source?.initiated ?? null),
    readFillStatus(destination, deposit, recorded.fillTransaction),
  ])
  const seen = initiated && { deposit, initiated, isFinal: block?.isFinal ?? recorded.source?.isFinal ?? false }
  const keep: Transfer = { ...recorded, ...(seen && { source: seen }) }
  const known = { ...about(key, deposit), timestamps: { initiated, bridged: null, completed: null } }

  if (fillStatus === FILLED) {
    const filled =
      (await readRecordedFill(destination, deposit, recordedFill)) ??
      (await searchFill(destination, deposit, { since: initiated, head }))
    // The pool knows of a fill that its logs do not show yet, or no longer: the next question will tell.
    if (!filled) return { status: { ...known, ...BRIDGING }, keep }
    const { transactionHash, blockNumber } = filled.fill
    const isFinal = isDeep(destination, blockNumber, head)
    return conclude(delivered(known, filled), { ...keep, fillTransaction: transactionHash }, isFinal)
  }
  if (head.timestamp <= BigInt(deposit.relayData.fillDeadline)) {
    return { status: { ...known, ...(fillStatus === SLOW_FILL_REQUESTED ? SLOWLY_BRIDGING : BRIDGING) }, keep }
  }
  const refund = await searchRefund(source, deposit, sight.head ?? (await readHead(source)))
  const reason = refund ? 'refunded' : 'expired'
  return conclude({ ...known, ...FAILURES[reason] }, keep, refund?.isFinal ?? false)
}

function conclude(status: TransferStatus, keep: Transfer, isFinal: boolean): Seen {
  return { status, keep: isFinal ? { ...keep, final: status } : keep }
}

async function readHead(reader: ChainReader): Promise<BlockHeader> {
  const [outcome] = await reader.request([blockRequest('latest')])
  return parseResult(BlockHeader, outcome)
}

async function readTime(reader: ChainReader, blockNumber: bigint): Promise<Date> {
  const [outcome] = await reader.request([blockRequest(blockNumber)])
  return dateOf(parseResult(BlockHeader, outcome).timestamp)
}

/** What the destination's pool says of the deposit: 0 not filled, 1 slow fill requested, 2 filled; and a known fill's receipt. */
async function readFillStatus(reader: ChainReader, deposit: BridgeDeposit, fillTransaction: Hash | undefined) {
  const { pool } = bridgeOf(reader)
  const views = { fillStatus: view(pool, poolAbi, 'fillStatuses', [relayHash(deposit)]) }
  const { value, block, outcomes } = await reader.readOne(
    query({ address: pool, slots: {}, views }, ({ answers }) => known(answers.fillStatus)),
    { along: fillTransaction ? [receiptRequest(fillTransaction)] : [] },
  )
  return { fillStatus: value, head: block, recordedFill: outcomes[0] }
}

/** A fill, what it led to, and the time of its block. */
type Filled = { readonly fill: Fill; readonly outcome: FillOutcome; readonly at: Date }

/** The fill that was found before, undefined where its transaction is no longer on the chain. */
async function readRecordedFill(
  reader: ChainReader,
  deposit: BridgeDeposit,
  outcome: RpcOutcome | undefined,
): Promise<Filled | undefined> {
  const filled = outcome && parseFill(reader, deposit, outcome)
  return filled && { ...filled, at: await readTime(reader, filled.fill.blockNumber) }
}

async function searchFill(
  reader: ChainReader,
  deposit: BridgeDeposit,
  { since, head }: { since: Date | null; head: BlockHeader },
): Promise<Filled | undefined> {
  const { pool } = bridgeOf(reader)
  const { originChainId, depositId, fillDeadline } = deposit.relayData
  const topics = [FILLED_RELAY, word(originChainId), word(depositId)]
  const earliest = since ? secondsOf(since) : BigInt(fillDeadline) - LONGEST_FILL_SECONDS
  const { from, to } = await fillWindow(reader, head, { earliest, latest: BigInt(fillDeadline) })
  const found = findFill(await reader.logs({ address: pool, topics }, from, to), pool, deposit)
  if (!found) return undefined

  const { transactionHash, blockNumber } = found
  const [receipt, block] = await reader.request([receiptRequest(transactionHash), blockRequest(blockNumber)])
  const filled = parseFill(reader, deposit, receipt)
  // Not where it was a moment ago: the chain is being reorganised.
  if (filled?.fill.blockNumber !== blockNumber) return undefined
  return { ...filled, at: dateOf(parseResult(BlockHeader, block).timestamp) }
}

/**
 * The blocks in which a fill must be: up to the head for a young deposit. For an old one that would be more blocks than
 * nodes let be searched, so the blocks of its times are looked up, at two round trips more or a few.
 */
async function fillWindow(
  reader: ChainReader,
  head: BlockHeader,
  { earliest, latest }: { earliest: bigint; latest: bigint },
): Promise<{ from: bigint; to: bigint }> {
  if (head.timestamp < latest + OLD_SECONDS) return { from: blockAt(reader, head, earliest), to: head.number }
  const [from, to] = await Promise.all([findBlock(reader, head, earliest), findBlock(reader, head, latest)])
  const margin = MARGIN_BLOCKS + BigInt(Math.ceil(Number(2n * NEAR_SECONDS) / reader.chain.blockSeconds))
  return { from: from > margin ? from - margin : 0n, to: to + margin < head.number ? to + margin : head.number }
}

/** A block within half an hour of this time, by the pace between the blocks looked at so far. */
async function findBlock(reader: ChainReader, head: BlockHeader, time: bigint): Promise<bigint> {
  let known = head
  let pace = reader.chain.blockSeconds
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const guess = known.number + BigInt(Math.round(Number(time - known.timestamp) / pace))
    const number = guess < 0n ? 0n : guess < head.number ? guess : head.number
    const [outcome] = await reader.request([blockRequest(number)])
    const block = parseResult(BlockHeader, outcome)
    const away = block.timestamp > time ? block.timestamp - time : time - block.timestamp
    if (away <= NEAR_SECONDS || block.number === known.number) return block.number
    pace = Number(block.timestamp - known.timestamp) / Number(block.number - known.number) || pace
    known = block
  }
  return known.number
}

/** The fill in a receipt and what it led to, undefined where there is no receipt or no such fill in it. */
function parseFill(reader: ChainReader, deposit: BridgeDeposit, outcome: RpcOutcome | undefined) {
  const { pool, multicallHandler: handler } = bridgeOf(reader)
  const receipt = parseResult(Receipt.nullable(), outcome)
  const fill = receipt && findFill(receipt.logs, pool, deposit)
  return fill ? { fill, outcome: parseFillOutcome(receipt.logs, { pool, handler, fill, deposit }) } : undefined
}

/** The pool's refund of at least the deposit to the depositor, after the deposit expired. */
async function searchRefund(
  reader: ChainReader,
  deposit: BridgeDeposit,
  head: BlockHeader,
): Promise<{ isFinal: boolean } | undefined> {
  const { pool } = bridgeOf(reader)
  const { inputToken, inputAmount, depositor, fillDeadline } = deposit.relayData
  const filter = { address: addressIn(inputToken), topics: [TRANSFER_EVENT, pad(pool), depositor] }
  const transfers = await reader.logs(filter, blockAt(reader, head, BigInt(fillDeadline)), head.number)
  const payments = transfers.filter(({ data }) => size(data) === 32 && BigInt(data) >= inputAmount)
  if (payments.length === 0) return undefined

  // The pool pays for other reasons too, and the blocks read begin before the deadline.
  const requests = payments.flatMap((payment) => [
    receiptRequest(payment.transactionHash),
    blockRequest(payment.blockNumber),
  ])
  const outcomes = await reader.request(requests)
  for (const [index, { blockNumber }] of payments.entries()) {
    const receipt = parseResult(Receipt.nullable(), outcomes[2 * index])
    const { timestamp } = parseResult(BlockHeader, outcomes[2 * index + 1])
    if (receipt && timestamp > BigInt(fillDeadline) && paysBack(receipt.logs, pool, deposit)) {
      return { isFinal: isDeep(reader, blockNumber, head) }
    }
  }
  return undefined
}

/** A block surely not after this time, in seconds since 1970, told by the chain's usual pace. */
function blockAt({ chain }: ChainReader, head: BlockHeader, time: bigint): bigint {
  const elapsed = head.timestamp > time ? Number(head.timestamp - time) : 0
  const blocks = BigInt(Math.ceil(elapsed / chain.blockSeconds))
  const block = head.number - (blocks * (100n + PACE_MARGIN_PERCENT)) / 100n - MARGIN_BLOCKS
  return block > 0n ? block : 0n
}

function isDeep({ chain }: ChainReader, blockNumber: bigint, head: BlockHeader): boolean {
  return head.number - blockNumber >= BigInt(chain.finalityBlocks)
}

function bridgeOf({ chain }: ChainReader) {
  if (!chain.bridge) throw new AppError('internal', { cause: new Error(`There is no bridge on chain ${chain.id}.`) })
  return chain.bridge
}

type Outcome = Pick<TransferStatus, 'status' | 'statusDescription' | 'reason' | 'terminal' | 'nextPollAfterMs'>

const PENDING: Outcome = {
  status: 'pending',
  statusDescription: 'Transaction submitted, waiting to be mined.',
  reason: null,
  terminal: false,
  nextPollAfterMs: 3_000,
}
const BRIDGING: Outcome = {
  status: 'bridging',
  statusDescription: 'The bridge is processing the cross-chain transfer.',
  reason: null,
  terminal: false,
  nextPollAfterMs: 3_000,
}
const SLOWLY_BRIDGING: Outcome = {
  ...BRIDGING,
  statusDescription: 'The bridge is processing the cross-chain transfer the slow way, which can take hours.',
  nextPollAfterMs: 60_000,
}
const COMPLETED: Outcome = {
  status: 'completed',
  statusDescription: 'Funds delivered to the destination and deposited.',
  reason: null,
  terminal: true,
  nextPollAfterMs: null,
}
const FAILURES: Record<NonNullable<TransferStatus['reason']>, Outcome> = {
  source_reverted: failure('source_reverted', 'The source transaction reverted; nothing was sent.'),
  no_deposit_in_transaction: failure(
    'no_deposit_in_transaction',
    'The source transaction holds no deposit into the bridge.',
  ),
  expired: {
    ...failure('expired', 'Nobody filled the transfer in time; it will be refunded on the source chain within hours.'),
    terminal: false,
    nextPollAfterMs: 600_000,
  },
  refunded: failure('refunded', 'Nobody filled the transfer in time; it was refunded on the source chain.'),
  destination_action_failed: failure(
    'destination_action_failed',
    'The vault did not take the deposit; the tokens were sent to the user on the destination chain.',
  ),
}

function failure(reason: NonNullable<TransferStatus['reason']>, statusDescription: string): Outcome {
  return { status: 'failed', statusDescription, reason, terminal: true, nextPollAfterMs: null }
}

function pending(key: TransferKey): TransferStatus {
  return { ...about(key), ...PENDING }
}

function failed(key: TransferKey, reason: 'source_reverted' | 'no_deposit_in_transaction'): TransferStatus {
  return { ...about(key), ...FAILURES[reason] }
}

function delivered(known: Omit<TransferStatus, keyof Outcome>, { fill, outcome, at }: Filled): TransferStatus {
  const completed = outcome.status === 'completed'
  return {
    ...known,
    ...(completed ? COMPLETED : FAILURES.destination_action_failed),
    outputAmount: completed ? fill.outputAmount : (outcome.returned ?? null),
    timestamps: { ...known.timestamps, bridged: at, completed: completed ? at : null },
    transactions: { ...known.transactions, fill: fill.transactionHash },
  }
}

/** What is known of a transfer whatever became of it. */
function about(key: TransferKey, deposit?: BridgeDeposit): Omit<TransferStatus, keyof Outcome> {
  return {
    depositId: key.transactionHash,
    srcChain: namedChain(key.sourceChainId) ?? { id: key.sourceChainId, name: 'unknown' },
    dstChain: deposit ? namedChain(deposit.destinationChainId) : null,
    inputAmount: deposit?.relayData.inputAmount ?? null,
    outputAmount: null,
    timestamps: { initiated: null, bridged: null, completed: null },
    transactions: { source: key.transactionHash, fill: null },
  }
}

function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 })
}

function dateOf(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000)
}

function secondsOf(date: Date): bigint {
  return BigInt(Math.floor(date.getTime() / 1000))
}
