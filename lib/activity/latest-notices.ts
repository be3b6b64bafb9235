import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'

/** A notice of what was not final, as it is remembered until its block is: `kind` of its deposit or withdrawal. */
export const LatestNotice = z.object({
  key: z.string(),
  kind: RequestKind,
  blockNumber: z.number().int(),
  timestamp: Timestamp,
})
export type LatestNotice = z.output<typeof LatestNotice>

/** Of so much of a vault that is not final clients are told; beyond that of what is final alone. */
export const MOST_LATEST = 100

/** What is remembered of a notice of a deposit or a withdrawal; undefined for others. */
export function rememberNotice({ key, type, timestamp, data }: Notice): LatestNotice | undefined {
  if (!('blockNumber' in data)) return undefined
  const { blockNumber } = data
  if (type.startsWith('deposit.')) return { key, kind: 'deposit', blockNumber, timestamp }
  return type.startsWith('withdrawal.') ? { key, kind: 'withdrawal', blockNumber, timestamp } : undefined
}

/** The notice that what was told of a block that was not final is not so. */
export function buildRevertedNotice(
  { chainId, address }: VaultKey,
  { key, kind, timestamp }: Pick<LatestNotice, 'key' | 'kind' | 'timestamp'>,
): Notice {
  const data = { chainId, vaultAddress: address, eventId: key }
  return { type: `${kind}.reverted`, key: `${key}#reverted`, timestamp, final: false, data }
}
