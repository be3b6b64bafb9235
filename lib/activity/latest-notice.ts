import * as z from 'zod'
import { HashText } from '../chain/hex.ts'
import { Address, Timestamp } from '../core/codecs.ts'
import { RequestKind } from '../protocols/request-kind.ts'

/**
 * Published webhook event about a deposit or a withdrawal (`kind`) in a block that is not final. The event is kept
 * until its block is final, so that it can be reverted.
 */
export const LatestNotice = z.object({
  key: z.string(),
  kind: RequestKind,
  blockNumber: z.number().int(),
  blockHash: HashText,
  /** Transaction of the event; null if none caused it, for example for a settlement seen only in the vault's state. */
  transactionHash: HashText.nullable().optional(),
  timestamp: Timestamp,
  account: Address.optional(),
  /** Id of the deposit or withdrawal; null if unknown. */
  id: z.string().nullable().optional(),
  /** Version of the event's payload. */
  version: z.number().int().optional(),
})
export type LatestNotice = z.output<typeof LatestNotice>

/** Maximum number of published events in non-final blocks per vault. Further events are published only once they are final. */
export const MAX_LATEST_NOTICES = 100
