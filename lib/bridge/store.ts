import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { conditionHeld } from '../aws/dynamo.ts'
import { Timestamp, TransactionHash } from '../codecs.ts'
import { type RecordedTransfer, Transfer, type TransferKey } from './transfer.ts'

const Item = z.object({ transfer: Transfer })
const FollowedItem = Item.extend({ pk: z.string(), sk: z.string() }).transform(
  ({ pk, sk, transfer }): RecordedTransfer => {
    const [, chainId, hash] = pk.split('#')
    const [, index] = sk.split('#')
    const transactionHash = TransactionHash.parse(hash)
    return { key: { sourceChainId: Number(chainId), transactionHash, index: Number(index) }, recorded: transfer }
  },
)

/** The table of transfers that somebody asked about. */
export function transfersStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** What is recorded of a transfer, undefined where nothing is; read consistently, for what a user saw is not taken back. */
    async get(key: TransferKey): Promise<Transfer | undefined> {
      const command = new GetCommand({ TableName: tableName, Key: itemKey(key), ConsistentRead: true })
      const { Item: item } = await client.send(command)
      return item && Item.parse(item).transfer
    },

    /**
     * The transfers that started on this chain and are to be looked at by now (epoch milliseconds), those that have waited
     * longest first, with what is recorded of them; at most so many, read as one page.
     */
    async listDue(sourceChainId: number, now: number, most: number): Promise<RecordedTransfer[]> {
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

    /**
     * Records what is seen of a transfer; false when its final status is recorded already, how it has ended otherwise is not
     * what it was before, or it is looked at since.
     */
    record(
      key: TransferKey,
      transfer: Transfer,
      { latest, lookAt }: Pick<Transfer, 'latest' | 'lookAt'> = {},
    ): Promise<boolean> {
      const { transfer: encoded } = z.encode(Item, { transfer })
      const followed = transfer.lookAt && { followedOnChain: key.sourceChainId, lookAt: transfer.lookAt.getTime() }
      const conditions = [
        'attribute_not_exists(transfer.#final)',
        latest ? 'transfer.latest.version = :version' : 'attribute_not_exists(transfer.latest)',
        ...(transfer.lookAt || lookAt ? [] : ['attribute_not_exists(lookAt)']),
      ]
      return conditionHeld(
        client.send(
          new PutCommand({
            TableName: tableName,
            Item: { ...itemKey(key), ...followed, transfer: encoded },
            ConditionExpression: conditions.join(' AND '),
            ExpressionAttributeNames: { '#final': 'final' },
            ...(latest && { ExpressionAttributeValues: { ':version': latest.version } }),
          }),
        ),
      )
    },

    /** Has a recorded transfer looked at from then on; false for one that is looked at already. */
    follow(key: TransferKey, lookAt: Date): Promise<boolean> {
      return conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: itemKey(key),
            UpdateExpression: 'SET followedOnChain = :chain, lookAt = :at, transfer.lookAt = :time',
            ConditionExpression: 'attribute_exists(transfer) AND attribute_not_exists(lookAt)',
            ExpressionAttributeValues: {
              ':chain': key.sourceChainId,
              ':at': lookAt.getTime(),
              ':time': Timestamp.encode(lookAt),
            },
          }),
        ),
      )
    },

    /** Sets when a transfer is looked at next, undefined for never; false for one at which nobody looks any more, which stays. */
    postpone(key: TransferKey, lookAt: Date | undefined): Promise<boolean> {
      return conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: itemKey(key),
            UpdateExpression: lookAt
              ? 'SET lookAt = :at, transfer.lookAt = :time'
              : 'REMOVE followedOnChain, lookAt, transfer.lookAt',
            ConditionExpression: 'attribute_exists(lookAt)',
            ...(lookAt && {
              ExpressionAttributeValues: { ':at': lookAt.getTime(), ':time': Timestamp.encode(lookAt) },
            }),
          }),
        ),
      )
    },

    /** Forgets what is recorded of a transfer, its final status too. */
    async forget(key: TransferKey): Promise<void> {
      await client.send(new DeleteCommand({ TableName: tableName, Key: itemKey(key) }))
    },
  }
}
export type TransfersStore = ReturnType<typeof transfersStore>

function itemKey({ sourceChainId, transactionHash, index }: TransferKey) {
  return { pk: `TRANSFER#${sourceChainId}#${transactionHash}`, sk: `DEPOSIT#${index}` }
}
