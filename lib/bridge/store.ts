import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Hash } from 'viem'
import * as z from 'zod'
import { conditionHeld } from '../aws/dynamo.ts'
import { Timestamp } from '../codecs.ts'
import { Transfer, type TransferKey } from './transfer.ts'

/** How many writes are under way at a time. */
const WRITES_TOGETHER = 25

const Item = z.object({ transfer: Transfer })
const FollowedItem = Item.extend({
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
export function transfersStore(client: DynamoDBDocumentClient, tableName: string) {
  const postponeOne = ({ key, lookAt }: { key: TransferKey; lookAt: Date | undefined }): Promise<boolean> =>
    conditionHeld(
      client.send(
        new UpdateCommand({
          TableName: tableName,
          Key: itemKey(key),
          UpdateExpression: lookAt
            ? 'SET lookAt = :at, transfer.lookAt = :time'
            : 'REMOVE followedOnChain, lookAt, transfer.lookAt',
          ConditionExpression: 'attribute_exists(lookAt)',
          ...(lookAt && { ExpressionAttributeValues: { ':at': lookAt.getTime(), ':time': Timestamp.encode(lookAt) } }),
        }),
      ),
    )

  return {
    /** What is recorded of a transfer, undefined where nothing is. */
    async get(key: TransferKey): Promise<Transfer | undefined> {
      const { Item: item } = await client.send(new GetCommand({ TableName: tableName, Key: itemKey(key) }))
      return item && Item.parse(item).transfer
    },

    /**
     * The transfers that started on this chain and are to be looked at by now (epoch milliseconds), those that have
     * waited longest first, with what is recorded of them; at most so many, read as one page.
     */
    async listDue(
      sourceChainId: number,
      now: number,
      most: number,
    ): Promise<{ key: TransferKey; recorded: Transfer }[]> {
      const { Items: items } = await client.send(
        new QueryCommand({
          TableName: tableName,
          IndexName: 'followedTransfers',
          KeyConditionExpression: 'followedOnChain = :chain AND lookAt <= :now',
          ExpressionAttributeValues: { ':chain': sourceChainId, ':now': now },
          Limit: most,
        }),
      )
      return z.array(FollowedItem).parse(items ?? [])
    },

    /** Records what is known of a transfer now; false when its final answer is recorded already. */
    record(key: TransferKey, transfer: Transfer): Promise<boolean> {
      const { transfer: encoded } = z.encode(Item, { transfer })
      const followed = transfer.lookAt && { followedOnChain: key.sourceChainId, lookAt: transfer.lookAt.getTime() }
      return conditionHeld(
        client.send(
          new PutCommand({
            TableName: tableName,
            Item: { ...itemKey(key), ...followed, transfer: encoded },
            // Answers of old do not say that they are final, and are looked at again.
            ConditionExpression: 'attribute_not_exists(transfer.#final.#final)',
            ExpressionAttributeNames: { '#final': 'final' },
          }),
        ),
      )
    },

    /**
     * Has transfers looked at another time, or no more: of those that have ended meanwhile nothing is changed. Each is a
     * small write with a condition of its own, some at a time, for a batch would write over an answer that is final.
     */
    async postpone(all: readonly { key: TransferKey; lookAt: Date | undefined }[]): Promise<void> {
      for (let start = 0; start < all.length; start += WRITES_TOGETHER) {
        await Promise.all(all.slice(start, start + WRITES_TOGETHER).map(postponeOne))
      }
    },

    /** Forgets what is recorded of a transfer, its final answer too; false where nothing is. */
    forget(key: TransferKey): Promise<boolean> {
      return conditionHeld(
        client.send(
          new DeleteCommand({
            TableName: tableName,
            Key: itemKey(key),
            ConditionExpression: 'attribute_exists(pk)',
          }),
        ),
      )
    },
  }
}
export type TransfersStore = ReturnType<typeof transfersStore>

function itemKey({ sourceChainId, transactionHash, index }: TransferKey) {
  return { pk: `TRANSFER#${sourceChainId}#${transactionHash}`, sk: `DEPOSIT#${index}` }
}
