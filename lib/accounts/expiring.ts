import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import type { EpochSeconds } from '../codecs.ts'

/** An item that ends by itself. DynamoDB deletes it some time after its end, so readers look at the end. */
export type Expiring = z.ZodObject<{ expiresAt: typeof EpochSeconds }>

/** The beginning of an expiring item's keys. */
export type ExpiringType = 'REGISTRATION' | 'RECOVERY' | 'ENROLMENT' | 'LOGIN' | 'SESSION' | 'WALLET'

/** The key of the item of this type that the hash of a secret finds. */
export function expiringKey(type: ExpiringType, hash: string) {
  return { pk: `${type}#${hash}`, sk: type }
}

const Taken = z.object({ isTaken: z.literal(true) }).transform(() => null)

/** The item of this type that the hash of a secret finds, which may have ended; null when there is none, or it is used up. */
export async function getExpiring<Schema extends Expiring>(
  { table, type, schema }: { table: Table; type: ExpiringType; schema: Schema },
  hash: string,
): Promise<z.output<Schema> | null> {
  return (await table.get(z.union([Taken, schema]), expiringKey(type, hash))) ?? null
}
