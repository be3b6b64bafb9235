import * as z from 'zod'
import { logger } from '../logger.ts'
import type { Notice } from '../webhooks/event.ts'
import type { Run, VaultRun } from './run.ts'

/** Notices that are published together or not at all, as those of one vault are. */
type Group = { readonly notices: readonly Notice[] }

/**
 * Publishes groups of notices, all at once; where the table refuses what they say, those at fault apart from the others. Gives
 * the groups that are published, and whether the table or the queue could not be reached: then none is tried after it.
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
      logger.error('clients not told', { chainId, groups: groups.length, reason: String(error) })
      return { published: [], isCutOff }
    }
    const middle = Math.ceil(groups.length / 2)
    const first = await publishGroups(publish, groups.slice(0, middle))
    if (first.isCutOff) return first
    const others = await publishGroups(publish, groups.slice(middle))
    return { published: [...first.published, ...others.published], isCutOff: others.isCutOff }
  }
}

/** Whether a failure is of what was to be published, as of an item that is too large, and will be the same again. */
function isRefusal(error: unknown): boolean {
  return error instanceof z.ZodError || (error instanceof Error && error.name === 'ValidationException')
}

/**
 * Publishes what happened in these vaults, and gives those of which it is; notes the others, but for those that another run has
 * recorded. Of a vault of which something could
 * not be published nothing more is in this run, so that what happened in it stays in order.
 */
export async function publishOf<Of extends Group & { readonly vaultRun: VaultRun }>(
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
