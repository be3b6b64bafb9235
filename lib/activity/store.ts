import type { Address } from 'viem'
import * as z from 'zod'
import { any, is, missing } from '../aws/conditions.ts'
import type { ItemKey } from '../aws/requests.ts'
import { buildItem, type Table } from '../aws/table.ts'
import { StoredBlock } from '../chain/blocks.ts'
import { Address as AddressText, Amount } from '../codecs.ts'
import { Ledger } from '../protocols/books.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import { sideBySide } from '../side-by-side.ts'
import { HOUR_SECONDS } from '../time.ts'
import type { PricePoint } from '../vaults/apy.ts'
import type { Vault, VaultKey } from '../vaults/vault.ts'
import { vaultPartition } from '../vaults/vault.ts'
import { LatestNotice, MOST_LATEST } from './latest-notices.ts'
import type { Posted } from './ledger.ts'
import { buildSortKey, entryPrefix, LedgerEntry } from './ledger-entry.ts'
import { OpenRequest } from './open-requests.ts'
import { generationText, type Reading } from './reading.ts'
import { LastWaits } from './settlement-waits.ts'

const Price = z.object({ price: Amount, timestamp: Amount })

/** How far one reading of a vault's past goes. */
const VaultReading = z.object({
  /** The last block whose events are recorded. */
  through: z.number().int(),
  /** Which reading it is, of which its ledger entries and prices have the number. Absent for the first. */
  generation: z.number().int().positive().optional(),
  /** The version of the vault's books by which it records; absent in records from before there were any. */
  booksVersion: z.number().int().positive().default(1),
  /** That block's time in seconds since 1970; absent where it is not known. */
  timestamp: Amount.optional(),
  /** The vault's ledger after that block. */
  ledger: Ledger,
  /** What one share was worth a week ago, or at first where the vault's prices are younger; absent before the first. */
  weekAgo: Price.optional(),
  /** The last request of each kind that is settled, where the vault's events tell; absent before the first. */
  settledIds: z.partialRecord(RequestKind, Amount).optional(),
  /** How long requests of each kind have waited for their settlement lately. */
  waits: z.partialRecord(RequestKind, LastWaits).optional(),
  /** Whether requests may wait of which no event will tell that they are settled. */
  hasAsked: z.boolean().optional(),
})

/**
 * How far a vault's events are recorded by the reading of its past that is in force, which alone is shown, and what else
 * the job keeps of it. Consistent whenever it is read.
 */
export const VaultProgress = VaultReading.extend({
  /** When the job last updated the vault's prices and state without an event; seconds since 1970. */
  refreshedAt: Amount.optional(),
  /** A digest of the state that is recorded. */
  state: z.string().optional(),
  /** The reading under way that takes the place of the one in force once it goes as far. */
  rebuild: VaultReading.extend({
    /** Up to when prices that no event tells are taken over from the one in force; seconds since 1970. */
    pricesThrough: Amount.optional(),
  }).optional(),
  /**
   * The last block of whose events clients are not told: the last one when the vault was added, or the last final one when the
   * job saw it first, where that was not written.
   */
  eventsAfter: z.number().int().optional(),
  /** Up to which of these requests the vault was asked last, where they are too many to be asked for at once. */
  askedUpTo: z.partialRecord(RequestKind, OpenRequest).optional(),
  /** What clients were told, or are being told, of blocks that were not final: so much at most, in the order in which it was seen. */
  latest: z.array(LatestNotice).max(MOST_LATEST).optional(),
  /** Since when the vault is paused, as far as the job saw, and whether clients were told; null while it is not. */
  paused: z
    .object({ since: StoredBlock, published: z.enum(['latest', 'final']).optional() })
    .nullable()
    .optional(),
  /**
   * When this reading took the place of another, with nothing recorded where the vault was added again, in epoch milliseconds;
   * absent once the records of earlier ones are deleted.
   */
  replacedAt: z.number().int().optional(),
})
export type VaultProgress = z.output<typeof VaultProgress>

/** A reading of a vault's past of which nothing is recorded yet. */
export function initialProgress(vault: Pick<Vault, 'firstBlock' | 'protocol'>): VaultProgress {
  const { version } = getProtocol(vault).books
  return { through: vault.firstBlock - 1, booksVersion: version, ledger: { assets: 0n, supply: 0n } }
}

/** What one reading of a vault's past found. */
export type VaultRecords = Pick<Posted, 'entries' | 'prices'> & {
  readonly vault: Reading & Pick<Vault, 'protocol'>
  /** Of a reading that takes the place of others: all addresses in its events, whose older records are deleted. */
  readonly accounts?: Iterable<Address>
}

/** A ledger entry as it is stored, of which the key and the vault alone are read. */
const StoredEntry = z.looseObject({ sk: z.string(), chainId: z.number(), vault: AddressText })
type StoredEntry = z.output<typeof StoredEntry>

/** An account whose records by earlier readings of a vault's past are to be deleted. */
const NamedAccount = z.object({ account: AddressText })
const StoredAccount = NamedAccount.extend({ pk: z.string(), sk: z.string() })

const ProgressItem = VaultProgress.extend({ pk: z.string() })
/**
 * How many ledger entries one reply is made of at most: about 40 pages of a query and five seconds of CPU. A vault takes
 * at most a quarter of what is left, so that thousands of transfers from strangers in some vaults leave enough for others.
 */
const MOST_ENTRIES = 100_000
const SHARE_OF_VAULT = 4
/** Of how many accounts the records are looked at between two looks at the clock, when old ones are deleted. */
const ACCOUNTS_AT_ONCE = 500

/**
 * The table of what happened to users in vaults. Ledger entries and prices are final: the same event makes the same item
 * under the same key, so one that is written again changes nothing, and they are written in batches without a condition.
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
      const items = records.flatMap(({ vault, entries, prices, accounts = [] }) => [
        ...entries.map((entry) =>
          buildItem(
            LedgerEntry,
            {
              pk: `ACCOUNT#${entry.account}`,
              sk: `${entryPrefix(entry.chainId, entry.vault)}${buildSortKey(entry)}${entrySuffix(vault)}`,
            },
            { ...entry, generation: vault.generation },
          ),
        ),
        ...prices.map((price) =>
          buildItem(
            Price,
            { pk: vaultPartition(vault), sk: priceKey(vault, price.timestamp, price.blockNumber) },
            price,
          ),
        ),
        ...[...accounts].map((account) =>
          buildItem(NamedAccount, { pk: vaultPartition(vault), sk: `${namedPrefix(vault)}#${account}` }, { account }),
        ),
      ])
      await table.putMany(items)
    },

    /**
     * An account's ledger entries in each of these vaults, in the order in which they happened; undefined for a vault
     * with more than a reply is made of. Reads pages in the order of the keys; where a page ends in a vault that is not
     * asked for, or has used up its share, the next page starts after that vault.
     */
    async listEntries(account: Address, vaults: readonly VaultKey[]): Promise<(LedgerEntry[] | undefined)[]> {
      const prefixes = vaults.map(({ chainId, address }) => entryPrefix(chainId, address))
      const inOrder = prefixes.toSorted()
      const found = new Map<string, StoredEntry[] | undefined>(prefixes.map((prefix) => [prefix, []]))
      let left = MOST_ENTRIES
      let from = inOrder[0]
      while (from !== undefined) {
        const share = Math.max(0, Math.floor(left / SHARE_OF_VAULT))
        const range = { partition: `ACCOUNT#${account}`, from, to: `${inOrder.at(-1)}~` }
        const { items: page, next: last } = await table.getPage(StoredEntry, range, { limit: share + 1 })
        left -= page.length
        for (const item of page) found.get(entryPrefix(item.chainId, item.vault))?.push(item)
        const end = page.at(-1)
        if (!last || !end) break
        const prefix = entryPrefix(end.chainId, end.vault)
        const ofVault = found.get(prefix)
        if (ofVault && ofVault.length <= share) {
          // No key comes between.
          from = `${end.sk}\0`
        } else {
          if (ofVault) found.set(prefix, undefined)
          from = inOrder.find((next) => next > prefix)
        }
      }
      return prefixes.map((prefix) => found.get(prefix)?.map((item) => LedgerEntry.parse(item)))
    },

    /** The recorded prices of a vault from a moment on, in order; seconds since 1970. */
    async listPrices(vault: VaultKey, since: bigint): Promise<PricePoint[]> {
      const [progress] = await getProgress([vault])
      const reading = { ...vault, generation: progress?.generation }
      const range = { partition: vaultPartition(vault), from: priceMoment(reading, since), to: lastPrice(reading) }
      return await table.list(Price, range, { isConsistent: false })
    },

    /** The last recorded price of a vault at or before a moment; undefined where none is recorded. */
    getPriceAt: (vault: Reading, at: bigint): Promise<PricePoint | undefined> =>
      getPrice(vault, { last: `${priceMoment(vault, at)}#~`, isFirst: false }),

    /** The first recorded price of a vault; undefined where none is recorded. */
    getFirstPrice: (vault: Reading): Promise<PricePoint | undefined> =>
      getPrice(vault, { last: lastPrice(vault), isFirst: true }),

    getProgress,

    /** The first prices of a reading of a vault's past between two moments, both included, so many at most, in order. */
    async listPricesBetween(
      reading: Reading,
      { from, to, most }: { from: bigint; to: bigint; most: number },
    ): Promise<PricePoint[]> {
      const range = {
        partition: vaultPartition(reading),
        from: priceMoment(reading, from),
        to: `${priceMoment(reading, to)}#~`,
      }
      return (await table.getPage(Price, range, { limit: most })).items
    },

    /**
     * Deletes what earlier readings of a vault's past recorded, in force or unfinished: its prices, and its ledger entries
     * of all accounts that this reading named, a query for each. Ends early once `isOver`; false where more is left.
     */
    async deleteEarlier(vault: Required<Reading>, isOver: () => boolean): Promise<boolean> {
      const partition = vaultPartition(vault)
      const prices = { partition, from: pricePrefix({}), to: pricePrefix(vault) }
      if (!(await table.deleteRange(prices, isOver))) return false

      const prefix = entryPrefix(vault.chainId, vault.address)
      const isEarlier = any(missing('generation'), is('generation', '<', vault.generation))
      const named = { partition, from: namedPrefix({}), to: `${namedPrefix(vault)}#~` }
      for await (const page of table.pages(StoredAccount, named, { limit: ACCOUNTS_AT_ONCE })) {
        const done: ItemKey[] = []
        await sideBySide(page, async ({ account, pk, sk }) => {
          const entries = { partition: `ACCOUNT#${account}`, from: prefix, to: `${prefix}~` }
          const isDone = await table.deleteRange(entries, isOver, isEarlier)
          if (isDone) done.push({ pk, sk })
        })
        await table.deleteMany(done)
        if (isOver()) return false
      }
      return true
    },

    /**
     * Writes how far vaults are recorded; their records are written before. Each item is consistent by itself: should a
     * run that lost its lease write an older one, the next run records the same again. An earlier generation is not put in
     * force again, since a run renews its lease right before and ends before the lease does.
     */
    async putProgress(progress: readonly (readonly [VaultKey, VaultProgress])[]): Promise<void> {
      await table.putMany(progress.map(([vault, of]) => buildItem(VaultProgress, progressKey(vault), of)))
    },
  }

  async function getPrice(vault: Reading, { last, isFirst }: { last: string; isFirst: boolean }) {
    const range = { partition: vaultPartition(vault), from: priceMoment(vault, 0n), to: last }
    const options = { isDescending: !isFirst, limit: 1, isConsistent: false }
    return (await table.getPage(Price, range, options)).items[0]
  }
}
export type RecordsStore = ReturnType<typeof recordsStore>

function progressKey(vault: VaultKey) {
  return { pk: vaultPartition(vault), sk: 'PROGRESS' }
}

/**
 * A price's sort key. Prices by valuations are each kept, with their block, for some chains have several in a second;
 * prices by trades, which anybody can make, have one key an hour, so that its last one is kept.
 */
function priceKey(vault: Generation & Pick<Vault, 'protocol'>, timestamp: bigint, blockNumber: bigint): string {
  const isEachKept = getProtocol(vault).books.pricedBy === 'valuations'
  const [moment, block] = isEachKept ? [timestamp, blockNumber] : [startOfHour(timestamp), 0n]
  return `${priceMoment(vault, moment)}#${block.toString().padStart(12, '0')}`
}

/** The hour of which a synchronous vault keeps one price, by its first second since 1970. */
export function startOfHour(timestamp: bigint): bigint {
  return timestamp - (timestamp % HOUR_SECONDS)
}

type Generation = Pick<Reading, 'generation'>

function priceMoment(reading: Generation, timestamp: bigint): string {
  return `${pricePrefix(reading)}#${timestamp.toString().padStart(12, '0')}`
}

/** A sort key after those of all prices of a reading. */
function lastPrice(reading: Generation): string {
  return `${pricePrefix(reading)}#9`
}

/** The start of the sort keys of a reading's prices: those of earlier readings sort before those of later ones. */
function pricePrefix({ generation }: Generation): string {
  return generation === undefined ? 'PRICE' : `PRICE@${generationText(generation)}`
}

/** The start of the sort keys of the accounts that a reading named, as those of prices. */
function namedPrefix({ generation }: Generation): string {
  return `NAMED@${generationText(generation)}`
}

/** The end of the sort keys of a reading's ledger entries. */
function entrySuffix({ generation }: Generation): string {
  return generation === undefined ? '' : `#${generation}`
}
