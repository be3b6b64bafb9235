import { type Address, type Hex, pad, zeroAddress } from 'viem'
import * as z from 'zod'
import { byLocation, Log, type LogFilter, logsRequest, parseResult, readTimestamps } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome } from '../chain/rpc.ts'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import { isTransfer, transferOf, type VaultEvent } from '../protocols/books.ts'
import type { LiveAccount } from '../protocols/protocol.ts'
import { protocolOf } from '../protocols/protocols.ts'
import type { Vault } from '../vaults/vault.ts'
import { parseVaultEvents, priceEventTopics, TRANSFER_TOPIC, VAULT_EVENT_TOPICS } from './events.ts'
import { EMPTY_LEDGER, isPossible, postEvents } from './ledger.ts'
import { isNothing, type LedgerEntry } from './ledger-entry.ts'
import { isPlausible } from './position.ts'
import type { RecordsStore, VaultProgress } from './store.ts'

/** What happened to a user in one vault, in order, up to the chain's last block, and what the user has there now. */
export type UserVault = {
  readonly vault: Vault
  readonly entries: readonly LedgerEntry[]
  readonly live: LiveAccount
  /** The time of that block. */
  readonly asOf: Date
}

/** A user in all vaults that could be read, and why other vaults of some chains could not, by chain id. */
export type UserVaults = {
  readonly vaults: readonly UserVault[]
  readonly errors: Readonly<Record<string, string>>
}

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly records: Pick<RecordsStore, 'listEntries' | 'getProgress'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * A user in these vaults: what is recorded, with the events since then and the live balances, from two requests to each
 * chain, one after the other, chains side by side. Throws a chain's error only where there is one and nothing could be read.
 */
export async function readUserVaults(
  { readerOf, records, now }: Dependencies,
  vaults: readonly Vault[],
  user: Address,
): Promise<UserVaults> {
  const known = await records.getProgress(vaults)
  const progress = new Map(vaults.map((vault, index) => [vault, known[index] ?? unread(vault)]))
  const byChain = [...Map.groupBy(vaults, ({ chainId }) => chainId)]
  // The ledger entries are read after the progress, so none that it counts is missing.
  const [entries, ...reads] = await Promise.all([
    records.listEntries(user, vaults),
    ...byChain.map(async ([chainId, ofChain]): Promise<readonly VaultRead[]> => {
      try {
        return await readChain({ reader: readerOf(chainId), user, progress, now }, ofChain)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return ofChain.map((vault) => ({ vault, failure: error, isUsed: true }))
      }
    }),
  ])
  const recorded = new Map(vaults.map((vault, index) => [vault, entries[index]]))
  const read = reads.flat().map((one): VaultRead => {
    const { through, generation } = progress.get(one.vault) ?? unread(one.vault)
    // What a run at work records besides is in the tail.
    const before = recorded
      .get(one.vault)
      ?.filter((entry) => entry.generation === generation && entry.blockNumber <= through)
      .filter((entry) => !isNothing(entry))
    if ('failure' in one) return { ...one, isUsed: one.isUsed || before === undefined || before.length > 0 }
    if (!before) return { vault: one.vault, failure: notReadYet(TOO_MANY_ENTRIES), isUsed: true }
    const all = [...before, ...one.entries]
    return isPlausible(all, one.live)
      ? { ...one, entries: all }
      : { vault: one.vault, failure: impossible(), isUsed: all.length > 0 }
  })
  const found = read.filter((one) => 'live' in one)
  // What the user never used need not be read.
  const failures = read.filter((one) => 'failure' in one).filter(({ isUsed }) => isUsed)
  const byFailed = Map.groupBy(failures, ({ vault }) => vault.chainId)
  for (const [chainId, [first]] of byFailed) {
    logger.warn('vaults not read', { chainId, code: first?.failure.code, reason: String(first?.failure.cause) })
  }
  const outage = failures.find(({ failure }) => !isNotReadYet(failure))
  if (outage && byFailed.size === byChain.length && found.length === 0) throw outage.failure
  return {
    vaults: found,
    errors: Object.fromEntries([...byFailed].map(([chainId, [first]]) => [String(chainId), reasonOf(first?.failure)])),
  }
}

/** A vault that was read, or why not, and whether the user is known to have used it, or may have. */
type VaultRead = UserVault | { readonly vault: Vault; readonly failure: AppError; readonly isUsed: boolean }

type ChainQuestion = {
  readonly reader: ChainReader
  readonly user: Address
  readonly progress: ReadonlyMap<Vault, VaultProgress>
  readonly now: () => number
}

/** A vault's progress before it has one. */
function unread({ firstBlock }: Vault): VaultProgress {
  return { through: firstBlock - 1, ledger: EMPTY_LEDGER }
}

async function readChain(question: ChainQuestion, vaults: readonly Vault[]): Promise<VaultRead[]> {
  const { reader, user } = question
  const queries = vaults.map((vault) => protocolOf(vault).account(vault, user))
  const { blocks, values } = await reader.read(queries)
  // Up to a block that has a number: what "latest" is may differ from call to call, and events be lost or counted twice.
  const to = blocks.reduce((latest, { number }) => (number > latest ? number : latest), 0n)
  const read = await Promise.all(groupTails(question, vaults, to).map((group) => readTail(question, group)))
  const tails = new Map(read.flat())
  return await Promise.all(
    vaults.map(async (vault, index): Promise<VaultRead> => {
      const value = values[index]
      const block = blocks[index]
      if (!block || !value) throw new AppError('upstream_bad_answer', { cause: new Error('a vault has no answer') })
      const tail = await entriesUpTo(question, vault, tails.get(vault), block.number)
      if (tail instanceof AppError) return { vault, failure: tail, isUsed: true }
      const live = await failureAsValue(value(reader, block.number))
      return live instanceof AppError
        ? { vault, failure: live, isUsed: tail.length > 0 }
        : { vault, entries: tail, live, asOf: new Date(Number(block.timestamp) * 1000) }
    }),
  )
}

/** The account, or why it cannot be told, so that one contract's failure is not that of all. */
async function failureAsValue(account: Promise<LiveAccount>): Promise<LiveAccount | AppError> {
  try {
    return await account
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Vaults whose events are asked for together, from the first block that is not recorded of one of them to that of the balances. */
type Group = { readonly vaults: readonly Vault[]; readonly from: bigint; readonly to: bigint }

/** Vaults recorded to within so many blocks of the one that is recorded furthest share their requests. */
const LIKE_BLOCKS = 10_000
/** Older records are for the job to continue, which takes more than a request has. */
const LONGEST_TAIL_MS = 2 * 86_400_000
/** What one answer reads of events at most, and how long. */
const MOST_EVENTS = 2_000
/** More than so many events are, and few enough to be read in a moment. */
const MOST_BYTES = 4 * 2 ** 20
const TAIL_MS = 4_000
/**
 * How often the vaults of a group are halved when their events cannot be read together, so that of 256 vaults one hides
 * itself alone. Each vault at fault costs at most two requests a halving, all of them together two for each vault.
 */
const MOST_HALVINGS = 8

const TOO_MANY_ENTRIES = 'What happened to the user in a vault is more than can be shown at once'

/** Why a vault is left out though its chain can be read: said to the caller. */
class NotReadYet extends Error {}

function notReadYet(why: string): AppError {
  return new AppError('upstream_unavailable', { cause: new NotReadYet(why) })
}

function isNotReadYet({ cause }: AppError): boolean {
  return cause instanceof NotReadYet
}

function reasonOf(failure: AppError | undefined): string {
  return failure?.cause instanceof NotReadYet ? failure.cause.message : (failure?.message ?? '')
}

/** The vaults that have caught up, and those that have not, which must not cost the others anything. */
function groupTails({ progress }: ChainQuestion, vaults: readonly Vault[], to: bigint): Group[] {
  const throughOf = (vault: Vault) => progress.get(vault)?.through ?? 0
  const front = vaults.reduce((most, vault) => Math.max(most, throughOf(vault)), 0)
  const isCurrent = (vault: Vault) => throughOf(vault) > front - LIKE_BLOCKS
  return [vaults.filter(isCurrent), vaults.filter((vault) => !isCurrent(vault))]
    .filter((group) => group.length > 0)
    .map((group) => ({ vaults: group, from: firstUnread(group.map(throughOf)), to }))
}

function firstUnread(throughs: readonly number[]): bigint {
  return BigInt(Math.max(0, throughs.reduce((low, through) => Math.min(low, through), Number.MAX_SAFE_INTEGER) + 1))
}

/** The tails of a group's vaults, or why there is none. Its failure is that of no other group. */
async function readTail(
  question: ChainQuestion,
  group: Group,
  halvings = 0,
): Promise<[Vault, readonly VaultEvent[] | AppError][]> {
  const { progress, now } = question
  const isOld = (vault: Vault) => {
    const timestamp = progress.get(vault)?.timestamp
    return timestamp !== undefined && now() - Number(timestamp) * 1000 > LONGEST_TAIL_MS
  }
  const old = group.vaults.filter(isOld)
  if (old.length > 0) {
    const recent = group.vaults.filter((vault) => !isOld(vault))
    const failure = notReadYet('The past of a vault is still being read')
    const rest = recent.length > 0 ? await readTail(question, regroup(question, group, recent), halvings) : []
    return [...old.map((vault): [Vault, AppError] => [vault, failure]), ...rest]
  }
  try {
    const logs = await readUserLogs(question, group)
    const events = Map.groupBy(await parseLogs(question, logs), ({ vault }) => vault)
    return group.vaults.map((vault) => [vault, events.get(vault.address) ?? []])
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // A stranger can make a user's events in one vault too many, and no other vault is to wait for that for long.
    const isLate = error.code === 'upstream_timeout'
    const halvingsLeft = error.code === 'upstream_unavailable' && !isNotReadYet(error) ? 0 : isLate ? 1 : MOST_HALVINGS
    if (group.vaults.length === 1 || halvings >= halvingsLeft) {
      const failure = isLate ? notReadYet('The last events of a vault could not be read in time') : error
      return group.vaults.map((vault) => [vault, failure])
    }
    const half = Math.ceil(group.vaults.length / 2)
    const halves = [group.vaults.slice(0, half), group.vaults.slice(half)]
    const read = await Promise.all(
      halves.map((part) => readTail(question, regroup(question, group, part), halvings + 1)),
    )
    return read.flat()
  }
}

function regroup({ progress }: ChainQuestion, { to }: Group, vaults: readonly Vault[]): Group {
  return { vaults, to, from: firstUnread(vaults.map((vault) => progress.get(vault)?.through ?? 0)) }
}

/** Everything that concerns the user in some vaults: one request where the node takes the range. */
async function readUserLogs({ reader, user, now }: ChainQuestion, { vaults, from, to }: Group): Promise<Log[]> {
  if (from > to) return []
  const filters = filtersFor(user, vaults)
  const requests = filters.map((filter) => logsRequest(filter, [from, to]))
  const outcomes = await reader.request(requests, { mostBytes: MOST_BYTES })
  const giveUpAt = now() + TAIL_MS
  const logs = await Promise.all(
    filters.map((filter, index) => readWhole({ reader, now, filter, from, to, giveUpAt }, outcomes[index])),
  )
  return inOrder(logs.flat())
}

/** Whom an event concerns stands in the first, second or third topic after its name. */
function filtersFor(user: Address, vaults: readonly Vault[]): LogFilter[] {
  const address = vaults.map((vault) => vault.address)
  const topic = pad(user.toLowerCase() as Hex, { size: 32 })
  return [[topic], [null, topic], [null, null, topic]].map((rest) => ({
    address,
    topics: [VAULT_EVENT_TOPICS, ...rest],
  }))
}

type WholeQuestion = Pick<ChainQuestion, 'reader' | 'now'> & {
  readonly filter: LogFilter
  readonly from: bigint
  readonly to: bigint
  readonly giveUpAt: number
}

/** All events of a filter: those that a first call gave, or where it was refused those of smaller calls. Throws when they are too many. */
async function readWhole(
  { reader, filter, from, to, giveUpAt, now }: WholeQuestion,
  first?: RpcOutcome,
): Promise<readonly Log[]> {
  if (first && 'result' in first) {
    if (Array.isArray(first.result) && first.result.length > MOST_EVENTS) throw tooMany()
    return parseResult(z.array(Log), first)
  }
  if (first && 'error' in first && first.error.refusal === 'results') throw tooMany()
  if (from > to) return []
  const enough = (events: number) => events > MOST_EVENTS || now() > giveUpAt
  const { logs, through } = await reader.logsUntil(filter, from, to, enough)
  if (through < to || logs.length > MOST_EVENTS) throw tooMany()
  return logs
}

function tooMany(): AppError {
  return notReadYet('The last events of a vault are too many to be read at once; they are shown when they are recorded')
}

function isAfter({ position }: VaultEvent, block = 0n): boolean {
  return position.blockNumber > block
}

function impossible(): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error("a vault's events or balances contradict each other") })
}

async function parseLogs({ reader }: ChainQuestion, logs: readonly Log[]): Promise<VaultEvent[]> {
  return parseVaultEvents(reader.chain.id, logs, await readTimestamps(reader.request, logs))
}

/** The logs in order, each once. */
function inOrder(logs: readonly Log[]): Log[] {
  return [...new Map(logs.map((log) => [`${log.blockNumber} ${log.logIndex}`, log])).values()].toSorted(byLocation)
}

/** The user's ledger entries in a vault since its records end, up to a block. */
async function entriesUpTo(
  question: ChainQuestion,
  vault: Vault,
  tail: readonly VaultEvent[] | AppError | undefined,
  block: bigint,
): Promise<readonly LedgerEntry[] | AppError> {
  if (!tail || tail instanceof AppError) return tail ?? notReadYet('The events of a vault were not read')
  const { user, progress } = question
  const { through, ledger } = progress.get(vault) ?? unread(vault)
  const own = tail.filter(({ position }) => position.blockNumber > BigInt(through) && position.blockNumber <= block)
  const last = own.findLast((event) => needsPrice(vault, event, own))?.position.blockNumber
  try {
    const events =
      last === undefined ? own : await withPrices(question, vault, own, { from: BigInt(through + 1), to: last })
    // Up to its last price all that moves the supply is known, after it the user's part alone.
    const [whole, part] = [
      events.filter((event) => !isAfter(event, last)),
      events.filter((event) => isAfter(event, last)),
    ]
    const priced = postEvents(vault, ledger, whole)
    const entries = [...priced.entries, ...postEvents(vault, priced.ledger, part).entries].filter(
      (entry) => entry.user === user,
    )
    return isPossible({ ...priced, entries }) ? entries : impossible()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Whether what an event moved is worth what the vault's shares were worth then, which events of others tell. */
function needsPrice(vault: Vault, event: VaultEvent, own: readonly VaultEvent[]): boolean {
  const { books } = protocolOf(vault)
  if (books.handedOver(event) || transferOf(vault, books, event)) return true
  if (!isTransfer(event) || event.args.from !== zeroAddress || !books.isOwner(vault, event.args.to)) return false
  // A mint without a deposit is a fee.
  const { transactionHash } = event.position
  return !own.some((other) => other.position.transactionHash === transactionHash && books.minted(other))
}

/** The user's events with those of everybody that move the vault's price, in order: one more request. */
async function withPrices(
  question: ChainQuestion,
  vault: Vault,
  own: readonly VaultEvent[],
  { from, to }: { readonly from: bigint; readonly to: bigint },
): Promise<VaultEvent[]> {
  const { reader, now } = question
  const zero = pad(zeroAddress, { size: 32 })
  const topics = [[priceEventTopics(vault)], [[TRANSFER_TOPIC], zero], [[TRANSFER_TOPIC], null, zero]]
  const giveUpAt = now() + TAIL_MS
  const logs = await Promise.all(
    topics.map((of) => readWhole({ reader, now, filter: { address: vault.address, topics: of }, from, to, giveUpAt })),
  )
  const prices = await parseLogs(question, inOrder(logs.flat()))
  const key = ({ position }: VaultEvent) => `${position.blockNumber} ${position.logIndex}`
  return [...new Map([...prices, ...own].map((event) => [key(event), event])).values()].toSorted((left, right) =>
    byLocation(left.position, right.position),
  )
}
