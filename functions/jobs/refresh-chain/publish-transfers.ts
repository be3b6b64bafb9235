import type { RecordsStore } from '../../../lib/activity/store.ts'
import { parseOwnTransfer } from '../../../lib/bridge/events.ts'
import { buildTransferNotices, notePublished } from '../../../lib/bridge/notices.ts'
import { getTarget } from '../../../lib/bridge/status.ts'
import type { TransfersStore } from '../../../lib/bridge/store.ts'
import type { RecordedTransfer } from '../../../lib/bridge/transfer.ts'
import type { ClientsStore, ClientsVaults } from '../../../lib/clients/store.ts'
import { logger } from '../../../lib/logger.ts'
import type { VaultKey } from '../../../lib/vaults/vault.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { getNextPoll } from './follow-transfers.ts'

type Dependencies = {
  readonly clients: Pick<ClientsStore, 'listVaultsOnChain'>
  readonly records: Pick<RecordsStore, 'listEntries'>
  readonly transfers: Pick<TransfersStore, 'postpone' | 'record'>
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly publish: (notices: readonly Notice[], clientsOf: (notice: Notice) => readonly string[]) => Promise<unknown>
}

/** What ended so long before somebody asked for it first is news to nobody. */
const NEWS_MS = 7 * 86_400_000

/**
 * Tells clients how transfers have ended, each the clients of the vault that it ended or began in, and then looks no more at
 * those that have ended for good. One that begins in several vaults that may be is that of the last that paid the account. What cannot be told now is
 * told by a later run.
 */
export async function publishTransfers(
  { clients, records, transfers, publish, now }: Dependencies,
  { chainId, ofChain, ended }: { chainId: number; ofChain: ClientsVaults; ended: readonly RecordedTransfer[] },
): Promise<void> {
  const known = new Map([[chainId, Promise.resolve(ofChain)]])
  const clientsOn = (id: number) => {
    const listed = known.get(id) ?? clients.listVaultsOnChain(id)
    known.set(id, listed)
    return listed
  }
  try {
    const published = await Promise.all(
      ended.map(async (one) => {
        const vault = await findVault(records, ofChain, one)
        const notices = vault ? buildTransferNotices(vault, one) : []
        const news = notices.filter(({ timestamp }) => now() - timestamp.getTime() < NEWS_MS)
        if (!vault || news.length === 0) return []
        const { clientsOf } = await clientsOn(vault.chainId)
        return news.map((notice) => ({ notice, clientIds: clientsOf(vault.address) }))
      }),
    )
    const clientIds = new Map(published.flat().map((one) => [one.notice, one.clientIds]))
    await publish([...clientIds.keys()], (notice) => clientIds.get(notice) ?? [])
  } catch (error) {
    logger.error('clients not told', { chainId, transfers: ended.length, reason: String(error) })
    return
  }
  await Promise.all(
    ended.map(({ key, recorded }) => {
      const { final, latest } = recorded
      if (final || !latest) return transfers.postpone(key, undefined)
      // What was told is kept where it is still what was seen last; else there is something new to tell.
      return transfers.record(
        key,
        { ...recorded, latest: notePublished(latest), lookAt: getNextPoll(recorded, now()) },
        recorded,
      )
    }),
  )
}

/** The vault that a transfer ends in, else the one on this chain that paid what it sends; undefined where there is none. */
async function findVault(
  records: Dependencies['records'],
  { vaults }: ClientsVaults,
  { recorded }: RecordedTransfer,
): Promise<VaultKey | undefined> {
  const target = getTarget(recorded)
  if (target || !recorded.source) return target
  const { deposit, initiated } = recorded.source
  const sent = parseOwnTransfer(deposit)
  const paying = vaults.filter(({ asset }) => asset === sent?.token)
  if (!sent || paying.length === 0) return undefined
  const entries = (await records.listEntries(sent.account, paying)).flatMap((ofVault) => ofVault ?? [])
  const last = entries
    .filter(({ kind, timestamp }) => kind === 'withdraw' && timestamp <= initiated)
    .reduce<(typeof entries)[number] | undefined>(
      (latest, entry) => (latest && latest.timestamp > entry.timestamp ? latest : entry),
      undefined,
    )
  const address = last?.vault ?? entries[0]?.vault
  return paying.find((vault) => vault.address === address)
}
