import { buildLocationKey } from '../activity/ledger-entry.ts'
import { type BlockHeader, toBlockFields } from '../chain/logs.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'

/** The notice of a vault that is not what was pinned at a moment, as was seen at a block. */
export function buildChangedNotice(vault: VaultKey, pinnedAt: Date, seenAt: BlockHeader): Notice {
  const key = `${keyAt(vault, seenAt)}#changed#${vault.address}#${pinnedAt.getTime()}`
  return { type: 'vault.changed', key, final: true, ...whatIsSeen(vault, seenAt) }
}

/** The notice of a vault that is paused since a block; `isFinal` once that is final. */
export function buildPausedNotice(vault: VaultKey, since: BlockHeader, isFinal: boolean): Notice {
  const key = `${keyAt(vault, since)}#paused#${vault.address}${isFinal ? '' : '#latest'}`
  return { type: 'vault.paused', key, final: isFinal, ...whatIsSeen(vault, since) }
}

/** The notice that a vault was not paused for long enough for that to become final. */
export function buildLiftedNotice(vault: VaultKey, since: BlockHeader): Notice {
  const { key, timestamp, data } = buildPausedNotice(vault, since, false)
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

function whatIsSeen({ chainId, address }: VaultKey, block: BlockHeader) {
  const { blockNumber, timestamp } = toBlockFields(block)
  return { timestamp, data: { chainId, vaultAddress: address, blockNumber } }
}
