import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import { DepositSource } from '../bridge/deposit-source.ts'
import type { DepositLocation, LedgerEntry } from '../protocols/ledger-entry.ts'
import { buildEntryId } from './ledger-entry.ts'

const Item = z.object({ source: DepositSource })

/** Creates the store of the source transactions that caused cross-chain deposits. A source is stored once it is final. */
export function depositSourceStore(table: Table) {
  return {
    /** Records the source transaction of a cross-chain deposit. The source never changes. */
    async record(deposit: DepositLocation, source: DepositSource): Promise<void> {
      await table.put(Item, itemKey(deposit), { source })
    },

    /**
     * Returns a function that finds the source transaction of a cross-chain deposit; undefined if none is recorded.
     * Sends the table one request per 100 deposits.
     */
    async list(deposits: readonly LedgerEntry[]): Promise<(deposit: DepositLocation) => DepositSource | undefined> {
      const items = await table.getMany(Item, deposits.map(itemKey))
      const sources = new Map(deposits.map((deposit, index) => [buildEntryId(deposit), items[index]?.source]))
      return (deposit) => sources.get(buildEntryId(deposit))
    },
  }
}

function itemKey(deposit: DepositLocation) {
  return { pk: `SOURCE#${buildEntryId(deposit)}`, sk: 'SOURCE' }
}
