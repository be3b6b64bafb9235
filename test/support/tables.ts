import { isDeepStrictEqual } from 'node:util'
import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { deleteItems, putItems } from '../../lib/aws/dynamo.ts'
import type { Remember } from './restore.ts'

const Item = z.looseObject({ pk: z.string(), sk: z.string() })
/** An item of a table. */
export type Item = Readonly<z.output<typeof Item>>

/** All items of a table, by their keys. */
export async function scanTable(dynamo: DynamoDBDocumentClient, tableName: string): Promise<Map<string, Item>> {
  const items = new Map<string, Item>()
  let ExclusiveStartKey: Record<string, unknown> | undefined
  do {
    const page = await dynamo.send(new ScanCommand({ TableName: tableName, ExclusiveStartKey }))
    for (const item of z.array(Item).parse(page.Items)) items.set(`${item.pk} ${item.sk}`, item)
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey)
  return items
}

/** Makes the items of a table those of an earlier scan again. */
export async function resetTable(
  dynamo: DynamoDBDocumentClient,
  tableName: string,
  earlier: ReadonlyMap<string, Item>,
): Promise<void> {
  const now = await scanTable(dynamo, tableName)
  const added = [...now].flatMap(([key, item]) => (earlier.has(key) ? [] : [item]))
  const changed = [...earlier].flatMap(([key, item]) => (isDeepStrictEqual(now.get(key), item) ? [] : [item]))
  await deleteItems(dynamo, tableName, added)
  await putItems(dynamo, tableName, changed)
}

/** Remembers a table. */
export function rememberTable(dynamo: DynamoDBDocumentClient, tableName: string): Remember {
  return async () => {
    const items = await scanTable(dynamo, tableName)
    return () => resetTable(dynamo, tableName, items)
  }
}
