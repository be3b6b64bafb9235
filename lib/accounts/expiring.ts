import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import type { EpochSeconds } from '../core/codecs.ts'

/** Schema of an item with an expiry time. DynamoDB deletes expired items only after some delay, so readers must check `expiresAt`. */
export type ExpiringItemSchema = z.ZodObject<{ expiresAt: typeof EpochSeconds }>

/** First part of an expiring item's key, by the purpose of the item. */
export type ExpiringItemType = 'REGISTRATION' | 'RECOVERY' | 'ENROLMENT' | 'LOGIN' | 'SESSION' | 'WALLET'

/** Returns the table key of an expiring item. `hash` is the hash of the item's secret, such as a session token. */
export function expiringKey(type: ExpiringItemType, hash: string) {
  return { pk: `${type}#${hash}`, sk: type }
}

const Taken = z.object({ isTaken: z.literal(true) }).transform(() => null)

/**
 * Returns an expiring item by the hash of its secret, even if it has expired. Returns null if the item does not exist
 * or was already used.
 */
export async function getExpiringItem<Schema extends ExpiringItemSchema>(
  { table, type, schema }: { table: Table; type: ExpiringItemType; schema: Schema },
  hash: string,
): Promise<z.output<Schema> | null> {
  return (await table.get(z.union([Taken, schema]), expiringKey(type, hash))) ?? null
}
