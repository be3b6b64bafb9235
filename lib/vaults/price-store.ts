import * as z from 'zod'
import type { Item } from '../aws/requests.ts'
import { buildItem, type Table } from '../aws/table.ts'
import { Amount } from '../core/codecs.ts'
import {
  type BlockPrice,
  computeIntervalStart,
  type NewPrice,
  type NewPrices,
  type PriceInterval,
  type PricePoint,
  sortByBlock,
} from './prices.ts'
import type { VaultKey } from './vault.ts'
import { vaultPartition } from './vault.ts'

/** Share price of a vault, as the table stores it. */
export const StoredPrice = z.object({
  price: Amount,
  timestamp: Amount,
  /** The vault's total assets at `timestamp`, in the asset's smallest unit; absent if unknown. */
  totalAssets: Amount.optional(),
})
export type StoredPrice = z.output<typeof StoredPrice>

const PREFIXES = { hour: 'PRICE#', day: 'DAY#' } as const satisfies Record<PriceInterval, string>

/**
 * Returns the store of share prices. It keeps the last price of each hour and the first price of each UTC day. Storing
 * the same price twice changes nothing.
 */
export function priceStore(table: Table) {
  return {
    /** Stores prices. After an error, some of the prices may be stored. */
    async record(added: readonly NewPrices[]): Promise<void> {
      await table.putMany(added.flatMap(buildItems))
    },

    /** Returns a vault's stored prices from the time `since` on, oldest first. `since` is in seconds since 1970. */
    async list(vault: VaultKey, interval: PriceInterval, since: bigint): Promise<StoredPrice[]> {
      const range = {
        partition: vaultPartition(vault),
        from: sortKey(interval, since),
        to: `${PREFIXES[interval]}~`,
      }
      return await table.list(StoredPrice, range, { isConsistent: false })
    },

    /** Returns the last stored price of the hours that began before the time `at`, in seconds since 1970; undefined if there is none. */
    async getLastBefore(vault: VaultKey, at: bigint): Promise<StoredPrice | undefined> {
      const range = { partition: vaultPartition(vault), from: PREFIXES.hour, to: sortKey('hour', at - 1n) }
      const options = { isDescending: true, limit: 1, isConsistent: false }
      return (await table.getPage(StoredPrice, range, options)).items[0]
    },

    /**
     * Returns each vault's first stored price of the UTC day that contains the time `at` (seconds since 1970), in the
     * given order; undefined if there is none.
     */
    getDays(days: readonly { readonly vault: VaultKey; readonly at: bigint }[]): Promise<(PricePoint | undefined)[]> {
      const keys = days.map(({ vault, at }) => ({ pk: vaultPartition(vault), sk: sortKey('day', at) }))
      return table.getMany(StoredPrice, keys, { isConsistent: false })
    },
  }
}
export type PriceStore = ReturnType<typeof priceStore>

/** Builds the table items of new prices that are the last known price of their hour, or the first known price of their day. */
function buildItems({ vault, prices, known }: NewPrices): Item[] {
  const isNew = new Set<BlockPrice>(prices)
  const inOrder: readonly NewPrice[] = sortByBlock([...known, ...prices])
  return inOrder.flatMap((price, index) => {
    if (!isNew.has(price)) return []
    const isOf = (other: BlockPrice | undefined, interval: PriceInterval) =>
      other !== undefined &&
      computeIntervalStart(interval, other.timestamp) === computeIntervalStart(interval, price.timestamp)
    const intervals = [
      ...(isOf(inOrder[index + 1], 'hour') ? [] : (['hour'] as const)),
      ...(isOf(inOrder[index - 1], 'day') ? [] : (['day'] as const)),
    ]
    return intervals.map((interval) =>
      buildItem(StoredPrice, { pk: vaultPartition(vault), sk: sortKey(interval, price.timestamp) }, price),
    )
  })
}

function sortKey(interval: PriceInterval, at: bigint): string {
  return `${PREFIXES[interval]}${computeIntervalStart(interval, at).toString().padStart(12, '0')}`
}
