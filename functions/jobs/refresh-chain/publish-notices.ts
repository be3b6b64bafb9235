import { logger } from '../../../lib/logger.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import type { Run, VaultRun } from './run.ts'

/** Tells clients what happened in these vaults; notes those of which they could not be told, and tries no more then. */
export async function publishOf(
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
