import { type Address, type Hash, isAddressEqual, numberToHex, toEventSelector } from 'viem'
import * as z from 'zod'
import { buildCall, requireValue } from '../chain/call.ts'
import { type ChainFinality, finalityRequests, parseFinality } from '../chain/finality.ts'
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
import { min } from '../core/bigint.ts'
import { Address as AddressText, TransactionHash } from '../core/codecs.ts'
import { badResponse } from '../core/errors.ts'
import { DAY_SECONDS, HOUR_SECONDS, toSeconds } from '../core/time.ts'
import { erc4337EntryPointAbi, poolAbi } from './abi.ts'
import {
  hashRelay,
  type LoggedDeposit,
  POOL_TOPICS,
  parseDeposits,
  parseEvents,
  parseTerms,
  pickTerms,
  toAddress,
  toWord,
} from './events.ts'
import { findFinalBlock, getBridge, type Poll, parseReceipt, readTime, recordHead } from './poll.ts'
import type { Terms } from './quote.ts'
import { readNextEvents } from './search.ts'
import type { LogSearch, Outcome, SourceHashRecord, Transfer } from './transfer.ts'

/** Deposit as read from its transaction; these properties begin the stored record of a transfer. */
export type DepositRecord = Pick<Transfer, 'deposit' | 'events' | 'blockNumber' | 'isFinal' | 'evidence'>

/**
 * Bridge deposits that a transaction hash leads to now, or an outcome without a deposit. Both are undefined if deposits
 * seen earlier are no longer on the chain.
 */
export type SourceResult = {
  readonly deposits?: readonly DepositRecord[]
  readonly outcome?: Outcome
  readonly isFinal: boolean
  /** New record of the hash to store; undefined if the nodes do not know the hash. */
  readonly sent: SourceHashRecord | undefined
}

/**
 * Source chain and hash of a transaction or user operation whose bridge deposits are wanted. `account` and `index`
 * select one of several deposits.
 */
export type SourceRequest = {
  readonly sourceChainId: number
  readonly hash: Hash
  readonly account?: Address | undefined
  readonly index: number
}

/** Addresses of the ERC-4337 entry points, versions 0.6 to 0.9. They are the same on every chain. */
const ENTRY_POINTS: readonly Address[] = [
  '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
  '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
  '0x433709009B8330FDa32311DF1C2AFA402eD8D009',
]
/** Maximum number of bridge deposits per transaction that can be requested; their indices are 0 to 49. */
const MAX_DEPOSITS = 50
const USER_OPERATION = toEventSelector(erc4337EntryPointAbi[0])
/** Seconds of recent blocks that are searched for a user operation. An older operation can be found only by its transaction hash. */
const OPERATION_SECONDS = HOUR_SECONDS
/** Age of a quote, in seconds, above which no pool accepts the quote. The pool's own limit is an hour; a day is certainly enough. */
const MAX_QUOTE_AGE_SECONDS = DAY_SECONDS
/** Maximum seconds by which a deposit's block time may be before the time of its quote, because clocks differ. */
const SKEW_SECONDS = HOUR_SECONDS

/**
 * Reads the bridge deposits of the transaction or user operation (ERC-4337) with this hash. If it has vanished from the
 * chain, another transaction may contain the same deposit. This function then searches the depositor's deposits since
 * the time of that deposit's quote. Throws `upstream_*`.
 */
export async function readSourceDeposits(
  poll: Poll,
  question: SourceRequest,
  recorded: SourceHashRecord | undefined,
): Promise<SourceResult> {
  const { sourceChainId, hash } = question
  const source = poll.getReader(sourceChainId)
  const carrier = recorded?.carrier ?? hash
  // The first poll does not read which blocks are final, so that more calls are left to read the fill.
  const requests = recorded ? finalityRequests(source.chain) : [blockRequest('latest')]
  const isSeen = recorded?.deposits.some((deposit) => deposit.relayHash) === true
  const outcomes = await poll.budget.ask(source, [
    receiptRequest(carrier),
    ...(isSeen ? [] : [transactionRequest(hash)]),
    ...requests,
  ])
  recordHead(poll, source, outcomes.at(-1))
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

/**
 * Lists the deposits of a hash's record that a request asks for: those of the user operation's account or of the
 * requested account, or all.
 */
export function listRequestedDeposits(
  sent: SourceHashRecord | undefined,
  { account }: Pick<SourceRequest, 'account'>,
): SourceHashRecord['deposits'] {
  const depositor = sent?.account ?? account
  return (sent?.deposits ?? []).filter((one) => !depositor || isAddressEqual(one.depositor, depositor))
}

type Mined = {
  readonly receipt: Receipt
  readonly finality?: ChainFinality | undefined
  readonly sent: SourceHashRecord | undefined
  readonly sender?: SourceHashRecord['sender']
}

async function readReceipt(
  poll: Poll,
  question: SourceRequest,
  { receipt, finality, sent, sender }: Mined,
): Promise<SourceResult> {
  const source = poll.getReader(question.sourceChainId)
  const account = sent?.account ?? question.account
  const logs = sent?.carrier ? findOwnLogs(receipt, question.hash) : receipt.logs
  const all = receipt.status === 'success' ? parseDeposits(logs, getBridge(source).pool, source.chain.id) : []
  const chosen = all
    .filter(({ deposit }) => !account || isAddressEqual(toAddress(deposit.relayData.depositor), account))
    .slice(0, MAX_DEPOSITS)
  const [first] = chosen
  if (account && !first && receipt.status === 'success') {
    const operations = parseOperations(receipt, account)
    // The transaction contains a user operation of the account, or only deposits of other accounts. A later poll may
    // still find a deposit of the account, so the outcome is not final.
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
  const seen = all
    .slice(0, MAX_DEPOSITS)
    .map(({ deposit }) => ({ ...pickTerms(deposit), relayHash: hashRelay(deposit) }))
  return {
    deposits: chosen.map((one) => buildDepositRecord(source, one, { at, isFinal, evidence })),
    isFinal,
    sent: { ...(sender && { sender }), ...sent, deposits: seen, isFinal },
  }
}

/** Builds the beginning of a transfer's record from a deposit and the log of its event. */
export function buildDepositRecord(
  { chain }: ChainReader,
  { deposit, log }: LoggedDeposit,
  { at, isFinal, evidence }: { readonly at: Date; readonly isFinal: boolean; readonly evidence?: Transfer['evidence'] },
): DepositRecord {
  const { depositor, inputToken, inputAmount: amount } = deposit.relayData
  const place = { chainId: chain.id, txHash: log.transactionHash, logIndex: log.logIndex, at }
  const what = { amount, token: toAddress(inputToken), account: toAddress(depositor), vaultAddress: null, shares: null }
  return {
    ...{ deposit, blockNumber: log.blockNumber, isFinal, ...(evidence && { evidence }) },
    events: [{ kind: 'deposited', ...place, ...what }],
  }
}

/** Returns the logs of a user operation in a bundle. They lie between the event of the previous operation and the operation's own event. */
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
    parseEvents(erc4337EntryPointAbi, logs, address).flatMap(({ event: { args } }) =>
      isAddressEqual(args.sender, account) ? [args] : [],
    ),
  )
}

async function readFailed(
  poll: Poll,
  { sourceChainId }: SourceRequest,
  receipt: Receipt,
  sent: SourceHashRecord | undefined,
): Promise<SourceResult> {
  const { status, blockNumber } = receipt
  const source = poll.getReader(sourceChainId)
  const outcomes = await poll.budget.ask(source, [blockRequest(blockNumber), ...finalityRequests(source.chain)])
  const finality = parseFinality(source.chain, outcomes.slice(1))
  const { timestamp } = parseResult(HashedHeader, outcomes[0])
  const isFinal = finality.isFinal({ number: blockNumber, timestamp })
  return { outcome: status === 'success' ? 'no_deposit_in_transaction' : 'source_reverted', isFinal, sent }
}

/** Searches for a user operation with this hash, in as many recent blocks as a node returns in one call. */
async function readUserOperation(poll: Poll, question: SourceRequest, head: BlockHeader): Promise<SourceResult> {
  const source = poll.getReader(question.sourceChainId)
  const unknown: SourceResult = { outcome: 'pending', isFinal: false, sent: undefined }
  const filters = [{ address: ENTRY_POINTS, topics: [USER_OPERATION, question.hash] }]
  const options = { filters, head, since: head.timestamp - OPERATION_SECONDS, reserved: 1, hasRead: true }
  const { logs } = await readNextEvents(source, poll.budget, undefined, options)
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
 * Reads the state of a transaction that the nodes no longer know. Searches for another transaction with the same
 * deposit. The transaction counts as dropped once final blocks rule its deposit out. Its nonce was then used by
 * another transaction, or its quote has become too old for the pool.
 */
async function readGone(
  poll: Poll,
  question: SourceRequest,
  { sent, finality }: { readonly sent: SourceHashRecord; readonly finality: ChainFinality | undefined },
): Promise<SourceResult> {
  const { sourceChainId, hash, index } = question
  const source = poll.getReader(sourceChainId)
  const unchanged: SourceResult = { isFinal: false, sent }
  const terms = listRequestedDeposits(sent, question)[index]
  if (!terms || !finality) return unchanged
  const { pool } = getBridge(source)
  const { head } = finality
  const filters = [{ address: pool, topics: [POOL_TOPICS.deposited, null, null, toWord(terms.depositor)] }]
  const since = BigInt(terms.quotedAt) - SKEW_SECONDS
  const options = { filters, head, since, reserved: 1, hasRead: true }
  const { logs, search, progress } = await readNextEvents(source, poll.budget, terms.search, options)
  const same = parseDeposits(logs.flat(), pool, source.chain.id).filter(
    ({ deposit }) => pickTerms(deposit).hash === terms.hash,
  )
  const own = same.find(({ deposit }) => hashRelay(deposit) === terms.relayHash)
  // The node has the event of the deposit but not yet the receipt, so the next poll reads the receipt.
  if (own && own.log.transactionHash === (sent.carrier ?? hash)) return unchanged
  const isRead = progress === 'complete' || search?.low === 0n
  const matching = own ?? (await findReplacement(poll, source, sent, same))
  const isDropped = !matching && isRead && (await isImpossible(poll, source, { sent, terms, finality }))
  // Another transaction with the same terms replaces the requested transaction once the latter can no longer be mined.
  const other = matching ?? (isDropped ? same[0] : undefined)
  if (other) {
    if (other.log.blockTimestamp === undefined && !poll.budget.reaches(1)) return unchanged
    const { blockNumber } = other.log
    const at = await readTime(poll, source, [other.log], blockNumber)
    const isFinal = finality.isFinal({ number: blockNumber, timestamp: toSeconds(at) })
    const seen = { ...pickTerms(other.deposit), relayHash: hashRelay(other.deposit) }
    return {
      deposits: [buildDepositRecord(source, other, { at, isFinal })],
      isFinal,
      // Until the other transaction is final, the requested one may still be mined. The record therefore keeps the
      // requested deposit.
      sent: isFinal ? withDeposit(sent, terms, seen) : sent,
    }
  }
  if (isDropped) {
    const dropped = withDeposit(sent, terms, { ...terms, dropped: [...poll.evidence.values()] })
    return { outcome: 'source_dropped', isFinal: true, sent: dropped }
  }
  // A node may lack events of its newest blocks, so a later poll reads these blocks again.
  const kept = same.length === 0 ? limitSearch(search, finality.tagged) : undefined
  const { search: _, ...others } = terms
  return { isFinal: false, sent: withDeposit(sent, terms, { ...others, ...(kept && { search: kept }) }) }
}

function limitSearch(search: LogSearch | undefined, last: BlockHeader | undefined): LogSearch | undefined {
  if (!search || !last || search.low > last.number) return undefined
  return { ...search, high: min(search.high, last.number) }
}

type SentDeposit = SourceHashRecord['deposits'][number]

function withDeposit(sent: SourceHashRecord, old: SentDeposit, deposit: SentDeposit): SourceHashRecord {
  return { ...sent, deposits: sent.deposits.map((one) => (one === old ? deposit : one)) }
}

/**
 * Finds the deposit of a transaction that replaces a vanished one. If the depositor sends its own transactions, the
 * replacement has the same nonce. For a smart account, any transaction may contain the replacement.
 */
async function findReplacement(
  { budget }: Poll,
  source: ChainReader,
  { sender }: SourceHashRecord,
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
    const transaction = parseTransaction(outcomes[index], requireValue(hashes[index]))
    return transaction && transaction.from === sender.address && Number(transaction.nonce) === sender.nonce
  })
}

async function isImpossible(
  poll: Poll,
  source: ChainReader,
  {
    sent,
    terms,
    finality,
  }: { readonly sent: SourceHashRecord; readonly terms: Terms; readonly finality: ChainFinality },
): Promise<boolean> {
  const { budget } = poll
  const final = await findFinalBlock(poll, source, finality)
  if (final.number === 0n || !budget.reaches(1)) return false
  const age = final.timestamp - BigInt(terms.quotedAt)
  // The sender's used nonce proves that the deposit is impossible only if the sender is the depositor. A bundler's
  // nonce does not show which user operations its bundles contained.
  if (sent.sender && isAddressEqual(sent.sender.address, terms.depositor)) {
    const { address, nonce } = sent.sender
    const params = [address, numberToHex(final.number)]
    const [count] = await budget.ask(source, [{ method: 'eth_getTransactionCount', params }])
    // Some nodes cannot read the nonce at a block that is some minutes old. Only the age of the quote then proves that
    // the deposit is impossible.
    const used = Quantity.safeParse(count && 'result' in count ? count.result : undefined).data
    return (used !== undefined && used > BigInt(nonce)) || age > MAX_QUOTE_AGE_SECONDS
  }
  const { to, data } = buildCall(getBridge(source).pool, poolAbi, 'depositQuoteTimeBuffer', [])
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

function parseTransaction(outcome: RpcOutcome | undefined, hash: Hash) {
  const parsed = parseResult(PoolTransaction.nullable(), outcome)
  if (parsed && parsed.hash !== hash) throw badResponse('another transaction')
  return parsed ?? undefined
}

/**
 * Builds the record of a transaction that is not mined yet; undefined unless it is a deposit into the pool. An attacker
 * could send any other transactions for free, and so fill the table.
 */
function parseSent(source: ChainReader, transaction: z.output<typeof PoolTransaction>): SourceHashRecord | undefined {
  const { to, input } = transaction
  const terms = to && isAddressEqual(to, getBridge(source).pool) ? parseTerms(input) : undefined
  return terms && { ...senderOf(transaction), deposits: [terms], isFinal: false }
}

function senderOf(transaction: z.output<typeof PoolTransaction> | undefined): Pick<SourceHashRecord, 'sender'> {
  return transaction ? { sender: { address: transaction.from, nonce: Number(transaction.nonce) } } : {}
}
