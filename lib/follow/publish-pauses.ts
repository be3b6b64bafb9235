import type { VaultProgress } from '../activity/store.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { readOverviews } from '../vaults/overview.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import { publishVaultNotices } from './publish-notices.ts'
import { type Run, saveProgress } from './run.ts'
import { buildPauseNotice, buildPauseRevertedNotice } from './vault-notices.ts'

/** Publishes webhook events for vaults that were paused or resumed, and updates the vaults' recording progress. */
export async function publishPauses(
  run: Run,
  { block, blocks, overviews }: Awaited<ReturnType<typeof readOverviews>>,
): Promise<void> {
  const { vaultRuns, final, inTurn } = run
  const snapshots = vaultRuns.flatMap((vaultRun, index) => {
    const isPaused = overviews[index]?.state.paused ?? undefined
    const { paused } = vaultRun.progress
    const isDue = paused !== undefined || inTurn.has(vaultRun)
    if (isPaused === undefined || !isDue) return []
    return [{ vaultRun, ...followPause(vaultRun.vault, paused, { isPaused, block: blocks[index] ?? block, final }) }]
  })
  const begun = snapshots.filter(({ vaultRun, begun }) => begun !== vaultRun.progress.paused)
  for (const { vaultRun, begun: paused } of begun) vaultRun.progress = { ...vaultRun.progress, paused }
  const due = snapshots.filter(({ notices }) => notices.length > 0)
  await saveProgress(
    run,
    due.map(({ vaultRun }) => vaultRun).filter((vaultRun) => vaultRun.progress.paused !== vaultRun.saved?.paused),
  )
  for (const { vaultRun, published: paused } of await publishVaultNotices(run, due))
    vaultRun.progress = { ...vaultRun.progress, paused }
}

type Paused = VaultProgress['paused']

type PauseSnapshot = { readonly isPaused: boolean; readonly block: BlockHeader; readonly final: BlockHeader }

/**
 * Compares a vault's pause state with the last known state. The caller saves `begun` before it publishes the events, so
 * that a repeated run publishes the same change. It saves `published` afterwards. A vault that is paused at the first
 * read is reported only once it resumes.
 */
function followPause(
  vault: VaultKey,
  paused: Paused,
  { isPaused, block, final }: PauseSnapshot,
): { readonly begun: Paused; readonly published: Paused; readonly notices: readonly Notice[] } {
  const keep = (state: Paused) => ({ begun: state, published: state, notices: [] })
  if (!paused) return keep({ isFinal: isPaused })
  const { isFinal, change } = paused
  // A state counts only if it was read later than the pause or resumption that is not final yet (`change`). Without
  // such a change, it must be read later than the last final block. Otherwise the node lags, and the known state is
  // kept.
  if (block.number <= (change?.since.number ?? final.number)) return keep(paused)
  const type = isFinal ? 'vault.resumed' : 'vault.paused'
  const { since } = change ?? { since: { number: block.number, timestamp: block.timestamp } }
  const latest = change?.isPublished ? [] : [buildPauseNotice(vault, type, since, false)]
  if (isPaused === isFinal) {
    if (!change) return keep(paused)
    const notices = [...latest, buildPauseRevertedNotice(vault, type, since)]
    return { begun: paused, published: { isFinal }, notices }
  }
  const begun = change ? paused : { isFinal, change: { since, isPublished: false } }
  if (final.number < since.number) {
    return { begun, published: { isFinal, change: { since, isPublished: true } }, notices: latest }
  }
  const notices = [...latest, buildPauseNotice(vault, type, since, true)]
  return { begun, published: { isFinal: isPaused }, notices }
}
