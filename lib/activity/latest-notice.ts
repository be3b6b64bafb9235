import * as z from 'zod'
import { HashText } from '../chain/hex.ts'
import { Address, Timestamp } from '../core/codecs.ts'
import { RequestKind } from '../protocols/request-kind.ts'

/** Published event about a deposit or a withdrawal (`kind`) in a block that is not final. It is kept until that block is final. */
export const LatestNotice = z.object({
  key: z.string(),
  kind: RequestKind,
  blockNumber: z.number().int(),
  blockHash: HashText,
  /** Null if no transaction caused the event, such as a settlement seen in the vault's state. */
  transactionHash: HashText.nullable().optional(),
  timestamp: Timestamp,
  /** Account of the published event, id of its deposit or withdrawal (null if unknown), and version of the payload. */
  account: Address.optional(),
  id: z.string().nullable().optional(),
  version: z.number().int().optional(),
})
export type LatestNotice = z.output<typeof LatestNotice>

/** Maximum number of published events in non-final blocks per vault. Later ones are published once final. */
export const MAX_LATEST = 100
