import type { VaultProgress } from '../activity/store.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { readOverviews } from '../vaults/overview.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import { publishOf } from './publish-notices.ts'
import { type Run, save } from './run.ts'
import { buildLiftedNotice, buildPausedNotice } from './vault-notices.ts'

/** Reports vaults that were paused or resumed since the last run. */
export async function publishPauses(
  run: Run,
  { block, blocks, overviews }: Awaited<ReturnType<typeof readOverviews>>,
): Promise<void> {
  const { vaultRuns, final, inTurn } = run
  const looks = vaultRuns.flatMap((vaultRun, index) => {
    const isPaused = overviews[index]?.state.paused ?? undefined
    const { paused } = vaultRun.progress
    const isDue = paused !== undefined || inTurn.has(vaultRun)
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
  for (const { vaultRun, published: paused } of await publishOf(run, due))
    vaultRun.progress = { ...vaultRun.progress, paused }
}

type Paused = VaultProgress['paused']

/** A vault's pause state at a block, with the last final block at that time. */
type Look = { readonly isPaused: boolean; readonly block: BlockHeader; readonly final: BlockHeader }

/**
 * Follows a vault's pause. Save `begun` before the notices are published, so that another run reports the same pause, and
 * `published` afterwards. A vault that is already paused when the job first sees it is not reported.
 */
function followPause(
  vault: VaultKey,
  paused: Paused,
  { isPaused, block, final }: Look,
): { readonly begun: Paused; readonly published: Paused; readonly notices: readonly Notice[] } {
  const keep = (state: Paused) => ({ begun: state, published: state, notices: [] })
  if (!paused) {
    const since = { number: block.number, timestamp: block.timestamp }
    if (!isPaused) return keep(null)
    if (paused === undefined) return keep({ since, published: 'final' })
    return {
      begun: { since },
      published: { since, published: 'latest' },
      notices: [buildPausedNotice(vault, since, false)],
    }
  }
  const { since, published } = paused
  const latest = published ? [] : [buildPausedNotice(vault, since, false)]
  if (!isPaused) {
    // The node lags: its block is before the pause.
    if (block.number <= since.number) return keep(paused)
    if (published === 'final') return keep(null)
    return { begun: paused, published: null, notices: [...latest, buildLiftedNotice(vault, since)] }
  }
  if (published === 'final') return keep(paused)
  if (final.number < since.number) return { begun: paused, published: { since, published: 'latest' }, notices: latest }
  return {
    begun: paused,
    published: { since, published: 'final' },
    notices: [...latest, buildPausedNotice(vault, since, true)],
  }
}
