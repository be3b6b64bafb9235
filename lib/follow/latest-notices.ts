import type { Hash } from 'viem'
import type { LatestNotice } from '../activity/latest-notice.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { getEntryId, isEntryNotice, type Notice } from '../webhooks/event.ts'

/**
 * Converts a webhook event about a deposit or a withdrawal to its stored form. Returns undefined for other events, and
 * for blocks that `hashes` lacks.
 */
export function toLatestNotice(notice: Notice, hashes: BlockHashes, version: number): LatestNotice | undefined {
  if (!isEntryNotice(notice) || 'eventId' in notice.data) return undefined
  const { key, type, timestamp } = notice
  const { blockNumber, transactionHash, userAddress: account } = notice.data
  const kind = RequestKind.options.find((one) => type.startsWith(`${one}.`))
  const blockHash = hashes.get(blockNumber)
  if (!kind || !blockHash) return undefined
  const id = getEntryId(notice)
  return { key, kind, blockNumber, blockHash, transactionHash, timestamp, account, id, version }
}

/** Hashes of non-final blocks, by block number. */
export type BlockHashes = ReadonlyMap<number, Hash>

/** Builds the webhook event that reverts a published non-final event. It has the version of the reverted event. */
export function buildRevertedNotice(
  { chainId, address }: VaultKey,
  { key, kind, timestamp, account, id = null, version = 0 }: LatestNotice,
): Notice {
  const common = { key: `${key}#reverted`, timestamp, final: false }
  const data = { chainId, vaultAddress: address, eventId: key, userAddress: account ?? null, entry: null, version }
  return kind === 'deposit'
    ? { ...common, type: 'deposit.reverted', data: { ...data, depositId: id } }
    : { ...common, type: 'withdrawal.reverted', data: { ...data, withdrawalId: id } }
}
