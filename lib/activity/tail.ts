import { type Address, type Hex, pad, zeroAddress } from 'viem'
import * as z from 'zod'
import {
  type BlockRange,
  compareLocation,
  Log,
  type LogFilter,
  logsRequest,
  parseResult,
  readTimestamps,
} from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome } from '../chain/rpc.ts'
import { AppError, badResponse } from '../core/errors.ts'
import { type Result, toResult } from '../core/result.ts'
import { DAY_MS } from '../core/time.ts'
import type { VaultEvent } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { Vault } from '../vaults/vault.ts'
import {
  buildForeignTransferFilters,
  eventAddresses,
  MAX_BLOCKS_PER_BATCH,
  parseVaultEvents,
  priceEventTopics,
  TRANSFER_TOPIC,
  VAULT_EVENT_TOPICS,
} from './events.ts'
import {
  type EventsWithEntries,
  findShareTransfers,
  groupByTransaction,
  hasPossibleAmounts,
  valueAndDeriveEntries,
} from './fold.ts'
import { namesAccount } from './recorded-events.ts'
import type { VaultProgress } from './store.ts'
import { addTransferValues, listTransfersToValue, readCallsAtBlocks, selectLastTransfers } from './value-moves.ts'

type RecordsEnd = Pick<VaultProgress, 'through' | 'timestamp' | 'ledger' | 'lastPrices'>

/** Vault, and the block up to which its events are recorded. */
export type VaultWithProgress = { readonly vault: Vault; readonly progress: RecordsEnd }

/**
 * Vault's events that are not recorded yet, up to a block. `isWhole` is true for all events, false for only those that
 * name the account.
 */
export type UnrecordedEvents = { readonly events: readonly VaultEvent[]; readonly isWhole: boolean }

/** Vaults' events that are not recorded yet, or the error of their read. */
export type UnrecordedEventsByVault = ReadonlyMap<Vault, Result<UnrecordedEvents>>

/** Account, and the reader of the chain on which the account is read. `now` returns epoch milliseconds. */
export type ChainAccount = { readonly reader: ChainReader; readonly account: Address; readonly now: () => number }

/** Error for a vault that is left out of a response though its chain can be read. The response contains `reason`. */
export class LeftOutVaultError extends AppError {
  readonly reason: string

  constructor(reason: string) {
    super('upstream_unavailable', { cause: new Error(reason) })
    this.reason = reason
  }
}

/**
 * Maximum age, in milliseconds, of the last recorded block. Reading the events after an older block takes too long for
 * an API request.
 */
const MAX_TAIL_MS = 2 * DAY_MS
/**
 * Maximum number of events that one filter may match. If the node refuses the whole range, smaller calls are tried for
 * `TAIL_MS` milliseconds.
 */
const MAX_EVENTS = 1_000
/** Maximum bytes of a node's response: enough for MAX_EVENTS events, and quick to read. */
const MAX_BYTES = 2 * 2 ** 20
const TAIL_MS = 4_000
/** Maximum number of an account's share transfers whose values are read, in all vaults of a chain together. */
const MAX_MOVES = 50
/**
 * Maximum number of times that a failed read is repeated with each half of its vaults. Eight times are enough to find
 * one faulty vault of 256. Each faulty vault costs at most two requests per halving. All faulty vaults together cost at
 * most two requests per vault.
 */
const MAX_HALVINGS = 8

/**
 * Reads the events of vaults that are not recorded yet, up to block `to`. Reads all events of vaults with recent
 * records in one request. If these events are too many, or the records of a vault lag, reads only the events that name
 * the account. A vault whose records are more than two days old gets an error.
 */
export async function readUnrecordedEvents(
  on: ChainAccount,
  followed: readonly VaultWithProgress[],
  to: bigint,
): Promise<UnrecordedEventsByVault> {
  const isOld = ({ progress: { timestamp } }: VaultWithProgress) =>
    timestamp !== undefined && on.now() - Number(timestamp) * 1000 > MAX_TAIL_MS
  const [old, recent] = [followed.filter(isOld), followed.filter((one) => !isOld(one))]
  const front = recent.reduce((most, { progress }) => Math.max(most, progress.through), 0)
  const isCurrent = ({ progress }: VaultWithProgress) => progress.through > front - MAX_BLOCKS_PER_BATCH
  const [current, behind] = [recent.filter(isCurrent), recent.filter((one) => !isCurrent(one))]
  const read = await Promise.all([
    readWhole(on, current, to).then((tails) => tails ?? readOfAccount(on, current, to)),
    readOfAccount(on, behind, to),
  ])
  const failure = { error: new LeftOutVaultError('The history of a vault is still being read') }
  return await valueTails(on, followed, new Map([...old.map(({ vault }): Read => [vault, failure]), ...read.flat()]))
}

/** Reads the values of the account's last share transfers for which no event has a price, with one request. */
async function valueTails(
  on: ChainAccount,
  followed: readonly VaultWithProgress[],
  tails: UnrecordedEventsByVault,
): Promise<UnrecordedEventsByVault> {
  const moved = followed.flatMap(({ vault, progress: { through } }) => {
    const tail = tails.get(vault)
    const events = tail && 'value' in tail ? tail.value.events : []
    const isNew = (event: VaultEvent) => event.location.blockNumber > through && namesAccount(event, on.account)
    return listTransfersToValue(vault, events.filter(isNew))
  })
  if (moved.length === 0) return tails
  const moves = selectLastTransfers(moved, MAX_MOVES)
  const calls = moves.map(({ call, event }) => ({ call, block: event.location.blockNumber }))
  // A failed read is ignored. The transfers are then valued at the last known price.
  const read = await toResult(readCallsAtBlocks(on.reader, calls))
  const values = 'value' in read ? read.value.values : []
  return new Map(
    [...tails].map(([vault, tail]): Read => {
      if ('error' in tail) return [vault, tail]
      return [vault, { value: { ...tail.value, events: addTransferValues(tail.value.events, moves, values) } }]
    }),
  )
}

/**
 * Derives an account's ledger entries from events that are not recorded yet, up to a block. Throws `upstream_*`, also
 * if the vault's events contradict each other.
 */
export async function deriveUnrecordedEntries(
  on: ChainAccount,
  followed: VaultWithProgress,
  { events, isWhole }: UnrecordedEvents,
  block: bigint,
): Promise<readonly LedgerEntry[]> {
  const { vault, progress } = followed
  const { through } = progress
  const own = events.filter(({ location }) => location.blockNumber > BigInt(through) && location.blockNumber <= block)
  // Other accounts' events can set the share price. A complete list (`isWhole`) contains these events. A vault without
  // price events needs none, because the values of its shares were read from the contract.
  const isEnough = isWhole || !getProtocol(vault).books.foldLedgers
  const posted = isEnough ? valueAndDeriveEntries(vault, progress, own) : await postOfAccount(on, followed, own)
  const entries = posted.entries.filter(({ account }) => account === on.account)
  if (!hasPossibleAmounts({ ...posted, entries })) throw createContradictionError()
  return entries
}

/**
 * Derives ledger entries from an account's events in a vault. First reads the events of other accounts that set the
 * share price, because the price values the account's share transfers.
 */
async function postOfAccount(
  on: ChainAccount,
  followed: VaultWithProgress,
  own: readonly VaultEvent[],
): Promise<EventsWithEntries> {
  const { vault, progress } = followed
  const moved = groupByTransaction(own).flatMap((transaction) => [...findShareTransfers(vault, transaction).keys()])
  const last = moved.at(-1)?.location.blockNumber
  if (last === undefined) return valueAndDeriveEntries(vault, progress, own)
  const all = inOrder([...(await readPriceEvents(on, followed, last)), ...own])
  // `all` has every event that changes the price, up to the block of the account's last share transfer. Of later blocks
  // it has only the account's own events. These are valued separately, because price changes may be missing.
  const isBefore = ({ location }: VaultEvent) => location.blockNumber <= last
  const before = valueAndDeriveEntries(vault, progress, all.filter(isBefore))
  const after = valueAndDeriveEntries(
    vault,
    { ledger: before.ledger },
    all.filter((event) => !isBefore(event)),
  )
  return { ...before, entries: [...before.entries, ...after.entries] }
}

/** Creates the error for a vault with impossible events or balances. */
export function createContradictionError(): AppError {
  return badResponse("a vault's events or balances contradict each other")
}

type Read = readonly [Vault, Result<UnrecordedEvents>]

/** Reads all events of vaults with one request; undefined if there are too many events or the read takes too long. */
async function readWhole(
  on: ChainAccount,
  followed: readonly VaultWithProgress[],
  to: bigint,
): Promise<readonly Read[] | undefined> {
  const vaults = followed.map(({ vault }) => vault)
  const filter = { address: eventAddresses(vaults), topics: [VAULT_EVENT_TOPICS] }
  const read = await toResult(readEvents(on, followed, [filter, ...buildForeignTransferFilters(vaults)], to))
  if ('value' in read) return divide(followed, read.value, true)
  const { error } = read
  const isOutage = error.code === 'upstream_unavailable' && !(error instanceof LeftOutVaultError)
  return isOutage ? vaults.map((vault) => [vault, read]) : undefined
}

/** Reads the events of vaults that name the account, in one request. After a failure, retries with each half of the vaults. */
async function readOfAccount(
  on: ChainAccount,
  followed: readonly VaultWithProgress[],
  to: bigint,
  halvings = 0,
): Promise<readonly Read[]> {
  const vaults = followed.map(({ vault }) => vault)
  const address = eventAddresses(vaults)
  const topic = accountTopic(on.account)
  const filters = [[topic], [null, topic], [null, null, topic]].map((rest) => ({
    address,
    topics: [VAULT_EVENT_TOPICS, ...rest],
  }))
  const read = await toResult(
    readEvents(on, followed, [...filters, ...buildForeignTransferFilters(vaults, topic)], to, on.account),
  )
  if ('value' in read) return divide(followed, read.value, false)
  const { error } = read
  // An attacker can create too many events of an account in one vault. The other vaults must not wait long for that vault.
  const isLate = error.code === 'upstream_timeout'
  const isOutage = error.code === 'upstream_unavailable' && !(error instanceof LeftOutVaultError)
  const maxHalvings = isOutage ? 0 : isLate ? 1 : MAX_HALVINGS
  if (followed.length === 1 || halvings >= maxHalvings) {
    const failure = isLate ? new LeftOutVaultError('The last events of a vault could not be read in time') : error
    return followed.map(({ vault }) => [vault, { error: failure }])
  }
  const half = Math.ceil(followed.length / 2)
  const halves = [followed.slice(0, half), followed.slice(half)]
  return (await Promise.all(halves.map((part) => readOfAccount(on, part, to, halvings + 1)))).flat()
}

function divide(followed: readonly VaultWithProgress[], all: readonly VaultEvent[], isWhole: boolean): readonly Read[] {
  const events = Map.groupBy(all, ({ vault }) => vault)
  return followed.map(({ vault }) => [vault, { value: { events: events.get(vault.address) ?? [], isWhole } }])
}

function readPriceEvents(on: ChainAccount, followed: VaultWithProgress, to: bigint): Promise<VaultEvent[]> {
  const { vault } = followed
  const zero = pad(zeroAddress, { size: 32 })
  const topics = [[priceEventTopics(vault)], [[TRANSFER_TOPIC], zero], [[TRANSFER_TOPIC], null, zero]]
  const address = eventAddresses([vault])
  const filters = topics.map((of) => ({ address, topics: of }))
  return readEvents(on, [followed], filters, to, on.account)
}

/**
 * Reads the events that match the filters, in order and without duplicates. The range begins after the oldest recorded
 * block of the vaults and ends at `to`. Sends one request if the node accepts the range. Throws LeftOutError for too
 * many events.
 */
async function readEvents(
  on: ChainAccount,
  followed: readonly VaultWithProgress[],
  filters: readonly LogFilter[],
  to: bigint,
  ofAccount?: Address,
): Promise<VaultEvent[]> {
  if (followed.length === 0) return []
  const from = BigInt(Math.max(0, Math.min(...followed.map(({ progress }) => progress.through)) + 1))
  if (from > to) return []
  const requests = filters.map((filter) => logsRequest(filter, [from, to]))
  const outcomes = await on.reader.request(requests, { mostBytes: MAX_BYTES })
  const read = filters.map((filter, index) => readAllLogs(on, filter, [from, to], outcomes[index]))
  const logs = (await Promise.all(read)).flat()
  // Responses show only times of the account's own events, so only the times of those blocks are read.
  const topic = accountTopic(on.account)
  const own = new Set(logs.filter(({ topics }) => topics.some((one) => one === topic)))
  const timestampOf = await readTimestamps(on.reader.request, [...own])
  const vaults = followed.map(({ vault }) => vault)
  return inOrder(parseVaultEvents(vaults, logs, (log) => (own.has(log) ? timestampOf(log) : 0n), ofAccount))
}

/**
 * Returns all events of a filter. `first` is the outcome of one call for the whole range. If the node refused that
 * call, smaller calls follow. Throws LeftOutError for too many events.
 */
async function readAllLogs(
  { reader, now }: ChainAccount,
  filter: LogFilter,
  [from, to]: BlockRange,
  first?: RpcOutcome,
): Promise<readonly Log[]> {
  const tooMany = new LeftOutVaultError('A vault has too many recent events to read at once; they appear once recorded')
  if (first && 'result' in first) {
    if (Array.isArray(first.result) && first.result.length > MAX_EVENTS) throw tooMany
    return parseResult(z.array(Log), first)
  }
  if (first?.error.refusal === 'results') throw tooMany
  const deadline = now() + TAIL_MS
  const isEnough = (events: number) => events > MAX_EVENTS || now() > deadline
  const { logs, through } = await reader.logsUntil(filter, from, to, isEnough)
  if (through < to || logs.length > MAX_EVENTS) throw tooMany
  return logs
}

function accountTopic(account: Address): Hex {
  // The cast is right: the lower case of an address is hexadecimal too.
  return pad(account.toLowerCase() as Hex, { size: 32 })
}

function inOrder(events: readonly VaultEvent[]): VaultEvent[] {
  const key = ({ vault, location }: VaultEvent) => `${vault} ${location.blockNumber} ${location.logIndex}`
  const byKey = new Map(events.map((event) => [key(event), event]))
  return [...byKey.values()].toSorted((left, right) => compareLocation(left.location, right.location))
}
