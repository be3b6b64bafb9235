import type { VaultProgress } from '../activity/store.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import { DAY } from '../core/time.ts'
import { createAccountEntries } from './account-entries.ts'
import { createEntryReader } from './entries.ts'
import { buildRevertedNotice } from './latest-notices.ts'
import { publishVaultNotices } from './publish-notices.ts'
import { type deriveNewEntries, leaveForNextRun, type Run, type VaultRun } from './run.ts'
import type { Slice } from './slice.ts'
import { collectBlockHashes, findNotices, type SliceChanges } from './slice-notices.ts'
import { readDueSnapshots } from './snapshot-requests.ts'

type MovedRun = { readonly vaultRun: VaultRun } & ReturnType<typeof deriveNewEntries>

/** Number of a vault's webhook events at which they are published, before the next ones are built. */
const NOTICES_PER_BATCH = 500
/** Age of events, in seconds, at which they are recorded although they cannot be published. Recording therefore never stops. */
const MAX_UNREPORTED_SECONDS = DAY

type Settled = Pick<VaultProgress, 'settledIds' | 'waits' | 'snapshotAt'>

/**
 * Publishes the webhook events of a range of blocks, each vault's in order. Returns the changes that settlements make
 * to the recording progress, by vault. Leaves a vault for the next run if its events cannot be published and are less
 * than a day old.
 */
export async function publishSlices(
  run: Run,
  moved: readonly MovedRun[],
  { timestamp, through }: Slice,
): Promise<ReadonlyMap<VaultRun, Settled>> {
  const { records, openRequests, now } = run
  const found = new Map<VaultRun, SliceChanges>()
  const snapshots = await readDueSnapshots(
    run,
    moved.map(({ vaultRun }) => vaultRun),
    through,
  )
  const withEntries = createEntryReader(run, through, { isRead: through === run.final.number })
  const waiting: Parameters<typeof withEntries>[0][number][] = []
  await runConcurrently(moved, async ({ vaultRun, events, entries }) => {
    const { vault, progress } = vaultRun
    const { confirmed = [] } = snapshots.get(vaultRun) ?? {}
    const accounts = createAccountEntries(records, { vault, progress, entries })
    const finding = findNotices({ openRequests, accounts }, { vault, progress, events, entries, snapshots: confirmed })
    const hashes = collectBlockHashes(events)
    const due = (progress.latest ?? []).filter(({ blockNumber }) => blockNumber <= through)
    const reverted = due.filter((one) => hashes.get(one.blockNumber) !== one.blockHash)
    let notices = reverted.map((latest) => buildRevertedNotice(vault, latest))
    let part = await finding.next()
    for (; !part.done; part = await finding.next()) {
      notices.push(...part.value)
      if (notices.length < NOTICES_PER_BATCH) continue
      await publishVaultNotices(run, await withEntries([{ vaultRun, notices, accounts }]))
      notices = []
    }
    found.set(vaultRun, part.value)
    if (notices.length > 0) waiting.push({ vaultRun, notices, accounts })
  })
  await publishVaultNotices(run, await withEntries(waiting))
  const isRecent = now() - Number(timestamp) * 1000 < MAX_UNREPORTED_SECONDS * 1000
  const unpublished = moved.map(({ vaultRun }) => vaultRun).filter((vaultRun) => run.unpublished.has(vaultRun))
  if (isRecent && unpublished.length > 0) leaveForNextRun(run, unpublished, 'clients cannot be notified')
  const settled = new Map<VaultRun, Settled>()
  for (const { vaultRun } of moved) {
    const { progress, changed = [], ended = [] } = found.get(vaultRun) ?? {}
    const marked = snapshots.get(vaultRun)
    if (vaultRun.isRefused || !(progress || marked)) continue
    await openRequests.put(vaultRun.vault, changed)
    await openRequests.close(vaultRun.vault, ended)
    await openRequests.deleteSnapshots(vaultRun.vault, marked?.due ?? [])
    settled.set(vaultRun, { ...progress, ...(marked && { snapshotAt: marked.next }) })
  }
  return settled
}
