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
import type { Vault, VaultKey } from '../vaults/vault.ts'
import { vaultPartition } from '../vaults/vault.ts'
import type { Posted } from './fold.ts'
import { LatestNotice, MAX_LATEST } from './latest-notices.ts'
import { OpenRequest } from './open-requests.ts'
import { foldRecorded, listRecorded, recordedItems } from './recorded-events.ts'
import { LastWaits } from './settlement-waits.ts'

/** How far a vault's events are recorded, and what else the job keeps of it. Consistent whenever it is read. */
export const VaultProgress = KnownPrices.extend({
  /** Grows with each write; absent before the first. */
  version: z.number().int().optional(),
  /** The last block whose events are recorded. */
  through: z.number().int(),
  /** That block's time in seconds since 1970; absent where it is not known. */
  timestamp: Amount.optional(),
  /** The vault's ledger after that block. */
  ledger: Ledger,
  /** The last request of each kind that is settled, where the vault's events tell; absent before the first. */
  settledIds: z.partialRecord(RequestKind, Amount).optional(),
  /** How long requests of each kind have waited for their settlement lately. */
  waits: z.partialRecord(RequestKind, LastWaits).optional(),
  /** Whether requests may wait of which no event will tell that they are settled. */
  hasAsked: z.boolean().optional(),
  /** When the job last read the vault's price and state at the chain's head; seconds since 1970. */
  refreshedAt: Amount.optional(),
  /** A digest of the state that is recorded. */
  state: z.string().optional(),
  /**
   * The last block of whose events clients are not told: the last one when the vault was added, or the last final one when the
   * job saw it first, where that was not written.
   */
  eventsAfter: z.number().int().optional(),
  /** The block of the earliest snapshot of waiting requests that is not settled. */
  snapshotAt: Amount.optional(),
  /** Up to which of these requests the vault was asked last, where they are too many to be asked for at once. */
  askedUpTo: z.partialRecord(RequestKind, OpenRequest).optional(),
  /** What clients were told, or are being told, of blocks that were not final: so much at most, in the order in which it was seen. */
  latest: z.array(LatestNotice).max(MAX_LATEST).optional(),
  /** Since when the vault is paused, as far as the job saw, and whether clients were told; null while it is not. */
  paused: z
    .object({ since: StoredBlock, published: z.enum(['latest', 'final']).optional() })
    .nullable()
    .optional(),
})
export type VaultProgress = z.output<typeof VaultProgress>

/** The progress of a vault of which nothing is recorded yet. */
export function initialProgress({ firstBlock }: Pick<Vault, 'firstBlock'>): VaultProgress {
  return { through: firstBlock - 1, ledger: { assets: 0n, supply: 0n } }
}

/** What happened in a vault. */
export type VaultRecords = Pick<Posted, 'events'> & { readonly vault: VaultOnChain }

const ProgressItem = VaultProgress.extend({ pk: z.string() })

/**
 * The table of what happened in vaults. Events are final: the same event makes the same item under the same key, so one that
 * is written again changes nothing, and they are written in batches without a condition.
 */
export function recordsStore(table: Table) {
  /**
   * How far these vaults are recorded, in order; undefined for one that is not recorded yet. Read consistently unless told: what
   * is shown can rest on the progress of a moment ago, which is whole, at half the price.
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
    /** Records what happened in vaults; throws when a part of it may not be recorded. */
    async record(records: readonly VaultRecords[]): Promise<void> {
      const items = records.flatMap(({ vault, events }) => recordedItems(vault, events))
      await table.putMany(items)
    },

    /**
     * What happened to an account in each of these vaults, in order, by its recorded events; undefined for a vault with more
     * than a response is made of.
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
     * Writes how far vaults are recorded, each where it is stored as it was read; their records are written before. Returns each
     * progress as it is stored then, undefined where another run has written it since.
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
