import { type Address, type Hex, pad, zeroAddress } from 'viem'
import * as z from 'zod'
import { max } from '../bigint.ts'
import { required } from '../chain/call.ts'
import type { Evidence } from '../chain/evidence.ts'
import {
  type BlockHeader,
  byLocation,
  Log,
  type LogFilter,
  logsRequest,
  parseResult,
  type Range,
  readTimestamps,
} from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome } from '../chain/rpc.ts'
import { AppError, badAnswer } from '../errors.ts'
import { logger } from '../logger.ts'
import type { VaultEvent } from '../protocols/books.ts'
import type { AccountReading, LiveAccount } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { type Result, toResult, unwrap } from '../result.ts'
import { DAY_MS, toDate } from '../time.ts'
import type { Vault } from '../vaults/vault.ts'
import {
  BATCH_DISTANCE_BLOCKS,
  eventAddresses,
  parseVaultEvents,
  priceEventTopics,
  TRANSFER_TOPIC,
  VAULT_EVENT_TOPICS,
} from './events.ts'
import { findMoves, isPossible, postEvents, transactionsOf } from './ledger.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { isPlausible } from './position.ts'
import { initialProgress, type RecordsStore, type VaultProgress } from './store.ts'

/** What happened to an account in one vault, in order, up to the chain's last block, and what the account has there now. */
export type AccountVault = {
  readonly vault: Vault
  readonly entries: readonly LedgerEntry[]
  readonly live: LiveAccount
  /** The time of that block. */
  readonly asOf: Date
}

/** An account in all vaults that could be read, and by chain id why vaults could not; `errors` is undefined where all could. */
type AccountVaults = {
  readonly vaults: readonly AccountVault[]
  readonly errors: Readonly<Record<string, string>> | undefined
  /** The block of each chain that could be read. */
  readonly evidence: readonly Evidence[]
}

type Dependencies = {
  readonly getReader: (chainId: number) => ChainReader
  readonly records: Pick<RecordsStore, 'listEntries' | 'getProgress'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Events since older records are left to the job: to read them takes longer than a request may. */
const LONGEST_TAIL_MS = 2 * DAY_MS
/** What one answer reads of events at most, and for how long. */
const MOST_EVENTS = 2_000
/** More bytes than MOST_EVENTS events have, and few enough to be read in a moment. */
const MOST_BYTES = 4 * 2 ** 20
const TAIL_MS = 4_000
/**
 * How often the vaults of a group are halved when their events cannot be read together: often enough to find one of 256.
 * Each vault at fault costs at most two requests a halving, all of them together two for each vault.
 */
const MOST_HALVINGS = 8

/**
 * Reads an account in these vaults: what is recorded, the events since then and the live balances, with two requests to
 * each chain, one after the other, chains side by side. A vault whose past is still being read is left out. Throws a chain's error
 * only where there is one and nothing could be read.
 */
export async function readAccountVaults(
  { getReader, records, now }: Dependencies,
  vaults: readonly Vault[],
  account: Address,
): Promise<AccountVaults> {
  const progress = await records.getProgress(vaults, { isConsistent: false })
  const followed = vaults.map((vault, index) => ({ vault, progress: progress[index] ?? initialProgress(vault) }))
  const byChain = [...Map.groupBy(followed, ({ vault }) => vault.chainId)]
  // The ledger entries are read after the progress, so none that it counts is missing.
  const listed = records
    .listEntries(account, vaults)
    .then((lists) => new Map(vaults.map((vault, index) => [vault, lists[index]])))
  const [recorded, ...chains] = await Promise.all([
    listed,
    ...byChain.map(async ([chainId, ofChain]) => {
      const on = { reader: getReader(chainId), account, now }
      const chain = await toResult(readChain(on, ofChain, listed))
      if ('value' in chain) return { chainId, ...chain.value }
      return { chainId, readings: ofChain.map((one): Reading => [one, chain]), evidence: [] }
    }),
  ])

  const found: AccountVault[] = []
  const failures: AppError[] = []
  const errors: Record<string, string> = {}
  for (const { chainId, readings } of chains) {
    const results = readings.flatMap(([one, reading]) => addRecorded(one, recorded.get(one.vault), reading) ?? [])
    found.push(...results.flatMap((result) => ('value' in result ? [result.value] : [])))
    const failed = results.flatMap((result) => ('error' in result ? [result.error] : []))
    const [first] = failed
    if (!first) continue
    failures.push(...failed)
    errors[chainId] = first instanceof LeftOut ? first.reason : first.message
    logger.warn('vaults not read', { chainId, code: first.code, reason: String(first.cause) })
  }
  const outage = failures.find((failure) => !(failure instanceof LeftOut))
  if (outage && Object.keys(errors).length === byChain.length && found.length === 0) throw outage
  const evidence = chains.flatMap((chain) => chain.evidence)
  return { vaults: found, errors: failures.length > 0 ? errors : undefined, evidence }
}

/**
 * What happened to an account in one vault up to a block: what is recorded, and the events since then with one request.
 * Throws `upstream_*`, also where that is too much, or the vault's past is still being read.
 */
export async function readAccountEntries(
  { getReader, records, now }: Dependencies,
  { vault, account, to }: { readonly vault: Vault; readonly account: Address; readonly to: bigint },
): Promise<readonly LedgerEntry[]> {
  const [progress = initialProgress(vault)] = await records.getProgress([vault], { isConsistent: false })
  const followed = { vault, progress }
  const on = { reader: getReader(vault.chainId), account, now }
  const [[recorded], tails] = await Promise.all([records.listEntries(account, [vault]), readTails(on, [followed], to)])
  const before = entriesBefore(followed, recorded)
  if (!before) throw tooMuch()
  return [...before, ...(await readEntries(on, followed, unwrap(required(tails.get(vault))), to))]
}

/** A vault and how far it is recorded. */
type Followed = { readonly vault: Vault; readonly progress: VaultProgress }

/** What happened to an account in a vault since its records end, up to a block, and what the account has at that block. */
type VaultReading = {
  readonly entries: readonly LedgerEntry[]
  readonly live: Result<LiveAccount>
  /** The time of that block. */
  readonly asOf: Date
}

type Reading = readonly [Followed, Result<VaultReading>]

/** Why a vault is left out though its chain can be read; the reply says the reason. */
class LeftOut extends AppError {
  readonly reason: string

  constructor(reason: string) {
    super('upstream_unavailable', { cause: new Error(reason) })
    this.reason = reason
  }
}

/** The reading with what is recorded before it; undefined for a vault that cannot be read and that the account never used. */
function addRecorded(
  followed: Followed,
  recorded: readonly LedgerEntry[] | undefined,
  reading: Result<VaultReading>,
): Result<AccountVault> | undefined {
  if ('error' in reading) return reading
  const { vault } = followed
  const { entries: tail, live, asOf } = reading.value
  const before = entriesBefore(followed, recorded)
  const entries = [...(before ?? []), ...tail]
  if ('error' in live) return !before || entries.length > 0 ? live : undefined
  if (!before) return { error: tooMuch() }
  if (isPlausible(entries, live.value)) return { value: { vault, entries, live: live.value, asOf } }
  return entries.length > 0 ? { error: contradiction() } : undefined
}

/** What is recorded up to where the tail begins: what the job has recorded since the progress was read is in the tail. */
function entriesBefore(
  { progress: { through } }: Followed,
  recorded: readonly LedgerEntry[] | undefined,
): readonly LedgerEntry[] | undefined {
  return recorded?.filter(({ blockNumber }) => blockNumber <= through)
}

function tooMuch(): LeftOut {
  return new LeftOut('The user has too many events in a vault to show at once')
}

/** What is recorded of an account, by the vault; undefined where that is too much. */
type Recorded = ReadonlyMap<Vault, readonly LedgerEntry[] | undefined>

/** The account whose events are read, and the chain where. */
type ChainAccount = {
  readonly reader: ChainReader
  readonly account: Address
  readonly now: () => number
}

async function readChain(
  on: ChainAccount,
  followed: readonly Followed[],
  listed: Promise<Recorded>,
): Promise<{ readonly readings: Reading[]; readonly evidence: Evidence[] }> {
  const plans = followed.map(({ vault }) => getProtocol(vault).account(vault, on.account))
  const { blocks, values, evidence } = await on.reader.readEach(plans, { withHash: true })
  // Up to a block that has a number: what "latest" is may differ from call to call, and events be lost or counted twice.
  const to = blocks.map(({ number }) => number).reduce(max, 0n)
  const [tails, told] = await Promise.all([readTails(on, followed, to), evidence()])
  const readings = followed.map(async (one, index): Promise<Reading> => {
    const [block, tail] = [blocks[index], tails.get(one.vault)]
    if (!block || !tail) throw badAnswer('a vault is missing')
    return [one, await toResult(readVault(on, one, { tail, account: values[index], block, listed }))]
  })
  return { readings: await Promise.all(readings), evidence: [told] }
}

/** What was read of a vault and an account at a block, and of the chain since its records end. */
type WhatWasRead = {
  readonly tail: Result<readonly VaultEvent[]>
  readonly account: AccountReading | undefined
  readonly block: BlockHeader
  readonly listed: Promise<Recorded>
}

async function readVault(
  on: ChainAccount,
  followed: Followed,
  { tail, account, block, listed }: WhatWasRead,
): Promise<VaultReading> {
  const entries = await readEntries(on, followed, unwrap(tail), block.number)
  const listEntries = async () => {
    const before = entriesBefore(followed, (await listed).get(followed.vault))
    if (!before) throw tooMuch()
    return [...before, ...entries]
  }
  const live = account
    ? await toResult(readLiveAccount(account, on.reader, block.number, listEntries))
    : { error: badAnswer('the vault cannot be read') }
  return { entries, live, asOf: toDate(block.timestamp) }
}

/**
 * All of what was read of an account at a block. Throws `upstream_bad_answer` when the vault does not tell an amount,
 * `upstream_*`, and what `listEntries` throws.
 */
export async function readLiveAccount(
  { shares, price, deposits, redemptions }: AccountReading,
  ...finishing: Parameters<AccountReading['deposits']>
): Promise<LiveAccount> {
  const told = { shares: shares(), ...price() }
  const requests = await Promise.all([deposits(...finishing), redemptions(...finishing)])
  return { ...told, ...requests[0], ...requests[1] }
}

type Tail = [Vault, Result<readonly VaultEvent[]>]

/** The account's events in each vault since its records end: those of vaults that are behind cost the others nothing. */
async function readTails(
  on: ChainAccount,
  followed: readonly Followed[],
  to: bigint,
): Promise<ReadonlyMap<Vault, Result<readonly VaultEvent[]>>> {
  const isOld = ({ progress: { timestamp } }: Followed) =>
    timestamp !== undefined && on.now() - Number(timestamp) * 1000 > LONGEST_TAIL_MS
  const [old, recent] = [followed.filter(isOld), followed.filter((one) => !isOld(one))]
  const front = recent.reduce((most, { progress }) => Math.max(most, progress.through), 0)
  const isCurrent = ({ progress }: Followed) => progress.through > front - BATCH_DISTANCE_BLOCKS
  const read = await Promise.all([
    readTailsTogether(on, recent.filter(isCurrent), to),
    readTailsTogether(
      on,
      recent.filter((one) => !isCurrent(one)),
      to,
    ),
  ])
  const failure = { error: new LeftOut('The history of a vault is still being read') }
  return new Map([...old.map(({ vault }): Tail => [vault, failure]), ...read.flat()])
}

/** The tails of vaults, asked for together, and in halves where that fails. */
async function readTailsTogether(
  on: ChainAccount,
  followed: readonly Followed[],
  to: bigint,
  halvings = 0,
): Promise<Tail[]> {
  if (followed.length === 0) return []
  const read = await toResult(readAccountEvents(on, followed, to))
  if ('value' in read) {
    const events = Map.groupBy(read.value, ({ vault }) => vault)
    return followed.map(({ vault }) => [vault, { value: events.get(vault.address) ?? [] }])
  }
  const { error } = read
  // Anybody can make an account's events in one vault too many: the other vaults must not wait long for that.
  const isLate = error.code === 'upstream_timeout'
  const isOutage = error.code === 'upstream_unavailable' && !(error instanceof LeftOut)
  const mostHalvings = isOutage ? 0 : isLate ? 1 : MOST_HALVINGS
  if (followed.length === 1 || halvings >= mostHalvings) {
    const failure = isLate ? new LeftOut('The last events of a vault could not be read in time') : error
    return followed.map(({ vault }) => [vault, { error: failure }])
  }
  const half = Math.ceil(followed.length / 2)
  const halves = [followed.slice(0, half), followed.slice(half)]
  return (await Promise.all(halves.map((part) => readTailsTogether(on, part, to, halvings + 1)))).flat()
}

/**
 * Everything that concerns the account in some vaults since the records of one of them end: one request where the node
 * takes the range. Whom an event concerns stands in the first, second or third topic after its name.
 */
async function readAccountEvents(on: ChainAccount, followed: readonly Followed[], to: bigint): Promise<VaultEvent[]> {
  const from = BigInt(Math.max(0, Math.min(...followed.map(({ progress }) => progress.through)) + 1))
  if (from > to) return []
  const vaults = followed.map(({ vault }) => vault)
  const address = eventAddresses(vaults)
  // The address is hexadecimal, as its lower case is.
  const topic = pad(on.account.toLowerCase() as Hex, { size: 32 })
  const filters = [[topic], [null, topic], [null, null, topic]].map((rest) => ({
    address,
    topics: [VAULT_EVENT_TOPICS, ...rest],
  }))
  const requests = filters.map((filter) => logsRequest(filter, [from, to]))
  const outcomes = await on.reader.request(requests, { mostBytes: MOST_BYTES })
  const logs = await Promise.all(filters.map((filter, index) => readAllLogs(on, filter, [from, to], outcomes[index])))
  return parseInOrder(on, vaults, logs.flat())
}

/** All events of a filter: those that a first call gave, or where it was refused those of smaller calls. Throws when they are too many. */
async function readAllLogs(
  { reader, now }: ChainAccount,
  filter: LogFilter,
  [from, to]: Range,
  first?: RpcOutcome,
): Promise<readonly Log[]> {
  const tooMany = new LeftOut('A vault has too many recent events to read at once; they appear once recorded')
  if (first && 'result' in first) {
    if (Array.isArray(first.result) && first.result.length > MOST_EVENTS) throw tooMany
    return parseResult(z.array(Log), first)
  }
  if (first?.error.refusal === 'results') throw tooMany
  const deadline = now() + TAIL_MS
  const isEnough = (events: number) => events > MOST_EVENTS || now() > deadline
  const { logs, through } = await reader.logsUntil(filter, from, to, isEnough)
  if (through < to || logs.length > MOST_EVENTS) throw tooMany
  return logs
}

async function parseInOrder(
  { reader, account }: ChainAccount,
  vaults: readonly Vault[],
  logs: readonly Log[],
): Promise<VaultEvent[]> {
  return inOrder(parseVaultEvents(vaults, logs, await readTimestamps(reader.request, logs), account))
}

/** The events in order, each once. */
function inOrder(events: readonly VaultEvent[]): VaultEvent[] {
  const key = ({ vault, location }: VaultEvent) => `${vault} ${location.blockNumber} ${location.logIndex}`
  const byKey = new Map(events.map((event) => [key(event), event]))
  return [...byKey.values()].toSorted((left, right) => byLocation(left.location, right.location))
}

function contradiction(): AppError {
  return badAnswer("a vault's events or balances contradict each other")
}

/** The account's ledger entries in a vault since its records end, up to a block. Throws where its events contradict each other. */
async function readEntries(
  on: ChainAccount,
  { vault, progress: { through, ledger } }: Followed,
  tail: readonly VaultEvent[],
  block: bigint,
): Promise<readonly LedgerEntry[]> {
  const own = tail.filter(({ location }) => location.blockNumber > BigInt(through) && location.blockNumber <= block)
  // Valuing what was moved takes the share price at that time, which events of other accounts set.
  const moved = new Set(transactionsOf(own).flatMap((events) => [...findMoves(vault, events).keys()]))
  const last = own.findLast((event) => moved.has(event))?.location.blockNumber
  const prices = last === undefined ? [] : await readPriceEvents(on, vault, [BigInt(through + 1), last])
  const events = inOrder([...prices, ...own])
  // Up to the last price these are all events that move the supply, after it the account's alone.
  const isPriced = ({ location }: VaultEvent) => last !== undefined && location.blockNumber <= last
  const priced = postEvents(vault, ledger, events.filter(isPriced))
  const rest = postEvents(
    vault,
    priced.ledger,
    events.filter((event) => !isPriced(event)),
  )
  const entries = [...priced.entries, ...rest.entries].filter(({ account }) => account === on.account)
  if (!isPossible({ ...priced, entries })) throw contradiction()
  return entries
}

/** The events of everybody that move the vault's price: one more request. */
async function readPriceEvents(on: ChainAccount, vault: Vault, range: Range): Promise<VaultEvent[]> {
  const zero = pad(zeroAddress, { size: 32 })
  const topics = [[priceEventTopics(vault)], [[TRANSFER_TOPIC], zero], [[TRANSFER_TOPIC], null, zero]]
  const address = eventAddresses([vault])
  const logs = await Promise.all(topics.map((of) => readAllLogs(on, { address, topics: of }, range)))
  return parseInOrder(on, [vault], logs.flat())
}
