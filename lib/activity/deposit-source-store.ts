import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { getItems } from '../aws/dynamo.ts'
import { buildEntryId, type DepositLocation, DepositSource, type LedgerEntry } from './ledger-entry.ts'

const Item = z.object({ pk: z.string(), source: DepositSource })

/** Where deposits from other chains began, where that is final. */
export function depositSourceStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** Records where a deposit began, which never changes. */
    async record(deposit: DepositLocation, source: DepositSource): Promise<void> {
      const item = { ...itemKey(deposit), source: DepositSource.encode(source) }
      await client.send(new PutCommand({ TableName: tableName, Item: item }))
    },

    /** Where these deposits began, in one request for up to a hundred of them: undefined where none is recorded. */
    async list(deposits: readonly LedgerEntry[]): Promise<(deposit: DepositLocation) => DepositSource | undefined> {
      const items = z.array(Item).parse(await getItems(client, tableName, deposits.map(itemKey)))
      const sources = new Map(items.map(({ pk, source }) => [pk, source]))
      return (deposit) => sources.get(itemKey(deposit).pk)
    },
  }
}
export type DepositSourceStore = ReturnType<typeof depositSourceStore>

function itemKey(deposit: DepositLocation) {
  return { pk: `SOURCE#${buildEntryId(deposit)}`, sk: 'SOURCE' }
}
