import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import type { EpochSeconds } from '../core/codecs.ts'

/** Schema of an expiring item. DynamoDB deletes items some time after they expire, so readers check `expiresAt`. */
export type Expiring = z.ZodObject<{ expiresAt: typeof EpochSeconds }>

/** Prefix of the keys of expiring items, by their purpose. */
export type ExpiringType = 'REGISTRATION' | 'RECOVERY' | 'ENROLMENT' | 'LOGIN' | 'SESSION' | 'WALLET'

/** Returns the key of an expiring item by its purpose and the hash of its secret, such as a token. */
export function expiringKey(type: ExpiringType, hash: string) {
  return { pk: `${type}#${hash}`, sk: type }
}

const Taken = z.object({ isTaken: z.literal(true) }).transform(() => null)

/** Returns the item by the hash of its secret, even if it has expired; null if there is none or it was used. */
export async function getExpiring<Schema extends Expiring>(
  { table, type, schema }: { table: Table; type: ExpiringType; schema: Schema },
  hash: string,
): Promise<z.output<Schema> | null> {
  return (await table.get(z.union([Taken, schema]), expiringKey(type, hash))) ?? null
}
