import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { TableKey } from '../../infra/tables.ts'
import { createOperatorTable, type OperatorTable } from '../../lib/aws/operator-table.ts'
import type { Item, OperatorDynamo } from '../../lib/aws/requests.ts'
import type { TableNames } from '../../sandbox/dynamo.ts'
import type { SnapshotTaker } from './restore.ts'

const AnyItem = z.looseObject({ pk: z.string(), sk: z.string() })

/** DynamoDB tables of the service. */
export type Tables = Readonly<Record<TableKey, OperatorTable>>

/** Opens the service's tables by these table names. */
export function openTables(dynamo: OperatorDynamo, names: TableNames): Tables {
  const open = (key: TableKey) => createOperatorTable(dynamo, names[key])
  return {
    clients: open('clients'),
    deposits: open('deposits'),
    users: open('users'),
    webhooks: open('webhooks'),
    cache: open('cache'),
  }
}

/** Table names in tests. */
export const TEST_TABLES: TableNames = {
  clients: 'test-clients',
  deposits: 'test-deposits',
  users: 'test-users',
  webhooks: 'test-webhooks',
  cache: 'test-cache',
}

/** Returns all items of a table by their keys. */
export async function scanTable(table: OperatorTable): Promise<Map<string, Item>> {
  const items = new Map<string, Item>()
  for await (const page of table.scan(AnyItem, { isConsistent: true })) {
    for (const item of page) items.set(`${item.pk} ${item.sk}`, item)
  }
  return items
}

/** Restores a table to the items that an earlier `scanTable` returned. */
export async function resetTable(table: OperatorTable, earlier: ReadonlyMap<string, Item>): Promise<void> {
  const now = await scanTable(table)
  await table.deleteMany([...now].flatMap(([key, item]) => (earlier.has(key) ? [] : [item])))
  await table.putMany([...earlier].flatMap(([key, item]) => (isDeepStrictEqual(now.get(key), item) ? [] : [item])))
}

/** Returns a function that takes a snapshot of a table. */
export function createTableSnapshotTaker(table: OperatorTable): SnapshotTaker {
  return async () => {
    const items = await scanTable(table)
    return () => resetTable(table, items)
  }
}
