import { findTransferVault } from '../../../lib/bridge/status.ts'
import type { TransfersStore } from '../../../lib/bridge/store.ts'
import { markTransferPublished } from '../../../lib/bridge/timeline.ts'
import type { RecordedTransfer } from '../../../lib/bridge/transfer.ts'
import type { FindClients } from '../../../lib/clients/find-clients.ts'
import { logger } from '../../../lib/core/logger.ts'
import { DAY_MS } from '../../../lib/core/time.ts'
import { publishGroups } from '../../../lib/follow/publish-notices.ts'
import { buildTransferNotices } from '../../../lib/follow/transfer-notices.ts'
import { publishNotices } from '../../../lib/webhooks/append.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { getNextPoll } from './follow-transfers.ts'

/** Maximum age of a transfer's outcome that is published. An older outcome was discovered late and is no news to clients. */
const NEWS_MS = 7 * DAY_MS

/**
 * Publishes the outcomes of bridge transfers as webhook events to the clients of their vaults. Stops following
 * transfers whose outcome is final. Returns the number of transfers that a later run must publish.
 */
export async function publishTransfers(
  dependencies: Parameters<typeof publishNotices>[0] & {
    readonly findClients: FindClients
    readonly transfers: Pick<TransfersStore, 'postpone' | 'record'>
  },
  chainId: number,
  ended: readonly RecordedTransfer[],
): Promise<number> {
  const { findClients, transfers, now } = dependencies
  if (ended.length === 0) return 0
  try {
    const vaults = ended.flatMap(({ recorded }) => findTransferVault(recorded) ?? [])
    const clientsOf = await findClients(vaults)
    const clientIds = new Map<Notice, readonly string[]>()
    const groups = ended.map((one) => {
      const vault = findTransferVault(one.recorded)
      // Clients may already have an event about an outcome that was not final, if `latest` is set. Outcomes of such a
      // transfer are published at any age.
      const isNews = ({ timestamp }: Notice) => one.recorded.latest || now() - timestamp.getTime() < NEWS_MS
      const notices = vault ? buildTransferNotices(vault, one).filter(isNews) : []
      for (const notice of notices) clientIds.set(notice, vault ? clientsOf(vault) : [])
      return { ...one, notices }
    })
    const { published } = await publishGroups(
      (notices) => publishNotices(dependencies, notices, (notice) => clientIds.get(notice) ?? []),
      groups,
    )
    await Promise.all(
      published.map(({ key, recorded }) => {
        const { final, latest } = recorded
        if (final || !latest) return transfers.postpone(key, undefined)
        // The write fails if another outcome was recorded meanwhile. A later run then publishes the newer outcome.
        const keep = { ...recorded, latest: markTransferPublished(latest), lookAt: getNextPoll(recorded, now()) }
        return transfers.record(key, keep, recorded)
      }),
    )
    return ended.length - published.length
  } catch (error) {
    logger.error('clients not notified', { chainId, transfers: ended.length, reason: String(error) })
    return ended.length
  }
}
