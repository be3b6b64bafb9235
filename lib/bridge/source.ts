import { type Address, type Hash, isAddressEqual, numberToHex, toEventSelector } from 'viem'
import * as z from 'zod'
import { min } from '../bigint.ts'
import { call, required } from '../chain/call.ts'
import { type Finality, finalityRequests, parseFinality } from '../chain/finality.ts'
import { HexText, Quantity } from '../chain/hex.ts'
import {
  type BlockHeader,
  blockRequest,
  HashedHeader,
  type Log,
  parseResult,
  type Receipt,
  receiptRequest,
} from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { Address as AddressText, TransactionHash } from '../codecs.ts'
import { badAnswer } from '../errors.ts'
import { DAY_SECONDS, HOUR_SECONDS, toSeconds } from '../time.ts'
import { entryPointAbi, poolAbi } from './abi.ts'
import {
  type LoggedDeposit,
  POOL_TOPICS,
  parseDeposits,
  parseEvents,
  parseTerms,
  relayHash,
  termsOf,
  toAddress,
  toWord,
} from './events.ts'
import { findFinalBlock, getBridge, noteHead, type Poll, parseReceipt, readTime } from './poll.ts'
import type { Terms } from './quote.ts'
import { stepBack } from './search.ts'
import type { LogSearch, Outcome, Sent, Transfer } from './transfer.ts'

/** A deposit as its transaction shows it: the beginning of a transfer's record. */
export type Deposited = Pick<Transfer, 'deposit' | 'events' | 'blockNumber' | 'isFinal' | 'evidence'>

/** Deposits that a hash leads to now, or an outcome without any; neither if the chain no longer has those that were seen. */
export type Sighting = {
  readonly deposits?: readonly Deposited[]
  readonly outcome?: Outcome
  readonly isFinal: boolean
  /** The new record of the hash; undefined for a hash that nobody has seen. */
  readonly sent: Sent | undefined
}

/** A hash on a chain, and the account and place of the deposit that the caller asks for. */
export type Question = {
  readonly sourceChainId: number
  readonly hash: Hash
  readonly account?: Address | undefined
  readonly index: number
}

/** ERC-4337 entry points of the versions 0.6 to 0.9, at the same addresses on every chain. */
const ENTRY_POINTS: readonly Address[] = [
  '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
  '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
  '0x433709009B8330FDa32311DF1C2AFA402eD8D009',
]
/** Deposits of one transaction that are told apart; their places are 0 to 49. */
const MAX_DEPOSITS = 50
const USER_OPERATION = toEventSelector(entryPointAbi[0])
/** A user operation that is not found in blocks of so many seconds is found by the hash of its transaction. */
const OPERATION_SECONDS = HOUR_SECONDS
/** The pool takes no quote that is so old: its own bound is an hour. */
const OLD_SECONDS = DAY_SECONDS
/** A deposit's block is not this much before its quote, whatever the clocks differ. */
const SKEW_SECONDS = HOUR_SECONDS

/**
 * Reads what a hash leads to: a transaction, or a user operation, whichever transaction includes it. If it is gone, the
 * depositor's deposits since the quote show whether another transaction made the same deposit. Throws `upstream_*`.
 */
export async function readSource(poll: Poll, question: Question, recorded: Sent | undefined): Promise<Sighting> {
  const { sourceChainId, hash } = question
  const source = poll.getReader(sourceChainId)
  const carrier = recorded?.carrier ?? hash
  // The first poll does not ask for finality: that leaves more calls for the fill.
  const requests = recorded ? finalityRequests(source.chain) : [blockRequest('latest')]
  const isSeen = recorded?.deposits.some((deposit) => deposit.relayHash) === true
  const outcomes = await poll.budget.ask(source, [
    receiptRequest(carrier),
    ...(isSeen ? [] : [transactionRequest(hash)]),
    ...requests,
  ])
  noteHead(poll, source, outcomes.at(-1))
  const receipt = parseReceipt(outcomes[0], carrier)
  const finality = recorded && parseFinality(source.chain, outcomes.slice(-2))
  const transaction = isSeen ? undefined : parseTransaction(outcomes[1], hash)
  const sent = recorded ?? (transaction && parseSent(source, transaction))
  if (receipt) return readReceipt(poll, question, { receipt, finality, sent, ...senderOf(transaction) })

  if (transaction) return { outcome: 'pending', isFinal: false, sent }
  if (sent?.carrier) {
    const again = await readUserOperation(poll, question, parseResult(HashedHeader, outcomes.at(-1)))
    if (again.deposits) return again
  }
  if (sent) return readGone(poll, question, { sent, finality })
  return readUserOperation(poll, question, parseResult(HashedHeader, outcomes.at(-1)))
}

/** The deposits of the account in the question, or all. */
export function choose<T>(deposits: readonly T[], depositorOf: (one: T) => Address, account: Address | undefined): T[] {
  return deposits.filter((deposit) => !account || isAddressEqual(depositorOf(deposit), account))
}

type Mined = {
  readonly receipt: Receipt
  readonly finality?: Finality | undefined
  readonly sent: Sent | undefined
  /** Known when the hash is asked for first. */
  readonly sender?: Sent['sender']
}

/** Reads the deposits of a mined transaction. */
async function readReceipt(
  poll: Poll,
  question: Question,
  { receipt, finality, sent, sender }: Mined,
): Promise<Sighting> {
  const source = poll.getReader(question.sourceChainId)
  const account = sent?.account ?? question.account
  const logs = sent?.carrier ? findOwnLogs(receipt, question.hash) : receipt.logs
  const all = receipt.status === 'success' ? parseDeposits(logs, getBridge(source).pool, source.chain.id) : []
  const chosen = choose(all, ({ deposit }) => toAddress(deposit.relayData.depositor), account).slice(0, MAX_DEPOSITS)
  const [first] = chosen
  if (account && !first && receipt.status === 'success') {
    const operations = parseOperations(receipt, account)
    // Others' transaction: the account may not be a part of it, or not yet.
    const isOthers = operations.length > 0 || all.length > 0
    if (isOthers)
      return {
        outcome: operations.some(({ success }) => !success) ? 'source_reverted' : 'pending',
        isFinal: false,
        sent,
      }
  }
  if (all.length === 0 || !first) return readFailed(poll, question, receipt, sent)
  const at = await readTime(poll, source, receipt.logs, receipt.blockNumber)
  const isFinal = finality?.isFinal({ number: receipt.blockNumber, timestamp: toSeconds(at) }) === true
  const evidence = isFinal ? poll.evidence.get(source.chain.id) : undefined
  const seen = all.slice(0, MAX_DEPOSITS).map(({ deposit }) => ({ ...termsOf(deposit), relayHash: relayHash(deposit) }))
  return {
    deposits: chosen.map((one) => toDeposited(source, one, { at, isFinal, evidence })),
    isFinal,
    sent: { ...(sender && { sender }), ...sent, deposits: seen, isFinal },
  }
}

/** The deposit of a log, as a transfer's record begins with it. */
export function toDeposited(
  { chain }: ChainReader,
  { deposit, log }: LoggedDeposit,
  { at, isFinal, evidence }: { readonly at: Date; readonly isFinal: boolean; readonly evidence?: Transfer['evidence'] },
): Deposited {
  const { depositor, inputToken, inputAmount: amount } = deposit.relayData
  const place = { chainId: chain.id, txHash: log.transactionHash, logIndex: log.logIndex, at }
  const what = { amount, token: toAddress(inputToken), account: toAddress(depositor), vaultAddress: null, shares: null }
  return {
    ...{ deposit, blockNumber: log.blockNumber, isFinal, ...(evidence && { evidence }) },
    events: [{ kind: 'deposited', ...place, ...what }],
  }
}

/** The logs of a user operation: those between the event of the one before it in the bundle and its own. */
function findOwnLogs({ logs }: Receipt, userOpHash: Hash): readonly Log[] {
  const ends = logs.filter(({ address, topics }) => isEntryPoint(address) && topics[0] === USER_OPERATION)
  const index = ends.findIndex(({ topics }) => topics[1] === userOpHash)
  const [before, own] = [ends[index - 1]?.logIndex ?? -1, ends[index]?.logIndex ?? -1]
  return logs.filter(({ logIndex }) => logIndex > before && logIndex < own)
}

function isEntryPoint(address: Address): boolean {
  return ENTRY_POINTS.some((one) => isAddressEqual(one, address))
}

function parseOperations({ logs }: Receipt, account: Address) {
  return ENTRY_POINTS.flatMap((address) =>
    parseEvents(entryPointAbi, logs, address).flatMap(({ event: { args } }) =>
      isAddressEqual(args.sender, account) ? [args] : [],
    ),
  )
}

/** The outcome of a source transaction without deposits. */
async function readFailed(
  poll: Poll,
  { sourceChainId }: Question,
  receipt: Receipt,
  sent: Sent | undefined,
): Promise<Sighting> {
  const { status, blockNumber } = receipt
  const source = poll.getReader(sourceChainId)
  const outcomes = await poll.budget.ask(source, [blockRequest(blockNumber), ...finalityRequests(source.chain)])
  const finality = parseFinality(source.chain, outcomes.slice(1))
  const { timestamp } = parseResult(HashedHeader, outcomes[0])
  const isFinal = finality.isFinal({ number: blockNumber, timestamp })
  return { outcome: status === 'success' ? 'no_deposit_in_transaction' : 'source_reverted', isFinal, sent }
}

/** Looks for a user operation with this hash, in the blocks of one call. */
async function readUserOperation(poll: Poll, question: Question, head: BlockHeader): Promise<Sighting> {
  const source = poll.getReader(question.sourceChainId)
  const unknown: Sighting = { outcome: 'pending', isFinal: false, sent: undefined }
  const filters = [{ address: ENTRY_POINTS, topics: [USER_OPERATION, question.hash] }]
  const options = { filters, head, since: head.timestamp - OPERATION_SECONDS, reserved: 1, hasRead: true }
  const { logs } = await stepBack(source, poll.budget, undefined, options)
  const log = logs.flat()[0]
  const account = log?.topics[2] && toAddress(log.topics[2])
  if (!log || !account || !poll.budget.reaches(2)) return unknown
  const carrier = log.transactionHash
  const [outcome] = await poll.budget.ask(source, [receiptRequest(carrier)])
  const receipt = parseReceipt(outcome, carrier)
  if (!receipt) return unknown
  return readReceipt(poll, question, { receipt, sent: { carrier, account, deposits: [], isFinal: false } })
}

/**
 * Reads what became of a hash that the nodes no longer know: whether another transaction of the depositor made the same deposit.
 * It is dropped once that is impossible by final blocks: its nonce is used, or the pool no longer takes the quote.
 */
async function readGone(
  poll: Poll,
  { sourceChainId, hash, account, index }: Question,
  { sent, finality }: { readonly sent: Sent; readonly finality: Finality | undefined },
): Promise<Sighting> {
  const source = poll.getReader(sourceChainId)
  const unchanged: Sighting = { isFinal: false, sent }
  const terms = choose(sent.deposits, ({ depositor }) => depositor, sent.account ?? account)[index]
  if (!terms || !finality) return unchanged
  const { pool } = getBridge(source)
  const { head } = finality
  const filters = [{ address: pool, topics: [POOL_TOPICS.deposited, null, null, toWord(terms.depositor)] }]
  const since = BigInt(terms.quotedAt) - SKEW_SECONDS
  const options = { filters, head, since, reserved: 1, hasRead: true }
  const { logs, search, progress } = await stepBack(source, poll.budget, terms.search, options)
  const same = parseDeposits(logs.flat(), pool, source.chain.id).filter(
    ({ deposit }) => termsOf(deposit).hash === terms.hash,
  )
  const own = same.find(({ deposit }) => relayHash(deposit) === terms.relayHash)
  // A node's events are ahead of its receipts.
  if (own && own.log.transactionHash === (sent.carrier ?? hash)) return unchanged
  const isRead = progress === 'complete' || search?.low === 0n
  const matching = own ?? (await findReplacement(poll, source, sent, same))
  const isDropped = !matching && isRead && (await isImpossible(poll, source, { sent, terms, finality }))
  // Once the hash can no longer be mined, another transaction with the same terms stands for it.
  const other = matching ?? (isDropped ? same[0] : undefined)
  if (other) {
    if (other.log.blockTimestamp === undefined && !poll.budget.reaches(1)) return unchanged
    const { blockNumber } = other.log
    const at = await readTime(poll, source, [other.log], blockNumber)
    const isFinal = finality.isFinal({ number: blockNumber, timestamp: toSeconds(at) })
    const seen = { ...termsOf(other.deposit), relayHash: relayHash(other.deposit) }
    return {
      deposits: [toDeposited(source, other, { at, isFinal })],
      isFinal,
      // Until it is final the hash itself may be mined.
      sent: isFinal ? withDeposit(sent, terms, seen) : sent,
    }
  }
  if (isDropped) {
    const dropped = withDeposit(sent, terms, { ...terms, dropped: [...poll.evidence.values()] })
    return { outcome: 'source_dropped', isFinal: true, sent: dropped }
  }
  // A node may not have the events of its newest blocks yet.
  const kept = same.length === 0 ? upTo(search, finality.tagged) : undefined
  const { search: _, ...others } = terms
  return { isFinal: false, sent: withDeposit(sent, terms, { ...others, ...(kept && { search: kept }) }) }
}

/** The search without the blocks after this one; undefined if nothing is left. */
function upTo(search: LogSearch | undefined, last: BlockHeader | undefined): LogSearch | undefined {
  if (!search || !last || search.low > last.number) return undefined
  return { ...search, high: min(search.high, last.number) }
}

type SentDeposit = Sent['deposits'][number]

function withDeposit(sent: Sent, old: SentDeposit, deposit: SentDeposit): Sent {
  return { ...sent, deposits: sent.deposits.map((one) => (one === old ? deposit : one)) }
}

/**
 * The deposit that a transaction made in place of one that is gone. Of an account that sends its own transactions it has the same
 * nonce; an operation of a smart account may be in any bundle.
 */
async function findReplacement(
  { budget }: Poll,
  source: ChainReader,
  { sender }: Sent,
  same: readonly LoggedDeposit[],
): Promise<LoggedDeposit | undefined> {
  const [first] = same
  if (!first || !sender) return undefined
  if (!isAddressEqual(sender.address, toAddress(first.deposit.relayData.depositor))) return first
  const candidates = same.slice(0, budget.left(1))
  if (candidates.length === 0) return undefined
  const hashes = candidates.map(({ log }) => log.transactionHash)
  const outcomes = await budget.ask(source, hashes.map(transactionRequest))
  return candidates.find((_, index) => {
    const transaction = parseTransaction(outcomes[index], required(hashes[index]))
    return transaction && transaction.from === sender.address && Number(transaction.nonce) === sender.nonce
  })
}

/** True if final blocks rule out that a deposit with these terms is still made: by the nonce, or by the age of the quote. */
async function isImpossible(
  poll: Poll,
  source: ChainReader,
  { sent, terms, finality }: { readonly sent: Sent; readonly terms: Terms; readonly finality: Finality },
): Promise<boolean> {
  const { budget } = poll
  const final = await findFinalBlock(poll, source, finality)
  if (final.number === 0n || !budget.reaches(1)) return false
  const age = final.timestamp - BigInt(terms.quotedAt)
  // A bundler's nonce says nothing of the operations in its bundles.
  if (sent.sender && isAddressEqual(sent.sender.address, terms.depositor)) {
    const { address, nonce } = sent.sender
    const params = [address, numberToHex(final.number)]
    const [count] = await budget.ask(source, [{ method: 'eth_getTransactionCount', params }])
    // Not all nodes keep the state of a block that is some minutes old.
    const used = Quantity.safeParse(count && 'result' in count ? count.result : undefined).data
    return (used !== undefined && used > BigInt(nonce)) || age > OLD_SECONDS
  }
  const { to, data } = call(getBridge(source).pool, poolAbi, 'depositQuoteTimeBuffer', [])
  const [buffer] = await budget.ask(source, [{ method: 'eth_call', params: [{ to, data }, 'latest'] }])
  return age > parseResult(Quantity, buffer)
}

const PoolTransaction = z.object({
  hash: TransactionHash,
  from: AddressText,
  to: AddressText.nullish(),
  nonce: Quantity.pipe(z.bigint().max(2n ** 53n)),
  input: HexText,
})

function transactionRequest(hash: Hash): RpcRequest {
  return { method: 'eth_getTransactionByHash', params: [hash] }
}

/** A transaction that waits to be mined; undefined if the node does not know it. */
function parseTransaction(outcome: RpcOutcome | undefined, hash: Hash) {
  const parsed = parseResult(PoolTransaction.nullable(), outcome)
  if (parsed && parsed.hash !== hash) throw badAnswer('another transaction')
  return parsed ?? undefined
}

/** The record of a waiting transaction; only of a deposit into the pool, because others cost a stranger nothing. */
function parseSent(source: ChainReader, transaction: z.output<typeof PoolTransaction>): Sent | undefined {
  const { to, input } = transaction
  const terms = to && isAddressEqual(to, getBridge(source).pool) ? parseTerms(input) : undefined
  return terms && { ...senderOf(transaction), deposits: [terms], isFinal: false }
}

function senderOf(transaction: z.output<typeof PoolTransaction> | undefined): Pick<Sent, 'sender'> {
  return transaction ? { sender: { address: transaction.from, nonce: Number(transaction.nonce) } } : {}
}
