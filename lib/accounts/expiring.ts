import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import type * as z from 'zod'
import type { EpochSeconds } from '../codecs.ts'

/** An item that ends by itself. DynamoDB deletes it some time after its end: until then it must be looked at. */
export type Expiring = z.ZodObject<{ expiresAt: typeof EpochSeconds }>

/** The beginning of an expiring item's keys. */
export type ExpiringType = 'REGISTRATION' | 'RECOVERY' | 'ENROLMENT' | 'LOGIN' | 'SESSION' | 'WALLET'

/** The key of the item of this type that the hash of a secret finds. */
export function expiringKey(type: ExpiringType, hash: string) {
  return { pk: `${type}#${hash}`, sk: type }
}

/** The item of this type that the hash of a secret finds, which may have ended; null when there is none, or it is used up. */
export async function getExpiring<Schema extends Expiring>(
  {
    client,
    TableName,
    type,
    schema,
  }: { client: DynamoDBDocumentClient; TableName: string; type: ExpiringType; schema: Schema },
  hash: string,
): Promise<z.output<Schema> | null> {
  const { Item } = await client.send(new GetCommand({ TableName, Key: expiringKey(type, hash), ConsistentRead: true }))
  return Item && !('isTaken' in Item) ? schema.parse(Item) : null
}
