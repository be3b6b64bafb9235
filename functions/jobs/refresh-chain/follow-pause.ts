import type { VaultProgress } from '../../../lib/activity/store.ts'
import type { BlockHeader } from '../../../lib/chain/logs.ts'
import { buildLiftedNotice, buildPausedNotice } from '../../../lib/vaults/notices.ts'
import type { VaultKey } from '../../../lib/vaults/vault.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'

type Paused = VaultProgress['paused']

/** A look at a vault: whether it was paused at a block, and the last final block then. */
type Look = { readonly isPaused: boolean; readonly block: BlockHeader; readonly final: BlockHeader }

/**
 * What a look at a vault makes of what is known of its pause. `begun` is to be kept before anything is told of it, so that
 * whoever finds it again tells of the same one; `published` once the notices are. What is paused when the job sees
 * it first is news to nobody.
 */
export function followPause(
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
    // A node that lags behind tells of a time before it.
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
