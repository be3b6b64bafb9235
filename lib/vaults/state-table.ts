import { BatchGetCommand, type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Address } from 'viem'
import * as z from 'zod'
import { conditionHeld } from '../aws/dynamo.ts'
import { StateAsOf, VaultState, wholeState } from './vault-state.ts'

/** Which vault: its chain and its address there. */
export type VaultKey = { readonly chainId: number; readonly address: Address }

/** A vault's state and the block that it is of. */
export type RecordedState = { readonly state: VaultState; readonly asOf: Omit<StateAsOf, 'stale'> }

const Item = z.object({
  pk: z.string(),
  state: VaultState,
  ...StateAsOf.omit({ stale: true }).shape,
})
const SORT_KEY = 'STATE'
const BATCH = 100

/** The last state that was read of each vault, for when its chain cannot be read. */
export function stateTable(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** The last states of these vaults, in order; undefined where none was ever recorded. */
    async get(vaults: readonly VaultKey[]): Promise<(RecordedState | undefined)[]> {
      const keys = [...new Set(vaults.map(partitionKey))].map((pk) => ({ pk, sk: SORT_KEY }))
      const items: z.output<typeof Item>[] = []
      for (let start = 0; start < keys.length; start += BATCH) {
        let request: Record<string, { Keys: Record<string, unknown>[] }> | undefined = {
          [tableName]: { Keys: keys.slice(start, start + BATCH) },
        }
        while (request && Object.keys(request).length > 0) {
          const page = await client.send(new BatchGetCommand({ RequestItems: request }))
          const stored = page.Responses?.[tableName] ?? []
          items.push(...z.array(Item).parse(stored.map((item) => ({ ...item, state: wholeState(item['state']) }))))
          request = page.UnprocessedKeys as typeof request
        }
      }
      const byKey = new Map(items.map(({ pk, state, ...asOf }) => [pk, { state, asOf }]))
      return vaults.map((vault) => byKey.get(partitionKey(vault)))
    },

    /** Records a newer state; false when the table already holds this block's or a later one. */
    record(vault: VaultKey, { state, asOf }: RecordedState): Promise<boolean> {
      const item = z.encode(Item, { pk: partitionKey(vault), state, ...asOf })
      return conditionHeld(
        client.send(
          new PutCommand({
            TableName: tableName,
            Item: { ...item, sk: SORT_KEY },
            ConditionExpression: 'attribute_not_exists(pk) OR blockNumber < :blockNumber',
            ExpressionAttributeValues: { ':blockNumber': item.blockNumber },
          }),
        ),
      )
    },
  }
}
export type StateTable = ReturnType<typeof stateTable>

function partitionKey({ chainId, address }: VaultKey): string {
  return `VAULT#${chainId}#${address}`
}
