import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Hash } from 'viem'
import * as z from 'zod'
import { conditionHeld, listItems } from '../aws/dynamo.ts'
import { Transfer, type TransferKey } from './transfer.ts'

const Item = z.object({ transfer: Transfer })
const OpenItem = Item.extend({
  pk: z.string().regex(/^TRANSFER#\d+#0x[0-9a-f]{64}$/),
  sk: z.string().regex(/^DEPOSIT#\d+$/),
}).transform(({ pk, sk, transfer }): { key: TransferKey; recorded: Transfer } => {
  const [, chainId, transactionHash] = pk.split('#')
  const key = {
    sourceChainId: Number(chainId),
    transactionHash: transactionHash as Hash,
    index: Number(sk.slice('DEPOSIT#'.length)),
  }
  return { key, recorded: transfer }
})

/** The table of transfers that somebody asked about. */
export function transfersTable(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** What is recorded of a transfer, undefined where nothing is. */
    async get(key: TransferKey): Promise<Transfer | undefined> {
      const { Item: item } = await client.send(new GetCommand({ TableName: tableName, Key: itemKey(key) }))
      return item && Item.parse(item).transfer
    },

    /** The transfers that started on this chain and whose final answer is still to come, with what is recorded of them. */
    async listOpen(sourceChainId: number): Promise<{ key: TransferKey; recorded: Transfer }[]> {
      const items = await listItems(client, {
        TableName: tableName,
        IndexName: 'openTransfers',
        KeyConditionExpression: 'openOnChain = :chain',
        ExpressionAttributeValues: { ':chain': sourceChainId },
      })
      return z.array(OpenItem).parse(items)
    },

    /** Records what is known of a transfer now; false when its final answer is recorded already. */
    record(key: TransferKey, transfer: Transfer): Promise<boolean> {
      const { transfer: encoded } = z.encode(Item, { transfer })
      return conditionHeld(
        client.send(
          new PutCommand({
            TableName: tableName,
            Item: { ...itemKey(key), ...(!transfer.final && { openOnChain: key.sourceChainId }), transfer: encoded },
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
