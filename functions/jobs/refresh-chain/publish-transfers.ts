import type { Address } from 'viem'
import type { RecordsStore } from '../../../lib/activity/store.ts'
import { notePublished } from '../../../lib/bridge/endings.ts'
import { parseOwnTransfer } from '../../../lib/bridge/events.ts'
import { findPayer } from '../../../lib/bridge/payer.ts'
import { getTarget } from '../../../lib/bridge/status.ts'
import type { TransfersStore } from '../../../lib/bridge/store.ts'
import type { RecordedTransfer } from '../../../lib/bridge/transfer.ts'
import type { FindClients } from '../../../lib/clients/find-clients.ts'
import type { KnownVault } from '../../../lib/follow/known-vault.ts'
import { publishGroups } from '../../../lib/follow/publish-notices.ts'
import { buildTransferNotices } from '../../../lib/follow/transfer-notices.ts'
import { logger } from '../../../lib/logger.ts'
import type { LedgerEntry } from '../../../lib/protocols/ledger-entry.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { DAY_MS } from '../../../lib/time.ts'
import type { VaultKey } from '../../../lib/vaults/vault.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { getNextPoll } from './follow-transfers.ts'

type Dependencies = {
  readonly findClients: FindClients
  readonly records: Pick<RecordsStore, 'listEntries'>
  readonly transfers: Pick<TransfersStore, 'postpone' | 'record'>
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly publish: (notices: readonly Notice[], clientsOf: (notice: Notice) => readonly string[]) => Promise<unknown>
}

type Ended = {
  readonly chainId: number
  /** The chain's vaults. */
  readonly vaults: readonly VaultOnChain[]
  readonly ended: readonly RecordedTransfer[]
  /** The chain's vaults by their addresses; undefined before they are read. */
  readonly known: ReadonlyMap<Address, KnownVault> | undefined
}

/** What ended so long before somebody asked for it first is news to nobody. */
const NEWS_MS = 7 * DAY_MS

/** Until so long after its beginning a transfer waits for the vault that paid it to be known. */
const UNKNOWN_MS = DAY_MS

/**
 * Tells clients how transfers have ended, each the clients of the vault that it ended or began in, and then looks no more at
 * those that have ended for good. Gives of how many they could not be told, and those of which it is not known yet which
 * vault paid them: a later run tells of both.
 */
export async function publishTransfers(
  dependencies: Dependencies,
  { chainId, vaults, ended, known }: Ended,
): Promise<{ readonly unpublished: number; readonly waiting: readonly RecordedTransfer[] }> {
  if (ended.length === 0) return { unpublished: 0, waiting: [] }
  const { findClients, records, transfers, publish, now } = dependencies
  const waiting: RecordedTransfer[] = []
  const found = await Promise.all(
    ended.map(async (one) => {
      const vault = await findVault({ records, now }, { vaults, known }, one)
      if (vault === 'not known yet') {
        waiting.push(one)
        return []
      }
      const notices = vault ? buildTransferNotices(vault, one) : []
      // What was published before it was final is followed by what is.
      const isNews = ({ timestamp }: Notice) => one.recorded.latest || now() - timestamp.getTime() < NEWS_MS
      const clientIds = vault && notices.length > 0 ? (await findClients([vault]))(vault) : []
      const kept = await keepVault(transfers, one, vault)
      return kept ? [{ ...kept, notices: notices.filter(isNews), clientIds }] : []
    }),
  ).catch((error: unknown) => {
    logger.error('clients not told', { chainId, transfers: ended.length, reason: String(error) })
    return undefined
  })
  if (!found) return { unpublished: ended.length, waiting: [] }
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
  return { unpublished: found.flat().filter((one) => one.notices.length > 0 && !done.has(one)).length, waiting }
}

/** The token of a transfer of which no vault is known yet that paid it; undefined where it names its vault, or none did. */
export function getPaidToken({ recorded }: RecordedTransfer): Address | undefined {
  if (getTarget(recorded) ?? recorded.latest?.vault) return undefined
  return recorded.source && parseOwnTransfer(recorded.source.deposit)?.token
}

/**
 * Keeps in which vault an ending that is not final is told, before it is, so that what follows goes to the same clients.
 * Undefined where something else was seen of the transfer meanwhile.
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
 * The vault that a transfer ends in, else the one on this chain that paid what it sends; undefined where there is none. That is
 * known once all that may have paid it are, up to its block; a day after it began those that are not known paid nothing, and
 * where the account has something in one of them nobody is told.
 */
async function findVault(
  { records, now }: Pick<Dependencies, 'records' | 'now'>,
  { vaults, known }: Pick<Ended, 'vaults' | 'known'>,
  { key, recorded }: RecordedTransfer,
): Promise<VaultKey | 'not known yet' | undefined> {
  const target = getTarget(recorded) ?? recorded.latest?.vault
  if (target || !recorded.source) return target
  const { deposit, initiated, blockNumber } = recorded.source
  const sent = parseOwnTransfer(deposit)
  const paying = vaults.filter(({ asset }) => asset === sent?.token)
  if (!sent || paying.length === 0) return undefined
  if (!known) return 'not known yet'
  const listed = await records.listEntries(sent.account, paying)
  let isKnown = true
  let mayBeUnknown = false
  const entries = paying.flatMap((vault, index) => {
    const of = known.get(vault.address)
    const ofAccount = listed[index]
    if (!of || !ofAccount || blockNumber === undefined || of.through < blockNumber) {
      isKnown = false
      mayBeUnknown ||= ofAccount?.length !== 0
      return []
    }
    const isRecorded = (entry: LedgerEntry) => entry.blockNumber <= of.recorded
    return [...ofAccount.filter(isRecorded), ...of.entries.filter(({ account }) => account === sent.account)]
  })
  if (!isKnown && now() - initiated.getTime() < UNKNOWN_MS) return 'not known yet'
  if (mayBeUnknown || blockNumber === undefined) return undefined
  const { inputAmount } = deposit.relayData
  const payer = findPayer(entries, { transactionHash: key.transactionHash, blockNumber, initiated, inputAmount })
  return paying.find((vault) => vault.address === payer)
}
