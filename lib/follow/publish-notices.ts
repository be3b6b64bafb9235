import { logger } from '../core/logger.ts'
import type { Notice } from '../webhooks/event.ts'
import type { Run, VaultRun } from './run.ts'

/** Webhook events that are published together or not at all, such as those of one vault. */
type Group = { readonly notices: readonly Notice[] }

/**
 * Publishes groups of webhook events together. If the table refuses the events, publishes each half of the groups
 * separately, to isolate the group at fault. Returns the published groups. `isCutOff` is true if the table or the queue
 * is unreachable; publishing then stops.
 */
export async function publishGroups<Of extends Group>(
  publish: (notices: readonly Notice[]) => Promise<unknown>,
  groups: readonly Of[],
): Promise<{ readonly published: readonly Of[]; readonly isCutOff: boolean }> {
  if (groups.length === 0) return { published: [], isCutOff: false }
  try {
    await publish(groups.flatMap(({ notices }) => notices))
    return { published: groups, isCutOff: false }
  } catch (error) {
    const isCutOff = !isRefusal(error)
    if (isCutOff || groups.length === 1) {
      const chainId = groups[0]?.notices[0]?.data.chainId
      logger.error('clients not notified', { chainId, groups: groups.length, reason: String(error) })
      return { published: [], isCutOff }
    }
    const middle = Math.ceil(groups.length / 2)
    const first = await publishGroups(publish, groups.slice(0, middle))
    if (first.isCutOff) return first
    const others = await publishGroups(publish, groups.slice(middle))
    return { published: [...first.published, ...others.published], isCutOff: others.isCutOff }
  }
}

/**
 * Returns true if a retry would fail too, because the events or a client's stored item caused the failure. For example,
 * an item may be too large.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && ['ZodError', 'UnknownFormError', 'ValidationException'].includes(error.name)
}

/**
 * Publishes the webhook events of these vaults and returns the published groups. Marks a vault as unpublished if its
 * events could not be published. Skips vaults that another run records. To keep the order, publishes no more events of
 * an unpublished vault in this run.
 */
export async function publishVaultNotices<Of extends Group & { readonly vaultRun: VaultRun }>(
  run: Run,
  all: readonly Of[],
): Promise<readonly Of[]> {
  const waiting = all.filter(({ vaultRun }) => !vaultRun.isTaken)
  const due = run.isCutOff ? [] : waiting.filter(({ vaultRun }) => !run.unpublished.has(vaultRun))
  const { published, isCutOff } = await publishGroups(run.publish, due)
  run.isCutOff ||= isCutOff
  const done = new Set(published)
  for (const one of waiting) if (!done.has(one)) run.unpublished.add(one.vaultRun)
  return published
}
