import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { conditionHeld } from '../aws/dynamo.ts'
import { Transfer, type TransferKey } from './transfer.ts'

const Item = z.object({ transfer: Transfer })

/** The table of transfers that somebody asked about. */
export function transfersTable(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** What is recorded of a transfer, undefined where nothing is. */
    async get(key: TransferKey): Promise<Transfer | undefined> {
      const { Item: item } = await client.send(new GetCommand({ TableName: tableName, Key: itemKey(key) }))
      return item && Item.parse(item).transfer
    },

    /** Records what is known of a transfer now; false when its final answer is recorded already. */
    record(key: TransferKey, transfer: Transfer): Promise<boolean> {
      const { transfer: encoded } = z.encode(Item, { transfer })
      return conditionHeld(
        client.send(
          new PutCommand({
            TableName: tableName,
            Item: { ...itemKey(key), transfer: encoded },
            ConditionExpression: 'attribute_not_exists(transfer.#final)',
            ExpressionAttributeNames: { '#final': 'final' },
          }),
        ),
      )
    },
  }
}
export type TransfersTable = ReturnType<typeof transfersTable>

function itemKey({ sourceChainId, transactionHash, index }: TransferKey) {
  return { pk: `TRANSFER#${sourceChainId}#${transactionHash}`, sk: `DEPOSIT#${index}` }
}
