import type { Address } from 'viem'
import * as z from 'zod'
import type { Item } from '../aws/requests.ts'
import { UnknownFormError } from '../aws/requests.ts'
import { buildItem, parseItem, type Table } from '../aws/table.ts'
import { ChainId } from '../chain/registry.ts'
import { inBatches } from '../core/batches.ts'
import { Address as AddressText, Amount, TransactionHash } from '../core/codecs.ts'
import { toDate } from '../core/time.ts'
import { Ledger, type VaultEvent } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { isKnownEvent, standardizeEvents } from './events.ts'
import { deriveLedgerEntries, groupByTransaction } from './fold.ts'
import { buildLocationKey } from './ledger-entry.ts'

/**
 * Codec of a stored event's arguments. Whole numbers are stored as decimal text, because they have up to 256 bits;
 * addresses in hexadecimal.
 */
const Arguments = z.codec(z.record(z.string(), z.unknown()), z.record(z.string(), z.unknown()), {
  decode: (stored) => mapValues(stored, (value) => (isDigits(value) ? BigInt(value) : value)),
  encode: (args) => mapValues(args, (value) => (typeof value === 'bigint' ? value.toString() : value)),
})

/**
 * Stored item: the decoded events of one transaction in one vault, for one account that they affect. `timestamp` is in
 * seconds since 1970.
 */
export const RecordedEvents = z.object({
  chainId: ChainId,
  vault: AddressText,
  transactionHash: TransactionHash,
  blockNumber: Amount,
  timestamp: Amount,
  /** True if the item has only the transaction's events that name the account. */
  isPartial: z.literal(true).optional(),
  events: z.array(
    z.object({
      logIndex: z.number().int(),
      name: z.string(),
      args: Arguments,
      /**
       * Assets and share supply that value the shares which this event moves between owners. The pair is either the
       * vault's totals, or the moved shares and their value.
       */
      ledger: Ledger.optional(),
    }),
  ),
})
type RecordedEvents = z.output<typeof RecordedEvents>

const StoredEvents = z.looseObject({
  sk: z.string(),
  chainId: z.number(),
  vault: AddressText,
  events: z.array(z.unknown()),
})
type StoredEvents = z.output<typeof StoredEvents>

/**
 * Maximum size, in events, of a transaction of which each affected account gets a complete stored copy. Of a larger
 * transaction, each account gets only the events that name it.
 */
const MAX_WHOLE = 20
/** Maximum number of events in one stored item: about 20 KB. */
const ITEM_EVENTS = 100
/**
 * Maximum number of events that are read for one response, about two seconds of CPU. Each vault may use at most a
 * quarter of the number that is left. Third parties can create thousands of transfers in one vault. The quarter leaves
 * enough events for the other vaults.
 */
const MAX_EVENTS = 100_000
const SHARE_OF_VAULT = 4

/**
 * Builds the stored items of a vault's events, one for each transaction and affected account. An item has the whole
 * transaction, because one event may explain another. An item of a large transaction has only the events that name the
 * account.
 */
export function recordedItems(vault: VaultOnChain, events: readonly VaultEvent[]): Item[] {
  return groupByTransaction(events).flatMap((transaction) => {
    const accounts = new Set(deriveLedgerEntries(vault, transaction).map(({ account }) => account))
    if (transaction.length <= MAX_WHOLE) {
      return [...accounts].flatMap((account) => buildRecorded(vault, account, transaction))
    }
    const named = new Map([...accounts].map((account): [unknown, VaultEvent[]] => [account, []]))
    for (const event of transaction) {
      for (const value of new Set(Object.values(event.args))) named.get(value)?.push(event)
    }
    return [...accounts].flatMap((account) =>
      inBatches(named.get(account) ?? [], ITEM_EVENTS).flatMap((part) => buildRecorded(vault, account, part, true)),
    )
  })
}

function buildRecorded(
  { chainId, address }: VaultKey,
  account: Address,
  events: readonly VaultEvent[],
  isPartial?: true,
): Item[] {
  const [first] = events
  if (!first) return []
  const { transactionHash, blockNumber, timestamp, logIndex } = first.location
  const place = { chainId, blockNumber: Number(blockNumber), timestamp: toDate(timestamp), logIndex }
  const key = { pk: partitionOf(account), sk: `${recordedPrefix(chainId, address)}${buildLocationKey(place)}` }
  const stored = events.map(({ eventName: name, args, ledger, location: { logIndex } }) => {
    return { logIndex, name, args: { ...args }, ledger }
  })
  const at = { transactionHash, blockNumber, timestamp }
  return [buildItem(RecordedEvents, key, { chainId, vault: address, ...at, isPartial, events: stored })]
}

/** Returns true if an argument of the event is the account. */
export function namesAccount({ args }: VaultEvent, account: Address): boolean {
  return Object.values(args).includes(account)
}

/** Derives an account's ledger entries from its recorded events in a vault, in order. */
export function deriveRecordedEntries(
  vault: VaultOnChain,
  account: Address,
  recorded: readonly RecordedEvents[],
): LedgerEntry[] {
  const events = recorded.flatMap(({ chainId, vault: address, events, isPartial, ...at }) => {
    const ofItem = events.map(({ logIndex, name, args, ledger }): VaultEvent => {
      const location = { chainId, logIndex, ...at }
      return { eventName: name, args, vault: address, location, ...(ledger && { ledger }) }
    })
    return standardizeEvents([vault], ofItem, isPartial && account)
  })
  return deriveLedgerEntries(vault, events).filter((entry) => entry.account === account)
}

/**
 * Lists the recorded events of an account in each of these vaults, in the order of the vaults; undefined for a vault
 * with too many events. Reads pages in key order. The last event of a page can belong to a vault that is not wanted or
 * has too many events. The next page then starts after that vault.
 */
export async function listRecordedEvents(
  table: Table,
  account: Address,
  vaults: readonly VaultKey[],
): Promise<(RecordedEvents[] | undefined)[]> {
  const prefixes = vaults.map(({ chainId, address }) => recordedPrefix(chainId, address))
  const inOrder = prefixes.toSorted()
  const found = new Map<string, StoredEvents[] | undefined>(prefixes.map((prefix) => [prefix, []]))
  const counts = new Map<string, number>()
  let left = MAX_EVENTS
  let from = inOrder[0]
  while (from !== undefined) {
    const share = Math.max(0, Math.floor(left / SHARE_OF_VAULT))
    const range = { partition: partitionOf(account), from, to: `${inOrder.at(-1)}~` }
    const { items: page, next: last } = await table.getPage(StoredEvents, range, { limit: share + 1 })
    for (const item of page) {
      const ofVault = recordedPrefix(item.chainId, item.vault)
      left -= item.events.length
      counts.set(ofVault, (counts.get(ofVault) ?? 0) + item.events.length)
      found.get(ofVault)?.push(item)
    }
    const end = page.at(-1)
    if (!last || !end) break
    const prefix = recordedPrefix(end.chainId, end.vault)
    const ofVault = found.get(prefix)
    if (ofVault && (counts.get(prefix) ?? 0) <= share) {
      // Smallest key after the last key that was read.
      from = `${end.sk}\0`
    } else {
      if (ofVault) found.set(prefix, undefined)
      from = inOrder.find((next) => next > prefix)
    }
  }
  return prefixes.map((prefix) => found.get(prefix)?.map(parseRecorded))
}

/**
 * Parses a stored item. Throws UnknownFormError for an event that only a newer version of the software knows. Without
 * that event, amounts would be wrong.
 */
function parseRecorded(item: StoredEvents): RecordedEvents {
  const recorded = parseItem(RecordedEvents, item)
  const unknown = recorded.events.find(({ name }) => !isKnownEvent(name))
  if (unknown)
    throw new UnknownFormError(`A newer version recorded the event ${unknown.name}, which this version does not know.`)
  return recorded
}

function partitionOf(account: Address): string {
  return `ACCOUNT#${account}`
}

function recordedPrefix(chainId: number, vault: Address): string {
  return `EVENT#${chainId}#${vault}#`
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\d+$/.test(value)
}

function mapValues(values: Readonly<Record<string, unknown>>, map: (value: unknown) => unknown) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
