import { type Address, isAddress } from 'viem'
import { BATCH_DISTANCE_BLOCKS } from '../../../lib/activity/events.ts'
import { isPossible } from '../../../lib/activity/ledger.ts'
import type { LedgerEntry } from '../../../lib/activity/ledger-entry.ts'
import { findOpenRequests } from '../../../lib/activity/open-requests.ts'
import { readSlice, SLICE_EVENTS } from '../../../lib/activity/slice.ts'
import { AppError } from '../../../lib/errors.ts'
import type { VaultEvent } from '../../../lib/protocols/books.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { toResult } from '../../../lib/result.ts'
import { listLatest, publishSlices } from './publish-slices.ts'
import { listUnsaved, postNew, type Run, refuse, save, type VaultRun, withGeneration } from './run.ts'
import { closeSettled } from './slice-notices.ts'

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
const SAVE_EVERY_MS = 10_000

/** Records what happened up to the last final block, turn by turn. Throws the first failure where nothing could be read. */
export async function recordEvents(run: Run): Promise<void> {
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

/** Whether entries begin requests of which no event will tell that they are settled. */
function opensAsked(vault: VaultOnChain, entries: readonly LedgerEntry[]): boolean {
  const { books } = getProtocol(vault)
  return !books.settlement && findOpenRequests(entries, books).opened.length > 0
}

/** All addresses that events name. Whoever has a ledger entry is among them. */
function listAddresses(events: readonly VaultEvent[]): ReadonlySet<Address> {
  const values: unknown[] = events.flatMap(({ args }) => Object.values(args))
  return new Set(values.filter((value): value is Address => typeof value === 'string' && isAddress(value)))
}
