import * as z from 'zod'
import { HashText } from '../chain/hex.ts'
import { Timestamp } from '../codecs.ts'
import { RequestKind } from '../protocols/request-kind.ts'

/** A non-final notice about a deposit or a withdrawal (`kind`), kept until its block is final. */
export const LatestNotice = z.object({
  key: z.string(),
  kind: RequestKind,
  blockNumber: z.number().int(),
  blockHash: HashText,
  /** Null where no transaction tells it. */
  transactionHash: HashText.nullable().optional(),
  timestamp: Timestamp,
  /** The sort key, if it differs from the notice's. */
  place: z.string().optional(),
})
export type LatestNotice = z.output<typeof LatestNotice>

/** Maximum number of non-final notices of a vault. Later events are reported once final. */
export const MAX_LATEST = 100
