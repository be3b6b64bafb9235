import { isDeepStrictEqual } from 'node:util'
import { requireValue } from '../chain/call.ts'
import type { Evidence } from '../chain/evidence.ts'
import type { ChainReader } from '../chain/reader.ts'
import { toResult } from '../core/result.ts'
import type { DepositLocation } from '../protocols/ledger-entry.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { HintFetcher } from './across.ts'
import type { DepositSource } from './deposit-source.ts'
import { hashRelay, pickTerms } from './events.ts'
import { readBridgedTransfer } from './fill.ts'
import { buildPollResult, createBudget, type Poll, type PollResult } from './poll.ts'
import type { QuotesStore } from './quote-store.ts'
import {
  type DepositRecord,
  listRequestedDeposits,
  readSourceDeposits,
  type SourceRequest,
  type SourceResult,
} from './source.ts'
import type { TransfersStore } from './store.ts'
import { addEnding, buildEmptyStatus, deriveOutcome, describeTransfer, getTarget } from './timeline.ts'
import type { RecordedTransfer, SourceHashRecord, Transfer, TransferKey, TransferStatus } from './transfer.ts'

/** Services that the reading of transfers needs: chain readers, stores and the bridge's API. */
export type TransferServices = {
  readonly getReader: (chainId: number) => ChainReader
  readonly fetchHint: HintFetcher
  readonly transfers: Omit<TransfersStore, 'listDue' | 'postpone'>
  readonly quotes: Pick<QuotesStore, 'getMany'>
  readonly depositSources: { record(deposit: DepositLocation, source: DepositSource): Promise<void> }
}

/** Function that returns when the scheduled job refresh-chain reads a transfer next; undefined for never. */
type ScheduleNextRead = (keep: Transfer, recorded: Transfer | undefined) => Date | undefined

type ReadByHash = {
  readonly statuses: readonly [TransferStatus, ...TransferStatus[]]
  /** Vault that each transfer ends in; undefined for a transfer without a vault deposit. */
  readonly targets: readonly (VaultKey | undefined)[]
  readonly evidence: readonly Evidence[]
}

/** Returns the vault of a transfer, from its quote or its message; undefined if neither names a vault. */
export function findTransferVault(transfer: Pick<Transfer, 'deposit' | 'quote'>): VaultKey | undefined {
  return transfer.quote?.vault ?? getTarget(transfer)
}

type StartedTransfer = {
  readonly key: TransferKey
  readonly recorded: Transfer | undefined
  readonly transfer: Transfer
}

/**
 * Reads the transfers that began in the transaction or user operation with this hash, and stores them. Sends each RPC
 * host at most 8 calls in 6 requests; none if all stored results are final. A search that needs more calls continues
 * when this function is called again. Throws `upstream_*`. Throws `nodes_disagree` or `second_node_silent` if the
 * readers compare two hosts.
 */
export async function readTransfersByHash(
  services: TransferServices,
  question: SourceRequest,
  lookAt: ScheduleNextRead,
  { isRecorded = true } = {},
): Promise<ReadByHash> {
  const { transfers } = services
  const { sourceChainId, hash, index } = question
  const sent = await transfers.getSent(question)
  const poll = { ...services, budget: createBudget(), evidence: new Map<number, Evidence>(), isRecorded }
  const known = await transfers.getMany(listTransferKeys(question, sent))
  const sighting = await readSighting(poll, question, sent, known)
  if (isRecorded && sighting.sent && !isDeepStrictEqual(sighting.sent, sent)) {
    await transfers.recordSent(question, sighting.sent)
  }
  const deposits = sighting.outcome ? [] : (sighting.deposits ?? known.map(({ recorded }) => recorded))
  if (!deposits[index]) {
    const outcome = sighting.outcome ?? (deposits.length > 0 ? 'no_deposit_with_index' : 'pending')
    const status = buildEmptyStatus(sourceChainId, hash, outcome, isRecorded && sighting.isFinal)
    return {
      statuses: [status],
      targets: [undefined],
      evidence: listEvidence(poll, listRequestedDeposits(sighting.sent, question)[index]?.dropped),
    }
  }

  const begun = await beginAll(services, sourceChainId, deposits, known)
  // The requested transfer is read first. The hash's other transfers get the rest of the budget.
  const [first, ...others] = [requireValue(begun[index]), ...begun.toSpliced(index, 1)]
  const read = async ({ key, recorded, transfer }: StartedTransfer): Promise<PollResult> => {
    const seen = await readNow(poll, transfer)
    if (!isRecorded) return { ...seen, isFinal: false }
    return record(services, poll, { key, recorded, seen, lookAt })
  }
  const ends = [await read(first)]
  for (const other of others) {
    const result = await toResult(read(other))
    ends.push('value' in result ? result.value : buildRecordedResult(other.transfer))
  }
  const isOperation = sighting.sent?.account !== undefined
  const statuses = ends.map(({ keep, outcome, isFinal }) => {
    const status = describeTransfer(keep, outcome, isFinal)
    const { source } = status.transactions
    return { ...status, depositId: hash, replacedBy: source === hash || isOperation ? null : source }
  })
  return {
    // The cast holds: the requested deposit always has a status, so the list is not empty.
    statuses: statuses as [TransferStatus, ...TransferStatus[]],
    targets: ends.map(({ keep }) => findTarget(keep)),
    evidence: listEvidence(poll, ends[0]?.keep.finalEvidence),
  }
}

/**
 * Reads a stored transfer for the scheduled job refresh-chain, and stores the result. Deletes the record and returns
 * undefined if a deposit with the same terms, in another transaction, replaced the stored deposit. Throws as
 * `readTransfersByHash` does, and `internal` if `budget` is too small.
 */
export async function readTransfer(
  services: TransferServices,
  { key, recorded }: RecordedTransfer,
  lookAt: ScheduleNextRead,
  budget = createBudget(),
): Promise<PollResult | undefined> {
  const poll = { ...services, budget, evidence: new Map<number, Evidence>(), isRecorded: true }
  const read = await toResult(readRecorded(poll, { key, recorded }))
  // A failed read also postpones the transfer's next read, so that one transfer cannot block others.
  const seen = 'value' in read ? read.value : buildRecordedResult(recorded)
  if (seen === 'replaced') {
    await services.transfers.forget(key)
    return undefined
  }
  const kept = await record(services, poll, { key, recorded, seen, lookAt })
  if ('error' in read) throw read.error
  return kept
}

async function readSighting(
  poll: Poll,
  question: SourceRequest,
  sent: SourceHashRecord | undefined,
  known: readonly RecordedTransfer[],
): Promise<SourceResult> {
  const chosen = listRequestedDeposits(sent, question)
  if (chosen[question.index]?.dropped) return { outcome: 'source_dropped', isFinal: true, sent }
  const isKnown = known.length > 0 && known.length === chosen.length
  if (isKnown && known.every(({ recorded }) => isSourceRead(recorded))) return { isFinal: true, sent }
  return readSourceDeposits(poll, question, sent)
}

/**
 * Returns true if the source chain need not be read for this transfer. Either its deposit is final, or the search for
 * its fill needs all calls.
 */
function isSourceRead({ isFinal, fillSearch }: Transfer): boolean {
  return isFinal || fillSearch !== undefined
}

function listTransferKeys(question: SourceRequest, sent: SourceHashRecord | undefined): TransferKey[] {
  const { sourceChainId } = question
  return listRequestedDeposits(sent, question).flatMap(({ depositor, relayHash }) =>
    relayHash ? [{ sourceChainId, depositor, relayHash }] : [],
  )
}

/**
 * Returns the transfers that these deposits begin. A transfer with a stored record continues from that record. A new
 * transfer gets the quote that the API returned for the same terms, if any.
 */
async function beginAll(
  { transfers, quotes }: TransferServices,
  sourceChainId: number,
  deposits: readonly DepositRecord[],
  known: readonly RecordedTransfer[],
): Promise<StartedTransfer[]> {
  const records = new Map(known.map(({ key, recorded }) => [key.relayHash, recorded]))
  const all = deposits.map((deposited) => {
    const terms = pickTerms(deposited.deposit)
    return {
      deposited,
      terms,
      key: { sourceChainId, depositor: terms.depositor, relayHash: hashRelay(deposited.deposit) },
    }
  })
  const unread = all.filter(({ key }) => !records.has(key.relayHash))
  const more = await transfers.getMany(unread.map(({ key }) => key))
  for (const { key, recorded } of more) records.set(key.relayHash, recorded)
  const unknown = all.filter(({ key }) => !records.has(key.relayHash))
  const quoted = await quotes.getMany(
    sourceChainId,
    unknown.map(({ terms }) => terms),
  )
  return all.map(({ deposited, terms, key }) => {
    const recorded = records.get(key.relayHash)
    if (recorded) return { key, recorded, transfer: withSource(recorded, deposited) }
    const quote = quoted.find((one) => one.terms.hash === terms.hash)
    return { key, recorded, transfer: { ...deposited, ...(quote && { quote }) } }
  })
}

function findTarget(transfer: Transfer): VaultKey | undefined {
  const taken = transfer.events.find(({ kind }) => kind === 'vault_deposited')
  return taken?.vaultAddress ? { chainId: taken.chainId, address: taken.vaultAddress } : getTarget(transfer)
}

function withSource(recorded: Transfer, { events: [deposited], ...deposit }: DepositRecord): Transfer {
  const [, ...later] = recorded.events
  return recorded.isFinal ? recorded : { ...recorded, ...deposit, events: [deposited, ...later] }
}

async function readRecorded(poll: Poll, { key, recorded }: RecordedTransfer): Promise<PollResult | 'replaced'> {
  if (recorded.final || isSourceRead(recorded)) return readNow(poll, recorded)
  const { sourceChainId, depositor: account, relayHash: hash } = key
  const question = { sourceChainId, hash: recorded.events[0].txHash, account, index: 0 }
  const terms = { ...pickTerms(recorded.deposit), relayHash: hash, search: recorded.goneSearch }
  const {
    deposits = [],
    outcome,
    isFinal,
    sent,
  } = await readSourceDeposits(poll, question, { account, deposits: [terms], isFinal: false })
  const same = deposits.find(({ deposit }) => hashRelay(deposit) === hash)
  const isFilled = recorded.events.some(({ kind }) => kind === 'filled')
  if (same || isFilled) return readNow(poll, same ? withSource(recorded, same) : recorded)
  if (deposits.length > 0) return 'replaced'
  if (outcome && outcome !== 'pending') return buildPollResult(recorded, outcome, isFinal)
  // The node lags, or a reorganisation is going on, so the stored deposit is kept.
  return readNow(poll, { ...recorded, goneSearch: sent?.deposits[0]?.search })
}

async function readNow(poll: Poll, transfer: Transfer): Promise<PollResult> {
  if (transfer.final) return buildPollResult(transfer, transfer.final, true)
  const { evidence, deposit } = transfer
  if (evidence) poll.evidence.set(Number(deposit.relayData.originChainId), evidence)
  return poll.budget.reaches(1) ? readBridgedTransfer(poll, transfer) : buildRecordedResult(transfer)
}

function buildRecordedResult(transfer: Transfer): PollResult {
  return buildPollResult(
    transfer,
    transfer.final ?? deriveOutcome(transfer) ?? 'bridging',
    transfer.final !== undefined,
  )
}

type Recording = {
  readonly key: TransferKey
  readonly recorded: Transfer | undefined
  readonly seen: PollResult
  readonly lookAt: ScheduleNextRead
}

async function record(
  { transfers, depositSources }: TransferServices,
  { evidence }: Poll,
  { key, recorded, seen, lookAt }: Recording,
): Promise<PollResult> {
  const { outcome, isFinal } = seen
  if (recorded?.final) return seen
  const final = isFinal ? { final: outcome, finalEvidence: [...evidence.values()] } : {}
  const noted = { ...seen.keep, ...final, latest: addEnding(key, { ...seen.keep, ...final }, outcome) }
  const keep = dropUndefined({ ...noted, lookAt: lookAt(dropUndefined(noted), recorded) })
  const taken = keep.events.find(({ kind }) => kind === 'vault_deposited')
  // The source transaction of the vault deposit is stored before the transfer. A stored transfer with a final outcome
  // is never read again, so a failure between the two writes would lose the source.
  if (isFinal && taken) {
    const { chainId, txHash: transactionHash, logIndex } = taken
    const source = { chainId: key.sourceChainId, transactionHash: keep.events[0].txHash }
    await depositSources.record({ chainId, transactionHash, logIndex }, source)
  }
  const isRecorded = isDeepStrictEqual(keep, recorded) || (await transfers.record(key, keep, recorded))
  // A concurrent request stored the record first. That request may come from a client without this vault, and then it
  // scheduled no next read.
  if (!isRecorded && keep.lookAt && !recorded?.lookAt) await transfers.follow(key, keep.lookAt)
  return { ...seen, keep }
}

function dropUndefined(transfer: { readonly [Field in keyof Transfer]: Transfer[Field] | undefined }): Transfer {
  // The cast holds: only optional properties can be undefined, and these are removed.
  return Object.fromEntries(Object.entries(transfer).filter(([, value]) => value !== undefined)) as Transfer
}

function listEvidence({ evidence }: Poll, recorded: readonly Evidence[] = []): Evidence[] {
  return evidence.size > 0 ? [...evidence.values()] : [...recorded]
}
