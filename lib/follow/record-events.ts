import { hasPossibleAmounts } from '../activity/fold.ts'
import { addMissedSettlements } from '../activity/missed-settlements.ts'
import { findOpenRequests } from '../activity/open-requests.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { addPrices } from '../vaults/prices.ts'
import { publishSlices } from './publish-slices.ts'
import { type BatchRange, canReadMore, hasBlocksLeft, planReads, readNextSlice } from './read-batches.ts'
import { readPrices } from './read-prices.ts'
import {
  deriveNewEntries,
  leaveForNextRun,
  listUnsavedVaultRuns,
  type Run,
  saveProgress,
  selectNewEvents,
} from './run.ts'
import { readSlice, SLICE_EVENTS } from './slice.ts'
import { closeSettledRequests } from './slice-notices.ts'

const SAVE_EVERY_MS = 10_000

/** Records events up to the last final block, one range of blocks after the other. Throws the first failure if nothing could be read. */
export async function recordEvents(run: Run): Promise<void> {
  const { vaultRuns, final, separate, failures, now, done } = run
  let savedAt = now()
  while (canReadMore(run)) {
    const open = vaultRuns.filter((vaultRun) => hasBlocksLeft(vaultRun, final))
    const noisyVault = [...separate].find((vaultRun) => open.includes(vaultRun))
    const ranges = planReads(run, open, noisyVault)
    if (ranges.length === 0) break
    await Promise.all(ranges.map((part) => readNextSlice(run, part, (one) => recordSlice(run, one))))
    if (noisyVault) {
      separate.delete(noisyVault)
      separate.add(noisyVault)
    }
    if (now() - savedAt > SAVE_EVERY_MS) {
      await saveProgress(run, listUnsavedVaultRuns(run))
      savedAt = now()
    }
  }
  if (failures[0] && done.slices === 0) throw failures[0]
}

/**
 * Reads the next range of the vaults' events, records the events, and returns the range's last block. A vault with more
 * than half of SLICE_EVENTS is read separately from then on.
 */
async function recordSlice(run: Run, { batch, from, to }: BatchRange): Promise<number> {
  const { records, prices, openRequests, done, separate } = run
  const vaults = batch.map(({ vault }) => vault)
  const slice = await readSlice(run, { ...run, vaults, from: BigInt(from), to: BigInt(to) })
  const through = Number(slice.through)
  const events = Map.groupBy(slice.events, ({ vault }) => vault)
  const fresh = batch
    .filter(({ progress }) => progress.through < through)
    .map((vaultRun) => ({ vaultRun, events: selectNewEvents(vaultRun, events.get(vaultRun.vault.address)) }))
  const posted = (await readPrices(run, fresh)).map(({ vaultRun, events, read }) => {
    const derived = deriveNewEntries(vaultRun, events, read)
    const requests = findOpenRequests(derived.entries, getProtocol(vaultRun.vault).books)
    return { vaultRun, read, requests, ...derived }
  })
  const moved = posted.filter(hasPossibleAmounts)
  const impossible = posted.filter((one) => !hasPossibleAmounts(one)).map(({ vaultRun }) => vaultRun)
  // A vault with contradictory events is left out, so that the other vaults continue.
  if (impossible.length > 0) leaveForNextRun(run, impossible, 'events that contradict each other')
  const pricesOf = (one: (typeof moved)[number]) => [...one.prices, ...one.read]
  await prices.record(
    moved.map((one) => {
      const { vault, progress } = one.vaultRun
      return { vault, prices: pricesOf(one), known: progress.lastPrices ?? [] }
    }),
  )
  await records.record(moved.map(({ vaultRun: { vault }, events }) => ({ vault, events })))
  await openRequests.record(moved.map(({ vaultRun: { vault }, requests }) => ({ vault, ...requests })))
  const settled = await publishSlices(run, moved, slice)
  const published = moved.filter(({ vaultRun }) => !vaultRun.isRefused)
  for (const one of published) {
    const { vaultRun, ledger, entries, requests } = one
    const { latest } = vaultRun.progress
    const { books } = getProtocol(vaultRun.vault)
    vaultRun.progress = {
      ...vaultRun.progress,
      ...(books.settlementStep && { missed: addMissedSettlements(vaultRun.progress.missed ?? {}, books, one.events) }),
      through,
      timestamp: slice.timestamp,
      ledger,
      ...settled.get(vaultRun),
      ...(latest && { latest: latest.filter(({ blockNumber }) => blockNumber > slice.through) }),
      ...(requests.isAsked && requests.opened.length > 0 && { hasAsked: true }),
      ...addPrices(vaultRun.progress, pricesOf(one), slice.through),
    }
    done.entries += entries.length
    done.prices += pricesOf(one).length
  }
  await saveProgress(
    run,
    published
      .map(({ vaultRun }) => vaultRun)
      .filter((vaultRun) => events.has(vaultRun.vault.address) || settled.has(vaultRun)),
  )
  for (const { vaultRun } of published.filter(({ vaultRun }) => !vaultRun.isTaken)) {
    await closeSettledRequests(openRequests, vaultRun.vault, settled.get(vaultRun)?.settledIds)
  }
  const noisyVault = batch.find(({ vault }) => (events.get(vault.address)?.length ?? 0) > SLICE_EVENTS / 2)
  if (noisyVault && batch.length > 1) separate.add(noisyVault)
  return through
}
