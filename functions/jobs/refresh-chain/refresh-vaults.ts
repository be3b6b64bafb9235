import { type Address, type Hash, isAddress } from 'viem'
import { BATCH_DISTANCE_BLOCKS } from '../../../lib/activity/events.ts'
import { buildRevertedNotice, MOST_LATEST, rememberNotice } from '../../../lib/activity/latest-notices.ts'
import { isPossible, type Posted, postEvents } from '../../../lib/activity/ledger.ts'
import type { LedgerEntry } from '../../../lib/activity/ledger-entry.ts'
import { buildLatestKey } from '../../../lib/activity/notices.ts'
import { findOpenRequests } from '../../../lib/activity/open-requests.ts'
import type { OpenRequestsStore } from '../../../lib/activity/open-requests-store.ts'
import { beginRebuild } from '../../../lib/activity/rebuild.ts'
import { readSlice, SLICE_EVENTS, type Slice } from '../../../lib/activity/slice.ts'
import {
  initialProgress,
  type RecordsStore,
  type VaultProgress,
  type VaultRecords,
} from '../../../lib/activity/store.ts'
import { YIELD_SECONDS } from '../../../lib/activity/yields.ts'
import { blocksApart } from '../../../lib/chain/blocks.ts'
import { readFinalBlock } from '../../../lib/chain/finality.ts'
import type { BlockHeader } from '../../../lib/chain/logs.ts'
import { toStoredBlock } from '../../../lib/chain/logs.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { AppError } from '../../../lib/errors.ts'
import { logger } from '../../../lib/logger.ts'
import type { VaultEvent } from '../../../lib/protocols/books.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { toResult } from '../../../lib/result.ts'
import { sideBySide } from '../../../lib/side-by-side.ts'
import type { PricePoint } from '../../../lib/vaults/apy.ts'
import { readOverviews } from '../../../lib/vaults/overview.ts'
import { type RecordedState, type StateStore, stateDigest } from '../../../lib/vaults/state-store.ts'
import type { VaultKey } from '../../../lib/vaults/vault.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { askRequests, settleAsked } from './ask-requests.ts'
import { followPause } from './follow-pause.ts'
import { deleteReplaced, putInForce, takeOverPrices } from './replace-records.ts'
import { accountEntries, closeSettled, findNotices } from './slice-notices.ts'

type Dependencies = {
  readonly reader: ChainReader
  readonly records: Pick<
    RecordsStore,
    | 'getProgress'
    | 'putProgress'
    | 'record'
    | 'getPriceAt'
    | 'getFirstPrice'
    | 'listPricesBetween'
    | 'deleteEarlier'
    | 'listEntries'
  >
  readonly openRequests: OpenRequestsStore
  readonly states: Pick<StateStore, 'record'>
  /** Tells clients of what happened; when it throws, what it was given may be told again. */
  readonly publish: (notices: readonly Notice[]) => Promise<void>
  /** Finds the vaults of which clients want to be told also what is not final. */
  readonly getWantsLatest: () => Promise<(vault: Address) => boolean>
  /** Epoch milliseconds. */
  readonly now: () => number
}

type Limits = {
  /** The moment, in epoch milliseconds, after which nothing more is begun. */
  readonly until: number
  /** Whether this run still has the right to record the chain. */
  readonly holdsLease: () => Promise<boolean>
}

/** A reading of a vault's past in a run. */
type VaultRun = {
  readonly vault: VaultOnChain
  /** The reading in force, of which this one is to take the place; undefined for the one in force. */
  readonly replaces: VaultRun | undefined
  /** How far it is recorded, and how far the table says so. */
  progress: VaultProgress
  saved: VaultProgress | undefined
  /** Whether its events cannot be read in this run. */
  isRefused: boolean
  /** How many blocks are asked for at most. */
  span: number
  /** Whether more blocks took too long: they are not asked for again in this run. */
  isSlow: boolean
}

/** One run over a chain: what it works with, and what it has done so far. */
type Run = Dependencies &
  Limits & {
    /** The readings in force, one for each vault. */
    readonly vaultRuns: readonly VaultRun[]
    /** The readings under way, by those in force of which they are to take the place. */
    readonly rebuilds: Map<VaultRun, VaultRun>
    /** The last block that is recorded. */
    readonly final: BlockHeader
    /** The vaults of which new states and silent progress are written in this run. */
    readonly inTurn: ReadonlySet<VaultRun>
    /** The vaults that are read by themselves, in the order of their turns. */
    readonly apart: Set<VaultRun>
    readonly failures: AppError[]
    /** Vaults of which clients could not be told something: as long as it is recent, it is not recorded either. */
    readonly unpublished: Set<VaultRun>
    readonly done: { slices: number; entries: number; prices: number; states: number }
  }

/** How many vaults' events one call asks for. Geth takes 1,000 addresses, and a share token may have one of its own. */
const PACK = 500
/** How many packs of vaults that have caught up are read side by side. */
const PACKS_AT_ONCE = 4
/** By which factors the range of a vault shrinks when its events cannot be read, and grows again when they can. */
const SHRINK = 1_000
const GROW = 10
const DENSE_GROW = 2
/** After so many failures a run asks no more. */
const MOST_FAILURES = 100
/** A range whose events took too long is taken as this long at most, and asked for again in so many parts. */
const SLOW_PARTS = 10
const LONGEST_SLOW = 100_000
/** Into how many parts vaults are divided, read side by side, to find those at fault. */
const DIVIDED = 8
/** The progress of a silent vault is written when the one in the table is older than this, and at least so often. */
const SILENT_SECONDS = 300n
const SAVE_EVERY_MS = 10_000
const HOUR_SECONDS = 3_600n
/** Of so many vaults a run, which is once a minute, writes new states and silent progress; of more it does in turn. */
const MOST_IN_TURN = 250
const RUN_EVERY_MS = 60_000
/** So many readings a run puts in force at most. */
const MOST_REPLACED = 50
/** A vault's refresh is due once an hour, later where there are many: a run does a part of them, new ones first. */
const REFRESH_PARTS = 60
/** So many vaults a run asks what became of requests. */
const MOST_ASKED = 20
const MOST_REFRESHED = 25

/**
 * Records what happened in a chain's vaults up to its last final block, and their states, until there is nothing more or
 * the time is used, and returns the report. It works in slices: a slice's ledger entries and prices are written, then how
 * far its vaults are recorded, so that the next run continues wherever one ends. Read side by side are the vaults that
 * have caught up, those that are recorded least far, and one of those with so many events that others would wait for
 * them. A vault whose events the nodes refuse is left for the next run. Of a vault that an older version of its books
 * recorded the past is read again, as that of a new one is, and then takes the place of its records. Throws `upstream_*` where nothing could be read,
 * and an Error when the lease was lost.
 */
export async function refreshVaults(dependencies: Dependencies, vaults: readonly VaultOnChain[], limits: Limits) {
  const { reader, records } = dependencies
  const chainId = reader.chain.id
  const finding = readFinalBlock(reader)
  // Two hosts are asked at a block that both know, for what each says of its own latest block is not compared.
  const reading =
    reader.nodes > 1 ? finding.then(({ head }) => readOverviewsAt(reader, vaults, head)) : readOverviews(reader, vaults)
  const [recorded, { head, final }, overviews] = await Promise.all([
    records.getProgress(vaults),
    finding,
    // Nothing that a vault answers may keep what happened in the others from being recorded.
    reading.catch((error: unknown) => {
      logger.warn('states not read', { chainId, reason: String(error) })
      return undefined
    }),
  ])
  const vaultRuns = vaults.map((vault, index) => {
    const { rebuild: _, ...saved } = recorded[index] ?? initialProgress(vault)
    return startVaultRun(vault, saved, recorded[index] && saved)
  })
  const inTurn = vaultRunsInTurn(vaultRuns, dependencies.now())
  // The past of a vault is news to nobody.
  for (const vaultRun of inTurn) {
    vaultRun.progress = { eventsAfter: Number(final.number), ...vaultRun.progress }
  }
  const rebuilds = vaultRuns.flatMap((vaultRun, index): [VaultRun, VaultRun][] => {
    const progress = recorded[index]
    const rebuild = progress && startRebuildRun(vaultRun, progress, inTurn, dependencies.now())
    return rebuild ? [[vaultRun, rebuild]] : []
  })
  const run: Run = {
    ...dependencies,
    ...limits,
    vaultRuns,
    rebuilds: new Map(rebuilds),
    final,
    inTurn,
    apart: new Set(),
    failures: [],
    unpublished: new Set(),
    done: { slices: 0, entries: 0, prices: 0, states: 0 },
  }
  await recordEvents(run)
  if (overviews && overviews.block.number > final.number) await recordOverviews(run, overviews)
  if (overviews) await publishPauses(run, overviews)
  await replaceRecords(run)
  await save(run, listUnsaved(run))
  await askVaults(run)
  await publishLatest(run, head)
  await deleteOldRecords(run)

  const [front] = vaultRuns
    .map(({ progress }) => progress)
    .filter(({ timestamp }) => timestamp !== undefined)
    .toSorted((left, right) => right.through - left.through)
  const reached = Math.min(front?.through ?? 0, Number(final.number))
  const { entries, prices, states } = run.done
  return {
    chainId,
    vaults: vaults.length,
    through: front?.through ?? null,
    behind: vaultRuns.filter((vaultRun) => vaultRun.progress.through < reached || run.rebuilds.has(vaultRun)).length,
    lagSeconds: lagOf(run, head, front?.timestamp ?? head.timestamp),
    entries,
    prices,
    states,
    untoldVaults: run.unpublished.size,
  }
}

/**
 * How many seconds records are behind: as the chain's head has it, or the clock, less what finality takes, where that is
 * more, as at nodes of which none goes on.
 */
function lagOf({ reader, now }: Run, head: BlockHeader, recorded: bigint): number {
  const byClock = Math.floor(now() / 1000) - reader.chain.finality.seconds - Number(recorded)
  return Math.max(0, Number(head.timestamp - recorded), byClock)
}

/** The overviews at a head, or earlier where nodes behind one URL do not all know it yet. Throws `upstream_*`. */
async function readOverviewsAt(reader: ChainReader, vaults: readonly VaultOnChain[], { number }: BlockHeader) {
  const atHead = await toResult(readOverviews(reader, vaults, number))
  return 'value' in atHead ? atHead.value : readOverviews(reader, vaults, number - blocksApart(reader.chain))
}

function startVaultRun(
  vault: VaultOnChain,
  progress: VaultProgress,
  saved: VaultProgress | undefined,
  replaces?: VaultRun,
): VaultRun {
  return { vault, replaces, progress, saved, isRefused: false, span: Number.POSITIVE_INFINITY, isSlow: false }
}

/** The reading under way of a vault's past; begun where its turn has come and an older version of its books recorded it. */
function startRebuildRun(
  vaultRun: VaultRun,
  progress: VaultProgress,
  inTurn: ReadonlySet<VaultRun>,
  now: number,
): VaultRun | undefined {
  const { vault } = vaultRun
  const { rebuild, booksVersion } = progress
  const { version } = getProtocol(vault).books
  if (rebuild?.booksVersion === version) return startVaultRun(vault, rebuild, rebuild, vaultRun)
  if (!inTurn.has(vaultRun) || (!rebuild && booksVersion >= version)) return undefined
  return startVaultRun(vault, beginRebuild(vault, progress, now), undefined, vaultRun)
}

/** Records what happened up to the last final block, turn by turn. Throws the first failure where nothing could be read. */
async function recordEvents(run: Run): Promise<void> {
  const { vaultRuns, rebuilds, final, apart, failures, now, until, done } = run
  const readings = [...vaultRuns, ...rebuilds.values()]
  let savedAt = now()
  while (now() < until && failures.length < MOST_FAILURES) {
    const open = readings.filter(({ progress, isRefused }) => progress.through < final.number && !isRefused)
    const alone = [...apart].find((vaultRun) => open.includes(vaultRun))
    const turn = planTurn(run, open, alone)
    if (turn.length === 0) break
    await Promise.all(turn.map((part) => advance(run, part)))
    if (alone) {
      // The next one's turn.
      apart.delete(alone)
      apart.add(alone)
    }
    if (now() - savedAt > SAVE_EVERY_MS) {
      await save(run, listUnsaved(run))
      savedAt = now()
    }
  }
  if (failures[0] && done.slices === 0) throw failures[0]
}

/** Vaults whose events are read together, and the blocks, both included. */
type Part = { readonly pack: readonly VaultRun[]; readonly from: number; readonly to: number }

/**
 * What is read next, side by side: the vaults that have caught up; of those whose past is still being read the ones that
 * are recorded least far, up to where the next one is, which then joins them; and one of those that are read apart.
 */
function planTurn({ vaultRuns, final, apart }: Run, open: readonly VaultRun[], alone: VaultRun | undefined): Part[] {
  const last = Number(final.number)
  const throughOf = ({ progress }: VaultRun) => progress.through
  const front = Math.max(0, ...vaultRuns.map((vaultRun) => Math.min(throughOf(vaultRun), last)))
  const together = open.filter((vaultRun) => !apart.has(vaultRun))
  const current = together.filter((vaultRun) => throughOf(vaultRun) > front - BATCH_DISTANCE_BLOCKS)
  const behind = together.filter((vaultRun) => throughOf(vaultRun) <= front - BATCH_DISTANCE_BLOCKS)
  const reach = Math.min(front, ...behind.map(throughOf)) + BATCH_DISTANCE_BLOCKS
  const next = Math.min(last, ...behind.map(throughOf).filter((through) => through >= reach))
  const packs = Array.from({ length: PACKS_AT_ONCE }, (_, index) => current.slice(index * PACK, (index + 1) * PACK))
  return [
    ...packs.map((pack) => ({ pack, end: last })),
    { pack: behind.filter((vaultRun) => throughOf(vaultRun) < reach).slice(0, PACK), end: next },
    { pack: alone ? [alone] : [], end: last },
  ]
    .filter(({ pack }) => pack.length > 0)
    .map(({ pack, end }) => {
      const from = Math.min(...pack.map(throughOf)) + 1
      return { pack, from, to: Math.min(end, from + Math.min(...pack.map(({ span }) => span)) - 1) }
    })
}

/**
 * Records a slice of a part. Where that fails fewer blocks are asked for at the next turn if it took too long, else fewer
 * vaults at once, and fewer blocks of the one at fault; what cannot be read so either is left for the next run. Nothing
 * is begun after the run's time, or after too many failures.
 */
async function advance(run: Run, part: Part): Promise<void> {
  const { pack, from, to } = part
  if (run.now() >= run.until || run.failures.length >= MOST_FAILURES) return
  const slice = await toResult(recordSlice(run, part))
  if ('value' in slice) {
    const through = slice.value
    run.done.slices += 1
    for (const vaultRun of pack) {
      // Where events are dense, the next slice asks for about as many blocks as this one had.
      if (!vaultRun.isSlow) vaultRun.span = through < to ? (through - from + 1) * DENSE_GROW : vaultRun.span * GROW
    }
    return
  }
  const { error } = slice
  run.failures.push(error)
  // Of two hosts one may be silent because it was asked for too much.
  const { code } = error.code === 'second_node_silent' && error.cause instanceof AppError ? error.cause : error
  if (code === 'upstream_unavailable' || (pack.length === 1 && to === from)) {
    refuse(run, pack, String(error.cause))
  } else if (code === 'upstream_timeout' && to > from) {
    const span = Math.ceil(Math.min(to - from, LONGEST_SLOW) / SLOW_PARTS)
    for (const vaultRun of pack) Object.assign(vaultRun, { isSlow: true, span })
  } else if (pack.length > 1) {
    // Not the blocks were too many, but those of one vault among them are.
    for (const vaultRun of pack) vaultRun.isSlow = false
    const size = Math.ceil(pack.length / DIVIDED)
    const starts = Array.from({ length: Math.ceil(pack.length / size) }, (_, index) => index * size)
    await Promise.all(starts.map((start) => advance(run, { ...part, pack: pack.slice(start, start + size) })))
  } else {
    for (const vaultRun of pack) vaultRun.span = Math.ceil((to - from) / SHRINK)
  }
}

/** Leaves vaults for the next run. */
function refuse({ reader }: Run, vaultRuns: readonly VaultRun[], reason: string): void {
  for (const vaultRun of vaultRuns) vaultRun.isRefused = true
  logger.warn('events of vaults cannot be recorded now', {
    chainId: reader.chain.id,
    vaults: vaultRuns.map(({ vault }) => vault.address),
    through: Math.min(...vaultRuns.map(({ progress }) => progress.through)),
    reason,
  })
}

/** Reads the next slice of a part and records it; gives its last block. A vault with most of very many events is read apart from now on. */
async function recordSlice(run: Run, { pack, from, to }: Part): Promise<number> {
  const { records, openRequests, done, apart } = run
  const vaults = [...new Map(pack.map(({ vault }) => [vault.address, vault])).values()]
  const slice = await readSlice(run, { ...run, vaults, from: BigInt(from), to: BigInt(to) })
  const through = Number(slice.through)
  const events = Map.groupBy(slice.events, ({ vault }) => vault)
  const posted = pack
    .filter(({ progress }) => progress.through < through)
    .map((vaultRun) => ({ vaultRun, ...postNew(vaultRun, events.get(vaultRun.vault.address) ?? []) }))
  const moved = posted.filter(isPossible)
  const impossible = posted.filter((one) => !isPossible(one)).map(({ vaultRun }) => vaultRun)
  // A vault whose events contradict each other has no books; those of the others go on.
  if (impossible.length > 0) refuse(run, impossible, 'events that contradict each other')
  await records.record(
    moved.map(({ vaultRun, entries, prices, events: since }) => ({
      vault: withGeneration(vaultRun),
      ...{ entries, prices },
      accounts: vaultRun.replaces ? listAddresses(since) : [],
    })),
  )
  await openRequests.record(
    moved.map(({ vaultRun, entries }) => ({
      reading: withGeneration(vaultRun),
      ...findOpenRequests(entries, getProtocol(vaultRun.vault).books),
    })),
  )
  const settled = await publishSlices(run, moved, slice)
  const published = moved.filter(({ vaultRun }) => !vaultRun.isRefused)
  for (const { vaultRun, ledger, entries, prices } of published) {
    const weekAgo = vaultRun.progress.weekAgo ?? prices[0]
    vaultRun.progress = {
      ...vaultRun.progress,
      through,
      timestamp: slice.timestamp,
      ledger,
      ...settled.get(vaultRun),
      ...(vaultRun.progress.latest && { latest: listLatest(vaultRun.progress, slice.through) }),
      ...(opensAsked(vaultRun.vault, entries) && { hasAsked: true }),
      ...(weekAgo && { weekAgo }),
    }
    done.entries += entries.length
    done.prices += prices.length
  }
  await save(
    run,
    published.map(({ vaultRun }) => vaultRun).filter(({ vault }) => events.has(vault.address)),
  )
  for (const { vaultRun } of published.filter(({ vaultRun }) => settled.has(vaultRun))) {
    await closeSettled(openRequests, withGeneration(vaultRun), vaultRun.progress.settledIds)
  }
  const noisy = pack.find(({ vault }) => (events.get(vault.address)?.length ?? 0) > SLICE_EVENTS / 2)
  if (noisy && pack.length > 1) apart.add(noisy)
  return through
}

/** What those of the events led to that are not recorded of a vault yet. */
function postNew(
  { vault, progress }: VaultRun,
  all: readonly VaultEvent[],
): Posted & { events: readonly VaultEvent[] } {
  const events = all.filter(({ location }) => location.blockNumber > BigInt(progress.through))
  return { ...postEvents(vault, progress.ledger, events), events }
}

/** Whether entries begin requests of which no event will tell that they are settled. */
function opensAsked(vault: VaultOnChain, entries: readonly LedgerEntry[]): boolean {
  const { books } = getProtocol(vault)
  return !books.settlement && findOpenRequests(entries, books).opened.length > 0
}

/** What a reading came to in a slice. */
type MovedRun = { readonly vaultRun: VaultRun } & ReturnType<typeof postNew>

/** So many notices are told at once, or somewhat more. */
const NOTICES_AT_ONCE = 500
/** What clients could not be told is recorded nevertheless when it is so old: records must not stand still for ever. */
const UNTOLD_SECONDS = 86_400

/**
 * Tells clients of a slice, each vault's part in order, and gives what it settled by the readings of which it settled
 * requests. Where clients cannot be told, the vaults with something to tell are left for the next run.
 */
async function publishSlices(
  run: Run,
  moved: readonly MovedRun[],
  { timestamp, through }: Slice,
): Promise<ReadonlyMap<VaultRun, Settled>> {
  const { records, openRequests, now } = run
  const settled = new Map<VaultRun, Settled>()
  const waiting: { readonly vaultRun: VaultRun; readonly notices: readonly Notice[] }[] = []
  await sideBySide(moved, async ({ vaultRun, events, entries }) => {
    const { vault, progress, replaces } = vaultRun
    const found = findNotices(
      { records, openRequests },
      { vault, progress, events, entries },
      { isPublished: !replaces },
    )
    const hashes = hashesOf(events)
    const final = new Set<string>()
    let notices: Notice[] = []
    let part = await found.next()
    for (; !part.done; part = await found.next()) {
      notices.push(...part.value)
      for (const key of part.value.flatMap((notice) => latestKeyOf(notice, hashes) ?? [])) final.add(key)
      if (notices.length < NOTICES_AT_ONCE) continue
      await publishOf(run, [{ vaultRun, notices }])
      notices = []
    }
    const reverted = replaces ? [] : listDue(progress, through).filter(({ key }) => !final.has(key))
    notices.push(...reverted.map((latest) => buildRevertedNotice(vault, latest)))
    if (part.value) settled.set(vaultRun, part.value)
    if (notices.length > 0) waiting.push({ vaultRun, notices })
  })
  await publishOf(run, waiting)
  const isRecent = now() - Number(timestamp) * 1000 < UNTOLD_SECONDS * 1000
  const unpublished = moved.map(({ vaultRun }) => vaultRun).filter((vaultRun) => run.unpublished.has(vaultRun))
  if (isRecent && unpublished.length > 0) refuse(run, unpublished, 'clients cannot be told')
  return settled
}
type Settled = Pick<VaultProgress, 'settledIds' | 'waits'>

/** What clients were told of blocks that are final by now, and of those that are not. */
function listDue({ latest = [] }: VaultProgress, through: bigint) {
  return latest.filter(({ blockNumber }) => blockNumber <= through)
}
function listLatest({ latest = [] }: VaultProgress, through: bigint) {
  return latest.filter(({ blockNumber }) => blockNumber > through)
}

function hashesOf(events: readonly VaultEvent[]): ReadonlyMap<number, Hash> {
  return new Map(
    events.flatMap(({ location: { blockNumber, blockHash } }) => (blockHash ? [[Number(blockNumber), blockHash]] : [])),
  )
}

/** The key that a notice had while its block was not final. */
function latestKeyOf({ key, data }: Notice, hashes: ReadonlyMap<number, Hash>): string | undefined {
  const hash = 'blockNumber' in data ? hashes.get(data.blockNumber) : undefined
  return hash && buildLatestKey(key, hash)
}

/**
 * Tells clients that want it what happened after the last final block, up to the head. What is told is remembered before, so
 * that it can be taken back; told again, nobody is told twice.
 */
async function publishLatest(run: Run, head: BlockHeader): Promise<void> {
  const { vaultRuns, final, records, openRequests, reader } = run
  if (head.number <= final.number) return
  const giveUp = (error: unknown) =>
    logger.warn('what is not final cannot be told', { chainId: reader.chain.id, reason: String(error) })
  // Whatever fails there: what is final is recorded all the same.
  const wantsLatest = await run.getWantsLatest().catch(giveUp)
  if (!wantsLatest) return
  try {
    const wanted = vaultRuns.filter(
      ({ vault, progress, isRefused }) =>
        wantsLatest(vault.address) &&
        progress.eventsAfter !== undefined &&
        progress.through >= final.number &&
        !isRefused,
    )
    for (
      let pack = wanted.slice(0, PACK), next = PACK;
      pack.length > 0;
      pack = wanted.slice(next, next + PACK), next += PACK
    ) {
      const vaults = pack.map(({ vault }) => vault)
      const slice = await readSlice(run, { ...run, vaults, from: final.number + 1n, to: head.number, final: head })
      const events = Map.groupBy(slice.events, ({ vault }) => vault)
      const waiting: { readonly vaultRun: VaultRun; readonly notices: readonly Notice[] }[] = []
      for (const vaultRun of pack) {
        const posted = postNew(vaultRun, events.get(vaultRun.vault.address) ?? [])
        if (posted.events.length === 0 || !isPossible(posted)) continue
        const { vault, progress } = vaultRun
        const part = { vault, progress, events: posted.events, entries: posted.entries }
        const notices: Notice[] = []
        const options = { isPublished: true, hashes: hashesOf(posted.events) }
        for await (const some of findNotices({ records, openRequests }, part, options)) notices.push(...some)
        const { latest = [] } = progress
        const known = new Set(latest.map(({ key }) => key))
        const unknown = notices.filter(({ key }) => !known.has(key)).flatMap((notice) => rememberNotice(notice) ?? [])
        const added = unknown.slice(0, MOST_LATEST - latest.length)
        for (const { key } of added) known.add(key)
        if (added.length > 0) vaultRun.progress = { ...progress, latest: [...latest, ...added] }
        waiting.push({ vaultRun, notices: notices.filter(({ key, final }) => !final && known.has(key)) })
      }
      await save(
        run,
        waiting.map(({ vaultRun }) => vaultRun).filter(({ progress, saved }) => progress.latest !== saved?.latest),
      )
      await publishOf(
        run,
        waiting.filter(({ notices }) => notices.length > 0),
      )
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    giveUp(error)
  }
}

/** Tells clients what happened in these vaults; notes those of which they could not be told, and tries no more then. */
async function publishOf(
  { reader, publish, unpublished }: Run,
  waiting: readonly { readonly vaultRun: VaultRun; readonly notices: readonly Notice[] }[],
): Promise<boolean> {
  if (waiting.length === 0) return true
  try {
    if (unpublished.size === 0) {
      await publish(waiting.flatMap(({ notices }) => notices))
      return true
    }
  } catch (error) {
    logger.error('clients not told', { chainId: reader.chain.id, reason: String(error) })
  }
  for (const { vaultRun } of waiting) unpublished.add(vaultRun)
  return false
}

/** All addresses that events name. Whoever has a ledger entry is among them. */
function listAddresses(events: readonly VaultEvent[]): ReadonlySet<Address> {
  const values: unknown[] = events.flatMap(({ args }) => Object.values(args))
  return new Set(values.filter((value): value is Address => typeof value === 'string' && isAddress(value)))
}

/** The vault with this reading of its past. */
function withGeneration({ vault, progress: { generation } }: VaultRun): VaultRecords['vault'] {
  return { ...vault, generation }
}

/** Writes how far these vaults are recorded; throws when another run has the lease by now. */
async function save({ reader, records, holdsLease, rebuilds }: Run, vaultRuns: readonly VaultRun[]): Promise<void> {
  if (vaultRuns.length === 0) return
  if (!(await holdsLease())) throw new Error(`Chain ${reader.chain.id}: the lease was lost.`)
  // Both readings of a vault are in one item.
  const inForce = [...new Set(vaultRuns.map((vaultRun) => vaultRun.replaces ?? vaultRun))]
  await records.putProgress(
    inForce.map((vaultRun) => {
      const rebuild = rebuilds.get(vaultRun)?.progress
      return [vaultRun.vault, rebuild ? { ...vaultRun.progress, rebuild } : vaultRun.progress]
    }),
  )
  for (const vaultRun of inForce) {
    vaultRun.saved = vaultRun.progress
    const rebuild = rebuilds.get(vaultRun)
    if (rebuild) rebuild.saved = rebuild.progress
  }
}

/** Puts the readings in force that go as far as those in force do, in the same run that has read both. */
async function replaceRecords({ vaultRuns, rebuilds, records, now, until }: Run): Promise<void> {
  const caughtUp = vaultRuns.filter((vaultRun) => {
    const rebuild = rebuilds.get(vaultRun)
    return rebuild?.progress.timestamp !== undefined && rebuild.progress.through >= vaultRun.progress.through
  })
  for (const vaultRun of caughtUp.slice(0, MOST_REPLACED)) {
    const { vault, progress } = vaultRun
    const reading = rebuilds.get(vaultRun)
    if (!reading) continue
    const isOver = () => now() >= until
    const { generation } = progress
    const { rebuild, isDone } = await takeOverPrices(records, vault, { generation, rebuild: reading.progress }, isOver)
    reading.progress = rebuild
    if (!isDone) continue
    vaultRun.progress = await putInForce(records, vault, progress, rebuild, now())
    rebuilds.delete(vaultRun)
  }
}

/** Deletes what the readings in force have taken the place of, as far as the time reaches. */
async function deleteOldRecords(run: Run): Promise<void> {
  const { vaultRuns, records, openRequests, now, until } = run
  const isOver = () => now() >= until
  for (const vaultRun of vaultRuns) {
    const { vault, progress } = vaultRun
    if (progress.replacedAt === undefined || isOver()) continue
    vaultRun.progress = await deleteReplaced({ records, openRequests }, vault, progress, { now: now(), isOver })
    if (vaultRun.progress.replacedAt === undefined) await save(run, [vaultRun])
  }
}

/** Tells clients of vaults that are paused since the last looks. */
async function publishPauses(
  run: Run,
  { block, blocks, overviews }: Awaited<ReturnType<typeof readOverviews>>,
): Promise<void> {
  const { vaultRuns, final, inTurn } = run
  const looks = vaultRuns.flatMap((vaultRun, index) => {
    const isPaused = overviews[index]?.state.paused ?? undefined
    const { paused, eventsAfter } = vaultRun.progress
    const isDue = eventsAfter !== undefined && (paused !== undefined || inTurn.has(vaultRun))
    if (isPaused === undefined || !isDue) return []
    return [{ vaultRun, ...followPause(vaultRun.vault, paused, { isPaused, block: blocks[index] ?? block, final }) }]
  })
  const begun = looks.filter(({ vaultRun, begun }) => begun !== vaultRun.progress.paused)
  for (const { vaultRun, begun: paused } of begun) vaultRun.progress = { ...vaultRun.progress, paused }
  const due = looks.filter(({ notices }) => notices.length > 0)
  await save(
    run,
    due.map(({ vaultRun }) => vaultRun).filter((vaultRun) => vaultRun.progress.paused !== vaultRun.saved?.paused),
  )
  if (!(await publishOf(run, due))) return
  for (const { vaultRun, published: paused } of due) vaultRun.progress = { ...vaultRun.progress, paused }
}

/** Asks vaults of which no event tells that requests are settled, in turn where they are many. */
async function askVaults(run: Run): Promise<void> {
  const { vaultRuns, reader, records, openRequests, final, now } = run
  const due = vaultRuns.filter(
    ({ progress, saved, isRefused }) =>
      progress.hasAsked === true && saved !== undefined && progress.through >= final.number && !isRefused,
  )
  const first = (Math.floor(now() / RUN_EVERY_MS) * MOST_ASKED) % Math.max(1, due.length)
  const inTurn = [...due.slice(first), ...due.slice(0, first)].slice(0, MOST_ASKED)
  if (inTurn.length === 0) return
  try {
    const asked = await askRequests({ reader, openRequests }, inTurn)
    for (const [index, vaultRun] of inTurn.entries()) {
      const { vault, progress } = vaultRun
      const entriesOf = accountEntries(records, { vault, progress, entries: [] })
      const publish = async (notices: readonly Notice[]) => {
        if (progress.eventsAfter !== undefined) await run.publish(notices)
      }
      const changed = await settleAsked({ openRequests, entriesOf, publish }, vaultRun, asked[index] ?? [], final)
      if (changed) vaultRun.progress = { ...progress, ...changed }
      if (changed) await save(run, [vaultRun])
    }
  } catch (error) {
    logger.warn('requests not asked for', { chainId: reader.chain.id, reason: String(error) })
  }
}

/** Records the states that have changed, and the states and prices of the vaults whose refresh is due. */
async function recordOverviews(
  { vaultRuns, records, states, inTurn, done }: Run,
  { block, blocks, overviews, evidence }: Awaited<ReturnType<typeof readOverviews>>,
): Promise<void> {
  const earliest = await toResult(evidence())
  const due = new Set(dueForRefresh(vaultRuns, block.timestamp))
  const newStates: [VaultKey, RecordedState][] = []
  const newPrices: VaultRecords[] = []
  await Promise.all(
    vaultRuns.map(async (vaultRun, index) => {
      const { vault, progress } = vaultRun
      const { state, sharePrice } = overviews[index] ?? {}
      const digest = state && stateDigest(state)
      const isChanged = digest !== progress.state && (inTurn.has(vaultRun) || progress.state === undefined)
      // A broken vault's state must not replace what is recorded of it.
      if (state && state.totalAssets !== null && digest && (due.has(vaultRun) || isChanged)) {
        const asOf = toStoredBlock(blocks[index] ?? block)
        const told = 'value' in earliest && earliest.value.blockNumber === asOf.blockNumber ? earliest.value : undefined
        newStates.push([vault, { state, asOf, told }])
        vaultRun.progress = { ...vaultRun.progress, state: digest }
      }
      if (!due.has(vaultRun)) return
      // No event sets the price of a vault in which nobody trades.
      const isRead = getProtocol(vault).books.pricedBy === 'trades' && sharePrice !== undefined
      const price = isRead ? { price: sharePrice, timestamp: block.timestamp, blockNumber: block.number } : undefined
      if (price) newPrices.push({ vault: withGeneration(vaultRun), entries: [], prices: [price] })
      const weekAgo = (await findWeekAgo(records, vaultRun, block.timestamp)) ?? price
      vaultRun.progress = { ...vaultRun.progress, refreshedAt: block.timestamp, ...(weekAgo && { weekAgo }) }
    }),
  )
  await Promise.all([states.record(newStates), records.record(newPrices)])
  done.states = newStates.length
  done.prices += newPrices.length
}

/** The vaults whose progress has changed without an event, and is due to be written. */
function listUnsaved({ vaultRuns, rebuilds, final, inTurn }: Run): VaultRun[] {
  return [...vaultRuns, ...rebuilds.values()].filter((vaultRun) => {
    const { progress, saved, replaces } = vaultRun
    if (progress === saved) return false
    // How far a past is read again must not be lost, nor that it is in force.
    if (replaces || progress.generation !== saved?.generation) return true
    // Nor from when on clients are told of it.
    if (progress.eventsAfter !== saved?.eventsAfter || progress.paused !== saved?.paused) return true
    if (saved?.timestamp === undefined || progress.timestamp === undefined) return true
    if (progress.state !== saved.state || progress.refreshedAt !== saved.refreshedAt) return true
    // What took long to read, as a past does, must not have to be read again.
    const isSilent = !inTurn.has(vaultRun) && progress.through >= Number(final.number)
    return progress.timestamp - saved.timestamp >= (isSilent ? HOUR_SECONDS : SILENT_SECONDS)
  })
}

/** The vaults of which this run writes what is no event: all of them where they are few, else in turn. */
function vaultRunsInTurn(vaultRuns: readonly VaultRun[], now: number): ReadonlySet<VaultRun> {
  const turns = Math.max(1, Math.ceil(vaultRuns.length / MOST_IN_TURN))
  const turn = Math.floor(now / RUN_EVERY_MS) % turns
  return new Set(vaultRuns.filter((_, index) => index % turns === turn))
}

/** The vaults whose refresh is due: new ones first, then those for which it is longest ago. */
function dueForRefresh(vaultRuns: readonly VaultRun[], at: bigint): VaultRun[] {
  const refreshedAt = ({ progress }: VaultRun) => progress.refreshedAt ?? 0n
  const earlier = vaultRuns
    .filter((vaultRun) => refreshedAt(vaultRun) > 0n && at - refreshedAt(vaultRun) >= HOUR_SECONDS)
    .toSorted((left, right) => Number(refreshedAt(left) - refreshedAt(right)))
  const never = vaultRuns.filter((vaultRun) => refreshedAt(vaultRun) === 0n)
  return [...never, ...earlier.slice(0, Math.ceil(vaultRuns.length / REFRESH_PARTS))].slice(0, MOST_REFRESHED)
}

/** The price of a week ago, else the first one; not looked for again in a vault that never had a price. */
async function findWeekAgo(
  records: Pick<RecordsStore, 'getPriceAt' | 'getFirstPrice'>,
  { vault, progress: { weekAgo, refreshedAt, generation } }: VaultRun,
  at: bigint,
): Promise<PricePoint | undefined> {
  if (!weekAgo && refreshedAt !== undefined) return undefined
  const reading = { ...vault, generation }
  const first = weekAgo ?? (await records.getFirstPrice(reading))
  // Where there is no price at all, there is none of a week ago.
  return first && ((await records.getPriceAt(reading, at - YIELD_SECONDS)) ?? first)
}
