import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import type { EpochSeconds } from '../core/codecs.ts'

/** Schema of an expiring item. DynamoDB deletes it late, so readers check `expiresAt`. */
export type Expiring = z.ZodObject<{ expiresAt: typeof EpochSeconds }>

/** Prefix of an expiring item's keys. */
export type ExpiringType = 'REGISTRATION' | 'RECOVERY' | 'ENROLMENT' | 'LOGIN' | 'SESSION' | 'WALLET'

/** Returns the key of an item by its type and the hash of its secret. */
export function expiringKey(type: ExpiringType, hash: string) {
  return { pk: `${type}#${hash}`, sk: type }
}

const Taken = z.object({ isTaken: z.literal(true) }).transform(() => null)

/** Returns the item by the hash of its secret, even if expired; null if there is none or it is used. */
export async function getExpiring<Schema extends Expiring>(
  { table, type, schema }: { table: Table; type: ExpiringType; schema: Schema },
  hash: string,
): Promise<z.output<Schema> | null> {
  return (await table.get(z.union([Taken, schema]), expiringKey(type, hash))) ?? null
}
