import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import type { RecordedTransfer, TransferStatus } from './transfer.ts'

/** The notice of how a transfer of a vault has ended; undefined where nobody follows it to its end. */
export function buildTransferNotice(
  { chainId, address }: VaultKey,
  { key, recorded: { final: status, evidence = [] } }: RecordedTransfer,
): Notice | undefined {
  const type = status && typeOf(status)
  if (!status || !type) return undefined
  const { initiated, bridged, completed } = status.timestamps
  const seen = evidence.map(({ timestamp }) => timestamp).toSorted((left, right) => right.getTime() - left.getTime())
  const timestamp = completed ?? bridged ?? seen[0] ?? initiated
  if (!timestamp) return undefined
  return {
    type,
    key: ['transfer', key.sourceChainId, key.transactionHash, key.index].join('#'),
    timestamp,
    final: true,
    data: { chainId, vaultAddress: address, ...status },
  }
}

function typeOf({ status, reason }: TransferStatus) {
  if (status === 'completed') return 'transfer.completed'
  if (status !== 'failed') return undefined
  return reason === 'refunded' ? 'transfer.refunded' : 'transfer.failed'
}
