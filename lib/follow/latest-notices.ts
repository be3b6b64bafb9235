import type { Hash } from 'viem'
import type { LatestNotice } from '../activity/latest-notice.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { type Notice, placeOf } from '../webhooks/event.ts'

/** Builds the form to keep of a notice about a deposit or a withdrawal in one of these blocks; undefined for others. */
export function rememberNotice(notice: Notice, hashes: Hashes): LatestNotice | undefined {
  const { key, type, timestamp, place, data } = notice
  const kind = RequestKind.options.find((one) => type.startsWith(`${one}.`))
  if (!kind || !('blockNumber' in data)) return undefined
  const { blockNumber } = data
  const blockHash = hashes.get(blockNumber)
  const transactionHash = 'transactionHash' in data ? data.transactionHash : null
  return blockHash && { key, kind, blockNumber, blockHash, transactionHash, timestamp, place }
}

/** The hashes of blocks that are not final, by their numbers. */
export type Hashes = ReadonlyMap<number, Hash>

/** Builds the notice that reverts a non-final one. */
export function buildRevertedNotice(
  { chainId, address }: VaultKey,
  { key, kind, timestamp }: Pick<LatestNotice, 'key' | 'kind' | 'timestamp'>,
): Notice {
  const data = { chainId, vaultAddress: address, eventId: key }
  return { type: `${kind}.reverted`, key: `${key}#reverted`, timestamp, final: false, data }
}

/** Puts notices that revert others before all other notices, whatever their times. */
export function withReverted(reverted: readonly Notice[], notices: readonly Notice[]): Notice[] {
  const last = reverted.map(placeOf).toSorted().at(-1)
  const isEarly = (notice: Notice) => last !== undefined && placeOf(notice) < last
  const placed = notices.map((notice) =>
    isEarly(notice) ? { ...notice, place: `${last}#${placeOf(notice)}` } : notice,
  )
  return [...reverted, ...placed]
}
