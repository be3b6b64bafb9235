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
import { publishGroups } from './publish-notices.ts'

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
 * those that have ended for good. Gives of how many they could not be told: a later run tells them.
 */
export async function publishTransfers(
  dependencies: Dependencies,
  { chainId, ofChain, ended }: { chainId: number; ofChain: ClientsVaults; ended: readonly RecordedTransfer[] },
): Promise<number> {
  const { clients, records, transfers, publish, now } = dependencies
  const known = new Map([[chainId, Promise.resolve(ofChain)]])
  const clientsOn = (id: number) => {
    const listed = known.get(id) ?? clients.listVaultsOnChain(id)
    known.set(id, listed)
    return listed
  }
  const found = await Promise.all(
    ended.map(async (one) => {
      const vault = await findVault(records, ofChain, one)
      const notices = vault ? buildTransferNotices(vault, one) : []
      // What was published before it was final is followed by what is.
      const isNews = ({ timestamp }: Notice) => one.recorded.latest || now() - timestamp.getTime() < NEWS_MS
      const clientIds = vault && notices.length > 0 ? (await clientsOn(vault.chainId)).clientsOf(vault.address) : []
      const kept = await keepVault(transfers, one, vault)
      return kept ? [{ ...kept, notices: notices.filter(isNews), clientIds }] : []
    }),
  ).catch((error: unknown) => {
    logger.error('clients not told', { chainId, transfers: ended.length, reason: String(error) })
    return undefined
  })
  if (!found) return ended.length
  const clientIds = new Map(found.flat().flatMap((one) => one.notices.map((notice) => [notice, one.clientIds])))
  const { published } = await publishGroups(
    (notices) => publish(notices, (notice) => clientIds.get(notice) ?? []),
    found.flat(),
  )
  await Promise.all(
    published.map(({ key, recorded }) => {
      const { final, latest } = recorded
      if (final || !latest) return transfers.postpone(key, undefined)
      // What was published is kept where it is still what was seen last; else there is something new to publish.
      return transfers.record(
        key,
        { ...recorded, latest: notePublished(latest), lookAt: getNextPoll(recorded, now()) },
        recorded,
      )
    }),
  )
  const done: ReadonlySet<object> = new Set(published)
  return found.flat().filter((one) => one.notices.length > 0 && !done.has(one)).length
}

/**
 * Keeps in which vault an ending that is not final is told, before it is: another one may have paid the account by what is
 * recorded later. Undefined where something else was seen of the transfer meanwhile.
 */
async function keepVault(
  transfers: Pick<TransfersStore, 'record'>,
  { key, recorded }: RecordedTransfer,
  vault: VaultKey | undefined,
): Promise<RecordedTransfer | undefined> {
  const { final, latest } = recorded
  if (final || !latest || latest.vault || !vault || getTarget(recorded)) return { key, recorded }
  const { chainId, address } = vault
  const keep = { ...recorded, latest: { ...latest, vault: { chainId, address }, version: latest.version + 1 } }
  return (await transfers.record(key, keep, recorded)) ? { key, recorded: keep } : undefined
}

/**
 * The vault that a transfer ends in, else the one on this chain that paid what it sends: of several that may be the last that
 * paid the account. Undefined where there is none.
 */
async function findVault(
  records: Dependencies['records'],
  { vaults }: ClientsVaults,
  { recorded }: RecordedTransfer,
): Promise<VaultKey | undefined> {
  const target = getTarget(recorded) ?? recorded.latest?.vault
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
