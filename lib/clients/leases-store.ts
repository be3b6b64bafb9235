import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { EpochSeconds } from '../codecs.ts'

const Window = z.object({ taken: z.number().int() })

/** A request waits no longer for its lease. */
const DEADLINE_MS = 1000

/** What containers have taken of the requests that keys may make, an item for each window, in the table of what can be had again. */
export function leasesStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /**
     * Takes `size` of the window's requests; how many all have taken then, or null where fewer are left of the limit. Where an
     * answer is lost the SDK asks again: the first lease is lost then. Throws after a second.
     */
    async take(
      window: string,
      { size, limit, until }: { readonly size: number; readonly limit: number; readonly until: Date },
    ): Promise<number | null> {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { pk: `rate#${window}`, sk: 'LEASES' },
        UpdateExpression: 'ADD taken :size SET expiresAt = :end',
        ConditionExpression: 'attribute_not_exists(taken) OR taken <= :most',
        ExpressionAttributeValues: { ':size': size, ':most': limit - size, ':end': EpochSeconds.encode(until) },
        ReturnValues: 'UPDATED_NEW',
      })
      try {
        const { Attributes } = await client.send(command, { abortSignal: AbortSignal.timeout(DEADLINE_MS) })
        return Window.parse(Attributes).taken
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return null
        throw error
      }
    },
  }
}
export type LeasesStore = ReturnType<typeof leasesStore>
