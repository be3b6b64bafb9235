import { buildLocationKey } from '../activity/ledger-entry.ts'
import { type BlockHeader, toBlockFields } from '../chain/logs.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'

/**
 * Builds the webhook event for a vault that no longer matches the code and price confirmed at `pinnedAt`. `seenAt` is
 * the block of the comparison.
 */
export function buildChangedNotice(vault: VaultKey, pinnedAt: Date, seenAt: BlockHeader): Notice {
  const key = `${keyAt(vault, seenAt)}#changed#${vault.address}#${pinnedAt.getTime()}`
  return { type: 'vault.changed', key, final: true, ...buildData(vault, seenAt) }
}

type PauseType = 'vault.paused' | 'vault.resumed'

/** Builds the webhook event for a vault that was paused or resumed at the block `since`; `isFinal` is true once that block is final. */
export function buildPauseNotice(vault: VaultKey, type: PauseType, since: BlockHeader, isFinal: boolean) {
  const what = type === 'vault.paused' ? 'paused' : 'resumed'
  const key = `${keyAt(vault, since)}#${what}#${vault.address}${isFinal ? '' : '#latest'}`
  return { type, key, final: isFinal, ...buildData(vault, since) } satisfies Notice
}

/** Builds the webhook event that reverts a pause, or a resumption, that did not become final. */
export function buildPauseRevertedNotice(vault: VaultKey, type: PauseType, since: BlockHeader): Notice {
  const { key, timestamp, data } = buildPauseNotice(vault, type, since, false)
  const { chainId, vaultAddress } = data
  return {
    type: 'vault.reverted',
    key: `${key}#reverted`,
    final: false,
    timestamp,
    data: { chainId, vaultAddress, eventId: key },
  }
}

function keyAt({ chainId }: VaultKey, block: BlockHeader): string {
  return buildLocationKey({ chainId, logIndex: 0, ...toBlockFields(block) })
}

function buildData({ chainId, address }: VaultKey, block: BlockHeader) {
  const { blockNumber, timestamp } = toBlockFields(block)
  return { timestamp, data: { chainId, vaultAddress: address, blockNumber } }
}
