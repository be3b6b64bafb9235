import type { Hash } from 'viem'
import * as z from 'zod'
import { HashText } from '../chain/hex.ts'
import { Timestamp } from '../codecs.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { type Notice, placeOf } from '../webhooks/event.ts'

/** A notice of what was not final, as it is remembered until its block is: `kind` of its deposit or withdrawal. */
export const LatestNotice = z.object({
  key: z.string(),
  kind: RequestKind,
  blockNumber: z.number().int(),
  blockHash: HashText,
  timestamp: Timestamp,
  /** Where it sorts, if not at its own place. */
  place: z.string().optional(),
})
export type LatestNotice = z.output<typeof LatestNotice>

/** Of so much of a vault that is not final clients are told; beyond that of what is final alone. */
export const MAX_LATEST = 100

/** What is remembered of a notice of a deposit or a withdrawal in one of these blocks; undefined for others. */
export function rememberNotice(notice: Notice, hashes: Hashes): LatestNotice | undefined {
  const { key, type, timestamp, place, data } = notice
  const kind = RequestKind.options.find((one) => type.startsWith(`${one}.`))
  if (!kind || !('blockNumber' in data)) return undefined
  const { blockNumber } = data
  const blockHash = hashes.get(blockNumber)
  return blockHash && { key, kind, blockNumber, blockHash, timestamp, place }
}

/** The hashes of blocks that are not final, by their numbers. */
export type Hashes = ReadonlyMap<number, Hash>

/** The notice that what was told of a block that was not final is not so. */
export function buildRevertedNotice(
  { chainId, address }: VaultKey,
  { key, kind, timestamp }: Pick<LatestNotice, 'key' | 'kind' | 'timestamp'>,
): Notice {
  const data = { chainId, vaultAddress: address, eventId: key }
  return { type: `${kind}.reverted`, key: `${key}#reverted`, timestamp, final: false, data }
}

/** Notices that take others back, and then these, whatever their times. */
export function withReverted(reverted: readonly Notice[], notices: readonly Notice[]): Notice[] {
  const last = reverted.map(placeOf).toSorted().at(-1)
  const isEarly = (notice: Notice) => last !== undefined && placeOf(notice) < last
  const placed = notices.map((notice) =>
    isEarly(notice) ? { ...notice, place: `${last}#${placeOf(notice)}` } : notice,
  )
  return [...reverted, ...placed]
}
