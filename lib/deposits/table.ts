import { type DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Address } from 'viem'
import * as z from 'zod'
import { conditionHeld, listItems } from '../aws/dynamo.ts'
import { Address as AddressText, Amount } from '../codecs.ts'
import type { PricePoint } from '../vaults/apy.ts'
import type { VaultKey } from '../vaults/state-table.ts'
import { Ledger } from './ledger.ts'
import { Movement, positionOf } from './movement.ts'

/** How far a vault's events are recorded, and its ledger after them. */
const VaultProgress = z.object({
  through: z.number().int(),
  ledger: Ledger,
  /** What one share was worth a week ago, or at first where the vault is younger; looked up anew each hour. */
  weekAgo: z.object({ price: Amount, timestamp: Amount, foundAt: Amount }).optional(),
})
export type VaultProgress = z.output<typeof VaultProgress>

/** How far the events of a chain's vaults are recorded; everything in one item, so that it moves at once or not at all. */
export const Checkpoint = z.object({
  /** The last block that is recorded for every vault that has caught up; absent before the first run. */
  through: z.number().int().optional(),
  vaults: z.record(z.string(), VaultProgress),
})
export type Checkpoint = z.output<typeof Checkpoint>

const PriceItem = z.object({ price: Amount, timestamp: Amount })
const CHECKPOINT = 'CHECKPOINT'
const CONCURRENT_WRITES = 10

/** The table of what happened to users in vaults. Every write is conditional; what is written is final. */
export function recordsTable(client: DynamoDBDocumentClient, tableName: string) {
  /** Writes an item unless it is there already; false when it is. */
  const create = (item: Record<string, unknown>) =>
    conditionHeld(
      client.send(
        new PutCommand({ TableName: tableName, Item: item, ConditionExpression: 'attribute_not_exists(pk)' }),
      ),
    )

  return {
    /** Records movements; the number of those that were not recorded before. */
    async record(movements: readonly Movement[]): Promise<number> {
      const items = movements.map((movement) => ({
        pk: `USER#${movement.user}`,
        sk: `MOVE#${positionOf(movement)}`,
        ...Movement.encode(movement),
      }))
      return await createAll(items, create)
    },

    /** All movements of a user in any vault, in the order in which they happened. */
    async listMovements(user: Address): Promise<Movement[]> {
      const items = await listItems(client, {
        TableName: tableName,
        KeyConditionExpression: 'pk = :user AND begins_with(sk, :move)',
        ExpressionAttributeValues: { ':user': `USER#${user}`, ':move': 'MOVE#' },
      })
      return z.array(Movement).parse(items)
    },

    /** Records what one whole share of a vault was worth at moments; the number of moments not recorded before. */
    async recordPrices(
      vault: VaultKey,
      prices: readonly (PricePoint & { readonly blockNumber?: bigint })[],
    ): Promise<number> {
      const items = prices.map(({ price, timestamp, blockNumber = 0n }) => ({
        pk: vaultPartition(vault),
        // Some chains have several blocks in a second; the last of them tells the price after it.
        sk: `${priceSort(timestamp)}#${blockNumber.toString().padStart(12, '0')}`,
        ...PriceItem.encode({ price, timestamp }),
      }))
      return await createAll(items, create)
    },

    /** The recorded prices of a vault from a moment on, in order; seconds since 1970. */
    async listPrices(vault: VaultKey, since: bigint): Promise<PricePoint[]> {
      const items = await listItems(client, {
        TableName: tableName,
        KeyConditionExpression: 'pk = :vault AND sk BETWEEN :since AND :end',
        ExpressionAttributeValues: { ':vault': vaultPartition(vault), ':since': priceSort(since), ':end': 'PRICE#9' },
      })
      return z.array(PriceItem).parse(items)
    },

    /** The last recorded price of a vault at or before a moment, else its first one; undefined where none is recorded. */
    async getPriceAt(vault: VaultKey, at: bigint): Promise<PricePoint | undefined> {
      const one = async (condition: string, sort: Record<string, string>, ScanIndexForward: boolean) => {
        const { Items: items } = await client.send(
          new QueryCommand({
            TableName: tableName,
            KeyConditionExpression: `pk = :vault AND ${condition}`,
            ExpressionAttributeValues: { ':vault': vaultPartition(vault), ...sort },
            ScanIndexForward,
            Limit: 1,
          }),
        )
        return z.array(PriceItem).parse(items ?? [])[0]
      }
      const before = await one('sk BETWEEN :first AND :at', { ':first': 'PRICE#', ':at': `${priceSort(at)}#~` }, false)
      return before ?? (await one('begins_with(sk, :price)', { ':price': 'PRICE#' }, true))
    },

    /** How far a chain is recorded. */
    async getCheckpoint(chainId: number): Promise<Checkpoint> {
      const { Item: item } = await client.send(new GetCommand({ TableName: tableName, Key: checkpointKey(chainId) }))
      return z.object({ checkpoint: Checkpoint.default({ vaults: {} }) }).parse(item ?? {}).checkpoint
    },

    /** Takes the right to record a chain until a moment, in epoch milliseconds; false while somebody else has it. */
    takeLease(chainId: number, owner: string, { now, until }: { now: number; until: number }): Promise<boolean> {
      return conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: checkpointKey(chainId),
            UpdateExpression: 'SET leaseOwner = :owner, leaseUntil = :until',
            ConditionExpression: 'attribute_not_exists(leaseUntil) OR leaseUntil < :now',
            ExpressionAttributeValues: { ':owner': owner, ':until': until, ':now': now },
          }),
        ),
      )
    },

    /** Gives the lease back after a run that failed; false when somebody else has it by now. */
    giveLeaseBack(chainId: number, owner: string): Promise<boolean> {
      return conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: checkpointKey(chainId),
            UpdateExpression: 'REMOVE leaseOwner, leaseUntil',
            ConditionExpression: 'leaseOwner = :owner',
            ExpressionAttributeValues: { ':owner': owner },
          }),
        ),
      )
    },

    /** Moves the checkpoint and gives the lease back; false when the lease was lost meanwhile. */
    moveCheckpoint(chainId: number, owner: string, checkpoint: Checkpoint): Promise<boolean> {
      return conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: checkpointKey(chainId),
            UpdateExpression: 'SET checkpoint = :checkpoint REMOVE leaseOwner, leaseUntil',
            ConditionExpression: 'leaseOwner = :owner',
            ExpressionAttributeValues: { ':owner': owner, ':checkpoint': Checkpoint.encode(checkpoint) },
          }),
        ),
      )
    },
  }
}
export type RecordsTable = ReturnType<typeof recordsTable>

async function createAll<T>(items: readonly T[], create: (item: T) => Promise<boolean>): Promise<number> {
  let created = 0
  for (let start = 0; start < items.length; start += CONCURRENT_WRITES) {
    const written = await Promise.all(items.slice(start, start + CONCURRENT_WRITES).map(create))
    created += written.filter(Boolean).length
  }
  return created
}

function checkpointKey(chainId: number) {
  return { pk: `CHECKPOINT#${chainId}`, sk: CHECKPOINT }
}

function vaultPartition({ chainId, address }: VaultKey): string {
  return `VAULT#${chainId}#${AddressText.encode(address)}`
}

function priceSort(timestamp: bigint): string {
  return `PRICE#${timestamp.toString().padStart(12, '0')}`
}
