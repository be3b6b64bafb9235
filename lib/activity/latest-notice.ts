import * as z from 'zod'
import { HashText } from '../chain/hex.ts'
import { Address, Timestamp } from '../core/codecs.ts'
import { RequestKind } from '../protocols/request-kind.ts'

/** Non-final notice about a deposit or a withdrawal (`kind`), kept until its block is final. */
export const LatestNotice = z.object({
  key: z.string(),
  kind: RequestKind,
  blockNumber: z.number().int(),
  blockHash: HashText,
  /** Null if no transaction caused the notice. */
  transactionHash: HashText.nullable().optional(),
  timestamp: Timestamp,
  /** Account of the notice, id of its deposit or withdrawal (null if unknown), and version. */
  account: Address.optional(),
  id: z.string().nullable().optional(),
  version: z.number().int().optional(),
})
export type LatestNotice = z.output<typeof LatestNotice>

/** Maximum number of non-final notices of a vault. Later events are reported once final. */
export const MAX_LATEST = 100
