import {
  buildEndingEventKey,
  buildFinalEventKey,
  describeTransfer,
  getTarget,
  nameTransferEventType,
} from '../bridge/timeline.ts'
import type { RecordedTransfer } from '../bridge/transfer.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'

/**
 * Builds the webhook events for the outcome of a cross-chain transfer, final or not. Events that revert replaced
 * outcomes come first. Returns an empty list while the transfer has no outcome.
 */
export function buildTransferNotices(vault: VaultKey, { key, recorded }: RecordedTransfer): Notice[] {
  const { deposit, events, final, latest, finalEvidence = [] } = recorded
  const endings = latest?.endings ?? []
  const last = final ? { outcome: final, events } : endings.at(-1)
  if (!last) return []
  const status = describeTransfer({ ...recorded, events: last.events }, last.outcome, final !== undefined)
  const { initiated, bridged, completed } = status.timestamps
  const read = finalEvidence.map(({ timestamp }) => timestamp).toSorted((one, other) => other.getTime() - one.getTime())
  const timestamp = completed ?? bridged ?? read[0] ?? initiated
  const type = nameTransferEventType(status)
  const where = { chainId: vault.chainId, vaultAddress: vault.address }
  const userAddress = getTarget(recorded)?.account ?? status.depositor
  const current: Notice[] =
    type && timestamp
      ? [
          {
            type,
            key: final ? buildFinalEventKey(key) : buildEndingEventKey(key, { deposit, ...last }),
            ...{ timestamp, final: status.final },
            data: { ...status, ...where, userAddress },
          },
        ]
      : []
  const reverted = endings.flatMap((ending): Notice[] => {
    const eventId = buildEndingEventKey(key, { deposit, ...ending })
    const endedAt = ending.events.find(({ kind }) => kind === 'filled')?.at
    if (!endedAt || eventId === buildEndingEventKey(key, { deposit, ...last })) return []
    const common = { type: 'transfer.reverted', key: `${eventId}#reverted`, timestamp: endedAt, final: false } as const
    return [{ ...common, data: { ...where, eventId } }]
  })
  return [...reverted, ...current]
}
