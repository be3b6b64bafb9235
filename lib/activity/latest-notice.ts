import * as z from 'zod'
import { HashText } from '../chain/hex.ts'
import { Address, Timestamp } from '../codecs.ts'
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
  /** The account, the id of its deposit or withdrawal, if known, and the version of the notice. */
  account: Address.optional(),
  id: z.string().nullable().optional(),
  version: z.number().int().optional(),
})
export type LatestNotice = z.output<typeof LatestNotice>

/** Maximum number of non-final notices of a vault. Later events are reported once final. */
export const MAX_LATEST = 100
