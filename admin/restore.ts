import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { TABLES, type TableDefinition, type TableKey } from '../infra/tables.ts'
import { createOperatorTable } from '../lib/aws/operator-table.ts'
import type { OperatorDynamo } from '../lib/aws/requests.ts'

type Dependencies = {
  readonly dynamo: OperatorDynamo
  readonly nameOf: (table: TableKey) => string
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Tells somebody who waits how far it is. */
  readonly say: (line: string) => void
}

/** What is to come back, from the table that AWS has restored under this name. */
type Wanted = {
  readonly table: TableKey
  readonly from: string
  /** Of the partitions alone whose keys begin so. */
  readonly partition?: string | undefined
  /** Whether what is there and differs becomes what it was. */
  readonly isReplaced: boolean
  readonly isConfirmed: boolean
}

/** How many items the restored table has, and of these how many the stage's table lacks, and has otherwise. */
export type Comparison = { readonly items: number; readonly missing: number; readonly different: number }

const Item = z.looseObject({ pk: z.string(), sk: z.string() })

/**
 * Returns a function that compares a restored table with the stage's own and, where that is confirmed, puts what is missing
 * back, and what differs where that is wanted. It reads both page by page, 1 MB at a time, and leaves out what has expired.
 * Throws where a table cannot be read: what was written until then stays, and it can be done again.
 */
export function itemsRestorer({ dynamo, nameOf, now, say }: Dependencies) {
  return async ({ table, from, partition = '', isReplaced, isConfirmed }: Wanted): Promise<Comparison> => {
    const own = createOperatorTable(dynamo, nameOf(table))
    const { timeToLive = '' }: TableDefinition = TABLES[table]
    const hasExpired = (item: z.output<typeof Item>) => {
      const end = item[timeToLive]
      return typeof end === 'number' && end * 1000 <= now()
    }
    let sum: Comparison = { items: 0, missing: 0, different: 0 }
    for await (const page of createOperatorTable(dynamo, from).scan(Item, { isConsistent: true })) {
      const items = page.filter((item) => item.pk.startsWith(partition) && !hasExpired(item))
      const found = await own.getMany(
        Item,
        items.map(({ pk, sk }) => ({ pk, sk })),
      )
      const present = new Map(found.map((item) => [`${item.pk} ${item.sk}`, item]))
      const stored = (item: z.output<typeof Item>) => present.get(`${item.pk} ${item.sk}`)
      const missing = items.filter((item) => !stored(item))
      const different = items.filter((item) => stored(item) && !isDeepStrictEqual(stored(item), item))
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
