import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb'
import type { Address } from 'viem'
import type { VaultKey } from '../vaults/vault.ts'
import { entryPrefix } from './ledger-entry.ts'

/** In how many vaults an account is looked for, with one query each. */
const MOST_VAULTS = 10

/** The table of what happened to users in vaults, for those who ask only whether anything did. */
export function accountRecordsStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** Whether anything is recorded of an account in any of these vaults, of which the first ten are looked at. */
    async has(account: Address, vaults: readonly VaultKey[]): Promise<boolean> {
      const found = await Promise.all(
        vaults.slice(0, MOST_VAULTS).map(async ({ chainId, address }) => {
          const query = new QueryCommand({
            TableName: tableName,
            KeyConditionExpression: 'pk = :partition AND begins_with(sk, :prefix)',
            ExpressionAttributeValues: { ':partition': `ACCOUNT#${account}`, ':prefix': entryPrefix(chainId, address) },
            Limit: 1,
          })
          const { Items: items } = await client.send(query)
          return (items ?? []).length > 0
        }),
      )
      return found.includes(true)
    },
  }
}
