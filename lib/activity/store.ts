import type { Address } from 'viem'
import * as z from 'zod'
import { is, missing } from '../aws/conditions.ts'
import { buildItem, type Table } from '../aws/table.ts'
import type { TransactingTable } from '../aws/transactions.ts'
import { StoredBlock } from '../chain/blocks.ts'
import { Amount } from '../core/codecs.ts'
import { Ledger } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { KnownPrices } from '../vaults/prices.ts'
import { WaitsByKind } from '../vaults/settlement-waits.ts'
import type { Vault, VaultKey } from '../vaults/vault.ts'
import { vaultPartition } from '../vaults/vault.ts'
import type { EventsWithEntries } from './fold.ts'
import { LatestNotice, MAX_LATEST_NOTICES } from './latest-notice.ts'
import { MissedSettlements } from './missed-settlements.ts'
import { OpenRequest } from './open-requests.ts'
import { deriveRecordedEntries, listRecordedEvents, recordedItems } from './recorded-events.ts'

/**
 * Recording progress of a vault: the block up to which its events are recorded, with values for the next run of the
 * scheduled job. All fields are in one item, so they never contradict each other.
 */
export const VaultProgress = KnownPrices.extend({
  /** Number of writes so far, which detects concurrent writes; absent before the first write. */
  version: z.number().int().optional(),
  /** Last block whose events are recorded. */
  through: z.number().int(),
  /** Time of the block `through` in seconds since 1970; absent if unknown. */
  timestamp: Amount.optional(),
  ledger: Ledger,
  /** Id of the last settled request of each kind, in vaults with settlement events; absent before the first settlement. */
  settledIds: z.partialRecord(RequestKind, Amount).optional(),
  waits: WaitsByKind.optional(),
  missed: MissedSettlements.optional(),
  /** True if the vault may have waiting requests whose settlement no event announces. */
  hasAsked: z.boolean().optional(),
  /** Time at which the scheduled job last read the vault's price and state at the chain's latest block; seconds since 1970. */
  refreshedAt: Amount.optional(),
  state: z.string().optional(),
  /**
   * Last block whose events are not published to clients: the latest block when the vault was added. If that block is
   * unknown, it is the last final block when the scheduled job first saw the vault.
   */
  eventsAfter: z.number().int().optional(),
  /** Block of the earliest stored snapshot of waiting requests that is not processed yet. */
  snapshotAt: Amount.optional(),
  /**
   * Last waiting request that was read, by kind, if one run of the job cannot read all requests. The next run continues
   * after that request.
   */
  askedUpTo: z.partialRecord(RequestKind, OpenRequest).optional(),
  /** Events in non-final blocks that were published to clients, or are about to be, in order of detection. */
  latest: z.array(LatestNotice).max(MAX_LATEST_NOTICES).optional(),
  /** Pause state of the vault, as the scheduled job knows it; absent before the job's first read of that state. */
  paused: z
    .object({
      /** True if the vault is paused in final blocks. */
      isFinal: z.boolean(),
      /** Pause or resumption that is not final yet. `since` is the first block at which the scheduled job saw it. */
      change: z.object({ since: StoredBlock, isPublished: z.boolean() }).optional(),
    })
    .optional(),
})
export type VaultProgress = z.output<typeof VaultProgress>

/** Returns the initial recording progress of a vault without recorded events. */
export function initialProgress({ firstBlock }: Pick<Vault, 'firstBlock'>): VaultProgress {
  return { through: firstBlock - 1, ledger: { assets: 0n, supply: 0n } }
}

/** A vault, and its new events to record. */
export type VaultRecords = Pick<EventsWithEntries, 'events'> & { readonly vault: VaultOnChain }

/**
 * Creates the store of vaults' recorded events. Events are final, and equal events make equal items under equal keys. A
 * repeated write therefore changes nothing, and batches need no condition.
 */
export function recordsStore(table: Table) {
  /**
   * Gets the stored recording progress of these vaults, in order; undefined for a vault without recorded events. A read
   * with `isConsistent: false` costs half, but may miss the last writes.
   */
  const getProgress = (
    vaults: readonly VaultKey[],
    options: { readonly isConsistent?: boolean } = {},
  ): Promise<(VaultProgress | undefined)[]> => table.getMany(VaultProgress, vaults.map(progressKey), options)

  return {
    /** Records events of vaults. After an error, only some of the events may be recorded. */
    async record(records: readonly VaultRecords[]): Promise<void> {
      const items = records.flatMap(({ vault, events }) => recordedItems(vault, events))
      await table.putMany(items)
    },

    /**
     * Lists an account's ledger entries from its recorded events, one list for each of these vaults, in order;
     * undefined for a vault with too many events.
     */
    async listEntries(account: Address, vaults: readonly VaultOnChain[]): Promise<(LedgerEntry[] | undefined)[]> {
      const recorded = await listRecordedEvents(table, account, vaults)
      return vaults.map((vault, index) => recorded[index] && deriveRecordedEntries(vault, account, recorded[index]))
    },

    getProgress,
  }
}
export type RecordsStore = ReturnType<typeof recordsStore>

/** Creates the store of recorded events for the scheduled job and operators. They also write each vault's recording progress. */
export function recordingStore(table: TransactingTable) {
  return {
    ...recordsStore(table),

    /**
     * Writes each vault's recording progress, unless another run of the job has written it since it was read. The
     * caller must write the vault's events first, because the next run reads only later events. Returns each progress
     * as stored; undefined for a vault that another run wrote.
     */
    async putProgress(
      progress: readonly (readonly [VaultKey, VaultProgress])[],
    ): Promise<(VaultProgress | undefined)[]> {
      const writes = progress.map(([vault, of]) => {
        const stored = { ...of, version: (of.version ?? 0) + 1 }
        const when = of.version === undefined ? missing('version') : is('version', '=', of.version)
        return { stored, put: buildItem(VaultProgress, progressKey(vault), stored), when }
      })
      const refused = new Set(await table.putEach(writes))
      return writes.map((write) => (refused.has(write) ? undefined : write.stored))
    },
  }
}
export type RecordingStore = ReturnType<typeof recordingStore>

function progressKey(vault: VaultKey) {
  return { pk: vaultPartition(vault), sk: 'PROGRESS' }
}

/**
 * Returns the recording progress of vaults, in order, cached in this container's memory; undefined for a vault without
 * recorded events.
 */
export type RecallProgress = (vaults: readonly VaultKey[]) => Promise<(VaultProgress | undefined)[]>
