import {
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Address } from 'viem'
import * as z from 'zod'
import { conditionHeld, deleteItems, getItems, putItems, queryPages, sideBySide } from '../aws/dynamo.ts'
import { Address as AddressText, Amount } from '../codecs.ts'
import { AppError } from '../errors.ts'
import { Ledger } from '../protocols/books.ts'
import { protocolOf } from '../protocols/protocols.ts'
import type { PricePoint } from '../vaults/apy.ts'
import type { VaultKey } from '../vaults/state-store.ts'
import type { Vault } from '../vaults/vault.ts'
import { LedgerEntry, sortKeyOf } from './ledger-entry.ts'

const Price = z.object({ price: Amount, timestamp: Amount })

/** How far a vault's events are recorded, and what else the job knows of it. True at whatever moment it is read. */
export const VaultProgress = z.object({
  /** The last block whose events are recorded. */
  through: z.number().int(),
  /** Which reading of the vault's past is in force: ledger entries and prices of others are not shown. Absent for the first. */
  generation: z.number().int().positive().optional(),
  /** That block's time in seconds since 1970; absent where it is not known. */
  timestamp: Amount.optional(),
  /** The vault's ledger after that block. */
  ledger: Ledger,
  /** What one share was worth a week ago, or at first where the vault's prices are younger; absent before the first. */
  weekAgo: Price.optional(),
  /** When the job last looked after the vault's prices and state though nothing had happened; seconds since 1970. */
  upkeptAt: Amount.optional(),
  /** A digest of the state that is recorded. */
  state: z.string().optional(),
})
export type VaultProgress = z.output<typeof VaultProgress>

/** What one share of a vault was worth, and the block that told it. */
export type VaultPrice = PricePoint & {
  readonly vault: VaultBooks & Pick<Vault, 'protocol'>
  readonly blockNumber: bigint
}

/** A vault's records by one reading of its past. */
export type VaultBooks = VaultKey & { readonly generation?: number | undefined }

/** The form of the records before each vault had a progress of its own: that of all vaults in the chain's item. */
const OldCheckpoint = z.object({
  checkpoint: z.object({ vaults: z.record(z.string(), VaultProgress) }).default({ vaults: {} }),
})

const RecordKey = z.object({ pk: z.string(), sk: z.string() })

/** A ledger entry as it is stored, of which the key and the vault alone are read. */
const StoredEntry = z.looseObject({ sk: z.string(), chainId: z.number(), vault: AddressText })
type StoredEntry = z.output<typeof StoredEntry>

const MOVE = 'MOVE#'
/** Between which the keys of ledger entries stand that do not name their vault: their seconds have twelve digits, a chain's id begins with none. */
const OLD_ENTRIES = [`${MOVE}0`, `${MOVE}1`] as const

const ProgressItem = VaultProgress.extend({ pk: z.string() })
const CHECKPOINT = 'CHECKPOINT'
const PROGRESS = 'PROGRESS'
const HOUR_SECONDS = 3600n
/**
 * What one answer can be made of: about 40 pages of a query, and five seconds of a processor. No vault takes more than a
 * quarter of what is left of it, which is 20,000 ledger entries and one second for the first, so that those whom a stranger
 * sent to a user by thousands in some vaults leave enough for the others.
 */
const MOST_ENTRIES = 100_000
const SHARE_OF_VAULT = 4

/**
 * The table of what happened to users in vaults. Ledger entries and prices are final: the same event makes the same item
 * under the same key, so one that is written again changes nothing, and they are written in batches without a condition.
 */
export function recordsStore(client: DynamoDBDocumentClient, tableName: string) {
  const putProgress = (progress: readonly (readonly [VaultKey, VaultProgress])[]) =>
    putItems(
      client,
      tableName,
      progress.map(([vault, of]) => ({ ...progressKey(vault), ...VaultProgress.encode(of) })),
    )

  async function getOldProgress(chainId: number): Promise<ReadonlyMap<string, VaultProgress>> {
    const { Item: item } = await client.send(new GetCommand({ TableName: tableName, Key: chainKey(chainId) }))
    return new Map(Object.entries(OldCheckpoint.parse(item ?? {}).checkpoint.vaults))
  }

  /** How far these vaults are recorded, in order; undefined for one that is not recorded yet. */
  async function getProgress(vaults: readonly VaultKey[]): Promise<(VaultProgress | undefined)[]> {
    const items = z.array(ProgressItem).parse(await getItems(client, tableName, vaults.map(progressKey)))
    const found = new Map(items.map(({ pk, ...progress }) => [pk, progress]))
    // Until the job has run for the first time in the form of today, their progress stands with their chain.
    const unknown = vaults.filter((vault) => !found.has(vaultPartition(vault)))
    const chainIds = [...new Set(unknown.map(({ chainId }) => chainId))]
    const old = new Map(
      await Promise.all(chainIds.map(async (chainId) => [chainId, await getOldProgress(chainId)] as const)),
    )
    return vaults.map((vault) => found.get(vaultPartition(vault)) ?? old.get(vault.chainId)?.get(vault.address))
  }

  return {
    /** Records ledger entries and prices; throws when a part of them may not be recorded. */
    async record(entries: readonly LedgerEntry[], prices: readonly VaultPrice[]): Promise<void> {
      await putItems(client, tableName, [
        ...entries.map((entry) => ({
          pk: `USER#${entry.user}`,
          sk: `${entryPrefix(entry)}${sortKeyOf(entry)}${entrySuffix(entry)}`,
          ...LedgerEntry.encode(entry),
        })),
        ...prices.map(({ vault, price, timestamp, blockNumber }) => ({
          pk: vaultPartition(vault),
          sk: priceSort(vault, timestamp, blockNumber),
          ...Price.encode({ price, timestamp }),
        })),
      ])
    },

    /**
     * The ledger entries of a user in each of these vaults, in the order in which they happened; undefined for a vault with
     * more than an answer can be made of. Throws `upstream_unavailable` where the user has so many in the form of before.
     */
    async listEntries(user: Address, vaults: readonly VaultKey[]): Promise<(LedgerEntry[] | undefined)[]> {
      const [old, found] = await Promise.all([listOldEntries(user), listStoredEntries(user, vaults)])
      const oldOf = Map.groupBy(old, entryPrefix)
      return vaults.map(({ chainId, address }) => {
        const prefix = entryPrefix({ chainId, vault: address })
        const ofVault = found.get(prefix)
        if (ofVault === 'too many') return undefined
        // A run that was killed in the form of before, and repeated in that of today, wrote the same under both keys.
        const byKey = new Map([
          ...(oldOf.get(prefix) ?? []).map((item) => [`${prefix}${item.sk.slice(MOVE.length)}`, item] as const),
          ...(ofVault ?? []).map((item) => [item.sk, item] as const),
        ])
        const inOrder = [...byKey].toSorted(([left], [right]) => (left < right ? -1 : 1))
        return inOrder.map(([, item]) => LedgerEntry.parse(item))
      })
    },

    /** The recorded prices of a vault from a moment on, in order; seconds since 1970. */
    async listPrices(vault: VaultKey, since: bigint): Promise<PricePoint[]> {
      const [progress] = await getProgress([vault])
      const books = { generation: progress?.generation }
      const prices: PricePoint[] = []
      const pages = queryPages(client, {
        TableName: tableName,
        KeyConditionExpression: 'pk = :vault AND sk BETWEEN :since AND :end',
        ExpressionAttributeValues: {
          ':vault': vaultPartition(vault),
          ':since': priceMoment(books, since),
          ':end': lastPrice(books),
        },
      })
      for await (const page of pages) prices.push(...z.array(Price).parse(page))
      return prices
    },

    /** The last recorded price of a vault at or before a moment; undefined where none is recorded. */
    getPriceAt(vault: VaultBooks, at: bigint): Promise<PricePoint | undefined> {
      return getPrice(vault, [priceMoment(vault, 0n), `${priceMoment(vault, at)}#~`], false)
    },

    /** The first recorded price of a vault; undefined where none is recorded. */
    getFirstPrice(vault: VaultBooks): Promise<PricePoint | undefined> {
      return getPrice(vault, [priceMoment(vault, 0n), lastPrice(vault)], true)
    },

    getProgress,

    /**
     * Deletes what earlier readings of a vault's past recorded, in force or never finished: its prices, and its
     * ledger entries with these users, who are asked for one by one, as ledger entries stand with their user. Gives the number
     * of records. It costs two queries a user and a page of records at a time, whatever else the table holds.
     */
    async deleteEarlier(
      { chainId, address, generation }: Required<VaultBooks>,
      users: ReadonlySet<Address>,
    ): Promise<number> {
      let deleted = 0
      const deleteFound = async (query: Omit<QueryCommandInput, 'TableName'>) => {
        const keys = { TableName: tableName, ProjectionExpression: 'pk, sk', ConsistentRead: true }
        for await (const page of queryPages(client, { ...query, ...keys })) {
          await deleteItems(client, tableName, z.array(RecordKey).parse(page))
          deleted += page.length
        }
      }
      await deleteFound({
        KeyConditionExpression: 'pk = :vault AND sk BETWEEN :first AND :end',
        ExpressionAttributeValues: {
          ':vault': vaultPartition({ chainId, address }),
          ':first': pricePrefix({}),
          ':end': pricePrefix({ generation }),
        },
      })
      await sideBySide(users, async (user) => {
        const prefix = entryPrefix({ chainId, vault: address })
        for (const [first, end] of [[prefix, `${prefix}~`], OLD_ENTRIES]) {
          await deleteFound({
            KeyConditionExpression: 'pk = :user AND sk BETWEEN :first AND :end',
            FilterExpression:
              'chainId = :chain AND vault = :vault AND (attribute_not_exists(generation) OR generation < :generation)',
            ExpressionAttributeValues: {
              ':user': `USER#${user}`,
              ':first': first,
              ':end': end,
              ':chain': chainId,
              ':vault': AddressText.encode(address),
              ':generation': generation,
            },
          })
        }
      })
      return deleted
    },

    /**
     * Writes how far vaults are recorded, after what is recorded. Each item is true by itself, its ledger being that of
     * its own block: should a run that lost its lease write an older one, the next run records the same again. Earlier
     * books are not put in force again, as a run asks for its lease right before and ends before that does.
     */
    putProgress,

    /**
     * Forgets how far a vault is recorded and by which reading: its past is then read again as for the first time. What
     * is recorded of it stays, and is written again under the same keys.
     */
    forget: (vault: VaultKey): Promise<void> => deleteItems(client, tableName, [progressKey(vault)]),

    /**
     * Takes the right to record a chain until a moment, in epoch milliseconds; false while somebody else has it. Gives
     * each vault a progress of its own where the table still has the form of before.
     */
    async takeLease(chainId: number, owner: string, { now, until }: { now: number; until: number }): Promise<boolean> {
      let old: z.output<typeof OldCheckpoint> | undefined
      const take = async () => {
        const { Attributes: item } = await client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: chainKey(chainId),
            UpdateExpression: 'SET leaseOwner = :owner, leaseUntil = :until',
            ConditionExpression: 'attribute_not_exists(leaseUntil) OR leaseUntil < :now',
            ExpressionAttributeValues: { ':owner': owner, ':until': until, ':now': now },
            ReturnValues: 'ALL_NEW',
          }),
        )
        old = item?.['checkpoint'] ? OldCheckpoint.parse(item) : undefined
      }
      if (!(await conditionHeld(take()))) return false
      if (old) {
        const vaults = Object.entries(old.checkpoint.vaults)
        // Killed in between, the next run does it again: nobody else writes a progress before.
        await putProgress(vaults.map(([address, of]) => [{ chainId, address: AddressText.parse(address) }, of]))
        await client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: chainKey(chainId),
            UpdateExpression: 'REMOVE checkpoint',
            ConditionExpression: 'leaseOwner = :owner',
            ExpressionAttributeValues: { ':owner': owner },
          }),
        )
      }
      return true
    },

    /** Whether the lease is still the owner's; it then lasts until this moment, in epoch milliseconds. */
    keepLease(chainId: number, owner: string, until: number): Promise<boolean> {
      return conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: chainKey(chainId),
            UpdateExpression: 'SET leaseUntil = :until',
            ConditionExpression: 'leaseOwner = :owner',
            ExpressionAttributeValues: { ':owner': owner, ':until': until },
          }),
        ),
      )
    },

    /** Gives the lease back; false when somebody else has it by now. */
    releaseLease(chainId: number, owner: string): Promise<boolean> {
      return conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: chainKey(chainId),
            UpdateExpression: 'REMOVE leaseOwner, leaseUntil',
            ConditionExpression: 'leaseOwner = :owner',
            ExpressionAttributeValues: { ':owner': owner },
          }),
        ),
      )
    },
  }

  /**
   * A user's ledger entries in these vaults as they are stored, by what their keys begin with: one stream in the order of the
   * keys. Where a page ends in a vault that is not asked for, or has had its share, the next one begins after that vault.
   */
  async function listStoredEntries(
    user: Address,
    vaults: readonly VaultKey[],
  ): Promise<ReadonlyMap<string, StoredEntry[] | 'too many'>> {
    const prefixes = vaults.map(({ chainId, address }) => entryPrefix({ chainId, vault: address })).toSorted()
    const found = new Map<string, StoredEntry[] | 'too many'>(prefixes.map((prefix) => [prefix, []]))
    let left = MOST_ENTRIES
    let from = prefixes[0]
    while (from !== undefined) {
      const share = Math.max(0, Math.floor(left / SHARE_OF_VAULT))
      const { Items: items, LastEvaluatedKey: last } = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: 'pk = :user AND sk BETWEEN :from AND :end',
          ExpressionAttributeValues: { ':user': `USER#${user}`, ':from': from, ':end': `${prefixes.at(-1)}~` },
          ConsistentRead: true,
          Limit: share + 1,
        }),
      )
      const page = z.array(StoredEntry).parse(items ?? [])
      left -= page.length
      for (const item of page) {
        const ofVault = found.get(entryPrefix(item))
        if (Array.isArray(ofVault)) ofVault.push(item)
      }
      const end = page.at(-1)
      if (!last || !end) break
      const prefix = entryPrefix(end)
      const ofVault = found.get(prefix)
      if (Array.isArray(ofVault) && ofVault.length <= share) {
        // No key comes between.
        from = `${end.sk}\0`
      } else {
        if (ofVault) found.set(prefix, 'too many')
        from = prefixes.find((next) => next > prefix)
      }
    }
    return found
  }

  /** A user's ledger entries that were recorded before their keys named their vault, of whichever vault. */
  async function listOldEntries(user: Address): Promise<StoredEntry[]> {
    const entries: StoredEntry[] = []
    const [first, end] = OLD_ENTRIES
    const pages = queryPages(client, {
      TableName: tableName,
      KeyConditionExpression: 'pk = :user AND sk BETWEEN :first AND :end',
      ExpressionAttributeValues: { ':user': `USER#${user}`, ':first': first, ':end': end },
      ConsistentRead: true,
    })
    for await (const page of pages) {
      entries.push(...z.array(StoredEntry).parse(page))
      if (entries.length > MOST_ENTRIES) {
        throw new AppError('upstream_unavailable', { cause: new Error('the user has too many ledger entries of old') })
      }
    }
    return entries
  }

  async function getPrice(
    vault: VaultBooks,
    [first, last]: readonly [string, string],
    isFirst: boolean,
  ): Promise<PricePoint | undefined> {
    const { Items: items } = await client.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: 'pk = :vault AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: { ':vault': vaultPartition(vault), ':first': first, ':last': last },
        ScanIndexForward: isFirst,
        Limit: 1,
      }),
    )
    return z.array(Price).parse(items ?? [])[0]
  }
}
export type RecordsStore = ReturnType<typeof recordsStore>

function chainKey(chainId: number) {
  return { pk: `CHECKPOINT#${chainId}`, sk: CHECKPOINT }
}

function progressKey(vault: VaultKey) {
  return { pk: vaultPartition(vault), sk: PROGRESS }
}

function vaultPartition({ chainId, address }: VaultKey): string {
  return `VAULT#${chainId}#${AddressText.encode(address)}`
}

/**
 * Where a price stands. Of a curator's each is kept; some chains have several blocks in a second, the last of which tells
 * the price after it. Where anybody makes one by trading, an hour keeps its last one alone.
 */
function priceSort(vault: Generation & Pick<Vault, 'protocol'>, timestamp: bigint, blockNumber: bigint): string {
  const isEachKept = protocolOf(vault).books.pricedBy === 'valuations'
  const [moment, block] = isEachKept ? [timestamp, blockNumber] : [hourOf(timestamp), 0n]
  return `${priceMoment(vault, moment)}#${block.toString().padStart(12, '0')}`
}

/** The hour of which a synchronous vault keeps one price, by its first second since 1970. */
export function hourOf(timestamp: bigint): bigint {
  return timestamp - (timestamp % HOUR_SECONDS)
}

type Generation = Pick<VaultBooks, 'generation'>

function priceMoment(books: Generation, timestamp: bigint): string {
  return `${pricePrefix(books)}#${timestamp.toString().padStart(12, '0')}`
}

/** After all prices of a reading. */
function lastPrice(books: Generation): string {
  return `${pricePrefix(books)}#9`
}

/** What the keys of a reading's prices begin with: those of earlier readings sort before those of later ones. */
function pricePrefix({ generation }: Generation): string {
  return generation === undefined ? 'PRICE' : `PRICE@${generation.toString().padStart(15, '0')}`
}

/** What the keys of ledger entries in a vault begin with, so that it can be passed over, or read alone. */
function entryPrefix({ chainId, vault }: Pick<LedgerEntry, 'chainId' | 'vault'>): string {
  return `${MOVE}${chainId}#${AddressText.encode(vault)}#`
}

/** What the keys of a reading's ledger entries end with. */
function entrySuffix({ generation }: Generation): string {
  return generation === undefined ? '' : `#${generation}`
}
