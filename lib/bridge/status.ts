import { isDeepStrictEqual } from 'node:util'
import { required } from '../chain/call.ts'
import type { Evidence } from '../chain/evidence.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { DepositLocation } from '../protocols/ledger-entry.ts'
import { toResult } from '../result.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { FetchHint } from './across.ts'
import type { DepositSource } from './deposit-source.ts'
import { relayHash, termsOf } from './events.ts'
import { readBridged } from './fill.ts'
import { conclude, createBudget, type Poll, type Seen } from './poll.ts'
import type { QuotesStore } from './quote-store.ts'
import { choose, type Deposited, type Question, readSource, type Sighting } from './source.ts'
import type { TransfersStore } from './store.ts'
import { buildEmptyStatus, describeTransfer, getTarget, noteEnding, outcomeOf } from './timeline.ts'
import type { RecordedTransfer, Sent, Transfer, TransferKey, TransferStatus } from './transfer.ts'

/** The services that read transfers. */
export type TransferServices = {
  readonly getReader: (chainId: number) => ChainReader
  readonly fetchHint: FetchHint
  readonly transfers: Omit<TransfersStore, 'listDue' | 'postpone'>
  readonly quotes: Pick<QuotesStore, 'getMany'>
  readonly sources: { record(deposit: DepositLocation, source: DepositSource): Promise<void> }
}

/** Returns when the job reads a transfer next, undefined for never. */
type LookAt = (keep: Transfer, recorded: Transfer | undefined) => Date | undefined

/** The transfers that a hash leads to, the one that was asked for first, and the blocks that they rest on. */
type ReadByHash = {
  readonly statuses: readonly [TransferStatus, ...TransferStatus[]]
  /** The vaults that they end in; undefined for other transfers. */
  readonly targets: readonly (VaultKey | undefined)[]
  readonly evidence: readonly Evidence[]
}

/** The vault that a transfer is for or from: that of its quote, or the one that its message names; undefined for other transfers. */
export function getVault(transfer: Pick<Transfer, 'deposit' | 'quote'>): VaultKey | undefined {
  return transfer.quote?.vault ?? getTarget(transfer)
}

/** A transfer as its source transaction and its record have it. */
type Begun = { readonly key: TransferKey; readonly recorded: Transfer | undefined; readonly transfer: Transfer }

/**
 * Reads the transfers that a hash leads to, from the chains, and records what is seen. A poll sends each host at most 8 calls in
 * 6 requests, and none once all is final; a search that takes more goes on at the next poll. Throws `upstream_*`, and
 * `nodes_disagree` or `second_node_silent` if the readers ask two hosts.
 */
export async function readByHash(
  services: TransferServices,
  question: Question,
  lookAt: LookAt,
  { isRecorded = true } = {},
): Promise<ReadByHash> {
  const { transfers } = services
  const { sourceChainId, hash, index, account } = question
  const sent = await transfers.getSent(question)
  const poll = { ...services, budget: createBudget(), evidence: new Map<number, Evidence>(), isRecorded }
  const known = await transfers.getMany(keysOf(sourceChainId, sent, account))
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
      evidence: listEvidence(poll, droppedBy(sighting.sent, question)),
    }
  }

  const begun = await beginAll(services, sourceChainId, deposits, known)
  // The one that was asked for is read first: the others get what it leaves of the budget.
  const [asked, ...others] = [required(begun[index]), ...begun.toSpliced(index, 1)]
  const read = async ({ key, recorded, transfer }: Begun): Promise<Seen> => {
    const seen = await readNow(poll, transfer)
    if (!isRecorded) return { ...seen, isFinal: false }
    return record(services, poll, { key, recorded, seen, lookAt })
  }
  const ends = [await read(asked)]
  for (const other of others) {
    const result = await toResult(read(other))
    ends.push('value' in result ? result.value : asSeen(other.transfer))
  }
  const isOperation = sighting.sent?.account !== undefined
  const statuses = ends.map(({ keep, outcome, isFinal }) => {
    const status = describeTransfer(keep, outcome, isFinal)
    const { source } = status.transactions
    return { ...status, depositId: hash, replacedBy: source === hash || isOperation ? null : source }
  })
  return {
    // There is one of the deposit that was asked for.
    statuses: statuses as [TransferStatus, ...TransferStatus[]],
    targets: ends.map(({ keep }) => findTarget(keep)),
    evidence: listEvidence(poll, ends[0]?.keep.finalEvidence),
  }
}

/**
 * Reads a recorded transfer as the job does, and records what is seen. Undefined if a reorganisation has dropped its deposit for
 * good and another one has its terms: it is forgotten. Throws as `readByHash` does, and `internal` if `budget` is not whole and too
 * small.
 */
export async function readTransfer(
  services: TransferServices,
  { key, recorded }: RecordedTransfer,
  lookAt: LookAt,
  budget = createBudget(),
): Promise<Seen | undefined> {
  const poll = { ...services, budget, evidence: new Map<number, Evidence>(), isRecorded: true }
  const read = await toResult(readRecorded(poll, { key, recorded }))
  // The next poll is set also where this one failed, so that one transfer holds up no other.
  const seen = 'value' in read ? read.value : asSeen(recorded)
  if (seen === 'replaced') {
    await services.transfers.forget(key)
    return undefined
  }
  const kept = await record(services, poll, { key, recorded, seen, lookAt })
  if ('error' in read) throw read.error
  return kept
}

/** Reads the deposits of a hash: from records once all of them are final, else from the chain. */
async function readSighting(
  poll: Poll,
  question: Question,
  sent: Sent | undefined,
  known: readonly RecordedTransfer[],
): Promise<Sighting> {
  const chosen = choose(sent?.deposits ?? [], ({ depositor }) => depositor, sent?.account ?? question.account)
  if (chosen[question.index]?.dropped) return { outcome: 'source_dropped', isFinal: true, sent }
  const isKnown = known.length > 0 && known.length === chosen.length
  if (isKnown && known.every(({ recorded }) => isSourceRead(recorded))) return { isFinal: true, sent }
  return readSource(poll, question, sent)
}

/** True if the deposit needs no more calls: it is final, or all of them are for its fill first. */
function isSourceRead({ isFinal, fillSearch }: Transfer): boolean {
  return isFinal || fillSearch !== undefined
}

/** The blocks by which the deposit that was asked for can no longer be made. */
function droppedBy(sent: Sent | undefined, { account, index }: Question): readonly Evidence[] | undefined {
  return choose(sent?.deposits ?? [], ({ depositor }) => depositor, sent?.account ?? account)[index]?.dropped
}

function keysOf(sourceChainId: number, sent: Sent | undefined, account: Question['account']): TransferKey[] {
  const chosen = choose(sent?.deposits ?? [], ({ depositor }) => depositor, sent?.account ?? account)
  return chosen.flatMap(({ depositor, relayHash: hash }) =>
    hash ? [{ sourceChainId, depositor, relayHash: hash }] : [],
  )
}

/** The transfers of deposits, each with its record, or with the quote that was handed out for it. */
async function beginAll(
  { transfers, quotes }: TransferServices,
  sourceChainId: number,
  deposits: readonly Deposited[],
  known: readonly RecordedTransfer[],
): Promise<Begun[]> {
  const records = new Map(known.map(({ key, recorded }) => [key.relayHash, recorded]))
  const all = deposits.map((deposited) => {
    const terms = termsOf(deposited.deposit)
    return {
      deposited,
      terms,
      key: { sourceChainId, depositor: terms.depositor, relayHash: relayHash(deposited.deposit) },
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

/** The vault that took the deposit, or that the depositor named for it. */
function findTarget(transfer: Transfer): VaultKey | undefined {
  const taken = transfer.events.find(({ kind }) => kind === 'vault_deposited')
  return taken?.vaultAddress ? { chainId: taken.chainId, address: taken.vaultAddress } : getTarget(transfer)
}

/** The recorded transfer with its deposit as the source chain has it now. */
function withSource(recorded: Transfer, { events: [deposited], ...deposit }: Deposited): Transfer {
  const [, ...later] = recorded.events
  return recorded.isFinal ? recorded : { ...recorded, ...deposit, events: [deposited, ...later] }
}

async function readRecorded(poll: Poll, { key, recorded }: RecordedTransfer): Promise<Seen | 'replaced'> {
  if (recorded.final || isSourceRead(recorded)) return readNow(poll, recorded)
  const { sourceChainId, depositor: account, relayHash: hash } = key
  const question = { sourceChainId, hash: recorded.events[0].txHash, account, index: 0 }
  const terms = { ...termsOf(recorded.deposit), relayHash: hash, search: recorded.goneSearch }
  const {
    deposits = [],
    outcome,
    isFinal,
    sent,
  } = await readSource(poll, question, { account, deposits: [terms], isFinal: false })
  const same = deposits.find(({ deposit }) => relayHash(deposit) === hash)
  const isFilled = recorded.events.some(({ kind }) => kind === 'filled')
  if (same || isFilled) return readNow(poll, same ? withSource(recorded, same) : recorded)
  if (deposits.length > 0) return 'replaced'
  if (outcome && outcome !== 'pending') return conclude(recorded, outcome, isFinal)
  // A node that lags behind, or a reorganisation: what was seen is not unseen.
  return readNow(poll, { ...recorded, goneSearch: sent?.deposits[0]?.search })
}

async function readNow(poll: Poll, transfer: Transfer): Promise<Seen> {
  if (transfer.final) return conclude(transfer, transfer.final, true)
  const { evidence, deposit } = transfer
  if (evidence) poll.evidence.set(Number(deposit.relayData.originChainId), evidence)
  return poll.budget.reaches(1) ? readBridged(poll, transfer) : asSeen(transfer)
}

/** The transfer as its events have it, without a poll. */
function asSeen(transfer: Transfer): Seen {
  return conclude(transfer, transfer.final ?? outcomeOf(transfer) ?? 'bridging', transfer.final !== undefined)
}

type Recording = {
  readonly key: TransferKey
  readonly recorded: Transfer | undefined
  readonly seen: Seen
  readonly lookAt: LookAt
}

/** Records what was seen of a transfer, if it is new. */
async function record(
  { transfers, sources }: TransferServices,
  { evidence }: Poll,
  { key, recorded, seen, lookAt }: Recording,
): Promise<Seen> {
  const { outcome, isFinal } = seen
  if (recorded?.final) return seen
  const final = isFinal ? { final: outcome, finalEvidence: [...evidence.values()] } : {}
  const noted = { ...seen.keep, ...final, latest: noteEnding(key, { ...seen.keep, ...final }, outcome) }
  const keep = compact({ ...noted, lookAt: lookAt(compact(noted), recorded) })
  const taken = keep.events.find(({ kind }) => kind === 'vault_deposited')
  // Before the final outcome, after which nothing is read again.
  if (isFinal && taken) {
    const { chainId, txHash: transactionHash, logIndex } = taken
    const source = { chainId: key.sourceChainId, transactionHash: keep.events[0].txHash }
    await sources.record({ chainId, transactionHash, logIndex }, source)
  }
  const isRecorded = isDeepStrictEqual(keep, recorded) || (await transfers.record(key, keep, recorded))
  // Another question recorded more meanwhile, perhaps of a client in whose vaults it does not end.
  if (!isRecorded && keep.lookAt && !recorded?.lookAt) await transfers.follow(key, keep.lookAt)
  return { ...seen, keep }
}

/** Without the fields that are undefined, as it is stored. */
function compact(transfer: { readonly [Field in keyof Transfer]: Transfer[Field] | undefined }): Transfer {
  // Only optional fields can be undefined.
  return Object.fromEntries(Object.entries(transfer).filter(([, value]) => value !== undefined)) as Transfer
}

function listEvidence({ evidence }: Poll, recorded: readonly Evidence[] = []): Evidence[] {
  return evidence.size > 0 ? [...evidence.values()] : [...recorded]
}
