import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { TABLES, type TableDefinition, type TableKey } from '../infra/tables.ts'
import { createOperatorTable } from '../lib/aws/operator-table.ts'
import type { OperatorDynamo } from '../lib/aws/requests.ts'

type RestoreServices = {
  readonly dynamo: OperatorDynamo
  readonly nameOf: (table: TableKey) => string
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
  readonly say: (line: string) => void
}

/** Request to copy items into a table of the stage from the table `from`, which AWS restored from a backup. */
type RestoreRequest = {
  readonly table: TableKey
  readonly from: string
  /** Prefix of the partition keys to restore; all by default. */
  readonly partition?: string | undefined
  /** True to overwrite items of the stage's table that differ from the restored items. */
  readonly isReplaced: boolean
  readonly isConfirmed: boolean
}

/** Numbers of items in the restored table: all, those missing from the stage's table, and those that differ there. */
export type RestoreCounts = { readonly items: number; readonly missing: number; readonly different: number }

const Item = z.looseObject({ pk: z.string(), sk: z.string() })

/**
 * Returns a function that compares a restored table with the stage's table. If confirmed, the function writes missing items to the stage's
 * table. If requested, it also overwrites different items. It reads pages of 1 MB and skips expired items. It throws if a table cannot be
 * read; earlier writes stay, and the function can run again.
 */
export function createItemsRestorer({ dynamo, nameOf, now, say }: RestoreServices) {
  return async ({ table, from, partition = '', isReplaced, isConfirmed }: RestoreRequest): Promise<RestoreCounts> => {
    const own = createOperatorTable(dynamo, nameOf(table))
    const { timeToLive = '' }: TableDefinition = TABLES[table]
    const hasExpired = (item: z.output<typeof Item>) => {
      const end = item[timeToLive]
      return typeof end === 'number' && end * 1000 <= now()
    }
    let sum: RestoreCounts = { items: 0, missing: 0, different: 0 }
    for await (const page of createOperatorTable(dynamo, from).scan(Item, { isConsistent: true })) {
      const items = page.filter((item) => item.pk.startsWith(partition) && !hasExpired(item))
      const ownItems = await own.getMany(
        Item,
        items.map(({ pk, sk }) => ({ pk, sk })),
      )
      const missing = items.filter((_, index) => !ownItems[index])
      const different = items.filter((item, index) => ownItems[index] && !isDeepStrictEqual(ownItems[index], item))
      if (isConfirmed) await own.putMany(isReplaced ? [...missing, ...different] : missing)
      sum = {
        items: sum.items + items.length,
        missing: sum.missing + missing.length,
        different: sum.different + different.length,
      }
      say(`${sum.items} items of ${from} …`)
    }
    return sum
  }
}
