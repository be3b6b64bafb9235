import type { Address } from 'viem'
import * as z from 'zod'
import { is, missing } from '../aws/conditions.ts'
import { buildItem, type Table } from '../aws/table.ts'
import type { TransactingTable } from '../aws/transactions.ts'
import { StoredBlock } from '../chain/blocks.ts'
import { Amount } from '../codecs.ts'
import { Ledger } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { KnownPrices } from '../vaults/prices.ts'
import { WaitsByKind } from '../vaults/settlement-waits.ts'
import type { Vault, VaultKey } from '../vaults/vault.ts'
import { vaultPartition } from '../vaults/vault.ts'
import type { Posted } from './fold.ts'
import { LatestNotice, MAX_LATEST } from './latest-notice.ts'
import { MissedSettlements } from './missed-settlements.ts'
import { OpenRequest } from './open-requests.ts'
import { foldRecorded, listRecorded, recordedItems } from './recorded-events.ts'

/** The job's cursor in a vault, with the values that it keeps for the next run. One item, so it is consistent. */
export const VaultProgress = KnownPrices.extend({
  /** Grows with each write; absent before the first. */
  version: z.number().int().optional(),
  /** The last block whose events are recorded. */
  through: z.number().int(),
  /** That block's time in seconds since 1970; absent where it is not known. */
  timestamp: Amount.optional(),
  /** The vault's ledger after that block. */
  ledger: Ledger,
  /** The last settled request of each kind, in vaults with settlement events; absent before the first. */
  settledIds: z.partialRecord(RequestKind, Amount).optional(),
  /** Recent waits of requests of each kind for their settlement. */
  waits: WaitsByKind.optional(),
  /** The settlements that left requests unsettled. */
  missed: MissedSettlements.optional(),
  /** True if requests may wait that no event settles. */
  hasAsked: z.boolean().optional(),
  /** When the job last read the vault's price and state at the chain's head; seconds since 1970. */
  refreshedAt: Amount.optional(),
  /** A digest of the state that is recorded. */
  state: z.string().optional(),
  /**
   * Events up to this block are not reported: the latest block when the vault was added, or else the last final block when the
   * job first saw the vault.
   */
  eventsAfter: z.number().int().optional(),
  /** The block of the earliest unsettled snapshot. */
  snapshotAt: Amount.optional(),
  /** The last request of the previous page, if one run cannot ask for all waiting requests. */
  askedUpTo: z.partialRecord(RequestKind, OpenRequest).optional(),
  /** Non-final notices that were published, or are about to be, in the order in which they were seen. */
  latest: z.array(LatestNotice).max(MAX_LATEST).optional(),
  /**
   * True if the vault is paused, by final blocks; and a change of that which is not final: the first block at which the job saw
   * it, and whether it was published.
   */
  paused: z
    .object({
      isFinal: z.boolean(),
      change: z.object({ since: StoredBlock, isPublished: z.boolean() }).optional(),
    })
    .optional(),
})
export type VaultProgress = z.output<typeof VaultProgress>

/** The progress of a vault of which nothing is recorded yet. */
export function initialProgress({ firstBlock }: Pick<Vault, 'firstBlock'>): VaultProgress {
  return { through: firstBlock - 1, ledger: { assets: 0n, supply: 0n } }
}

/** A vault's events to record. */
export type VaultRecords = Pick<Posted, 'events'> & { readonly vault: VaultOnChain }

const ProgressItem = VaultProgress.extend({ pk: z.string() })

/**
 * The recorded events of vaults. Events are final, and the same event makes the same item under the same key. So writing one
 * again changes nothing, and batches need no condition.
 */
export function recordsStore(table: Table) {
  /**
   * Reads how far these vaults are recorded, in order; undefined for one that is not recorded yet. With `isConsistent: false` it
   * may be some moments old, at half the price.
   */
  async function getProgress(
    vaults: readonly VaultKey[],
    options: { readonly isConsistent?: boolean } = {},
  ): Promise<(VaultProgress | undefined)[]> {
    const items = await table.getMany(ProgressItem, vaults.map(progressKey), options)
    const found = new Map(items.map(({ pk, ...progress }) => [pk, progress]))
    return vaults.map((vault) => found.get(vaultPartition(vault)))
  }

  return {
    /** Records events of vaults. If it throws, some may not be recorded. */
    async record(records: readonly VaultRecords[]): Promise<void> {
      const items = records.flatMap(({ vault, events }) => recordedItems(vault, events))
      await table.putMany(items)
    },

    /**
     * Lists an account's entries in each of these vaults, in order, from its recorded events; undefined for a vault with too
     * many.
     */
    async listEntries(account: Address, vaults: readonly VaultOnChain[]): Promise<(LedgerEntry[] | undefined)[]> {
      const recorded = await listRecorded(table, account, vaults)
      return vaults.map((vault, index) => recorded[index] && foldRecorded(vault, account, recorded[index]))
    },

    getProgress,
  }
}
export type RecordsStore = ReturnType<typeof recordsStore>

/** The same as the job and operators use it: they also write how far vaults are recorded. */
export function recordingStore(table: TransactingTable) {
  return {
    ...recordsStore(table),

    /**
     * Writes the progress of vaults, each only if it is stored as it was read. Write their records first. Returns each progress
     * as stored, undefined if another run wrote it meanwhile.
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

/** Finds how far vaults are recorded, in order, from a container's memory; undefined for one that is not recorded yet. */
export type RecallProgress = (vaults: readonly VaultKey[]) => Promise<(VaultProgress | undefined)[]>
