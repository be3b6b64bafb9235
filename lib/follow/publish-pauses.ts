import type { VaultProgress } from '../activity/store.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { readOverviews } from '../vaults/overview.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import { publishOf } from './publish-notices.ts'
import { type Run, save } from './run.ts'
import { buildPauseNotice, buildPauseRevertedNotice } from './vault-notices.ts'

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

/** A change that is not final: the first block at which it was seen, and whether that was published. */
type Change = NonNullable<NonNullable<Paused>['resumed']>

/**
 * Follows a vault's pause. Save `begun` before the notices are published, so that another run reports the same change, and
 * `published` afterwards. A vault that is already paused when the job first sees it is not reported until it resumes.
 */
function followPause(
  vault: VaultKey,
  paused: Paused,
  { isPaused, block, final }: Look,
): { readonly begun: Paused; readonly published: Paused; readonly notices: readonly Notice[] } {
  const keep = (state: Paused) => ({ begun: state, published: state, notices: [] })
  const since = { number: block.number, timestamp: block.timestamp }
  if (paused === undefined) return keep(isPaused ? { since, published: 'final' } : null)
  // The node lags: its block is before the change.
  if (block.number <= ((paused?.resumed ?? paused)?.since.number ?? -1n)) return keep(paused)

  // What is final, and what has changed since.
  const isPausedFinal = paused?.published === 'final'
  const type = isPausedFinal ? 'vault.resumed' : 'vault.paused'
  const change = (isPausedFinal ? paused.resumed : paused) as Change | null | undefined
  const withChange = (of: Change | undefined): Paused =>
    isPausedFinal ? { since: paused.since, published: 'final', resumed: of } : (of ?? null)
  if (isPaused === isPausedFinal) {
    if (!change) return keep(paused)
    const reverted = buildPauseRevertedNotice(vault, type, change.since)
    return { begun: paused, published: withChange(undefined), notices: [...listLatest(change), reverted] }
  }
  if (!change)
    return {
      begun: withChange({ since }),
      published: withChange({ since, published: 'latest' }),
      notices: listLatest({ since }),
    }
  if (final.number < change.since.number) {
    return {
      begun: paused,
      published: withChange({ since: change.since, published: 'latest' }),
      notices: listLatest(change),
    }
  }
  return {
    begun: paused,
    published: isPausedFinal ? null : { since: change.since, published: 'final' },
    notices: [...listLatest(change), buildPauseNotice(vault, type, change.since, true)],
  }

  function listLatest({ since, published }: Change): Notice[] {
    return published ? [] : [buildPauseNotice(vault, type, since, false)]
  }
}
