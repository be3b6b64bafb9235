import { buildEndingKey, buildTransferKey, endingType } from '../bridge/endings.ts'
import { parseMessage, parseOwnTransfer } from '../bridge/events.ts'
import type { RecordedTransfer, Transfer } from '../bridge/transfer.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'

/**
 * The notices of how a transfer of a vault has ended: of its final status, or of one that is not final, and of those before
 * that are not so. None where nobody follows it to its end.
 */
export function buildTransferNotices(vault: VaultKey, { key, recorded }: RecordedTransfer): Notice[] {
  const { final, latest, evidence = [] } = recorded
  const endings = latest?.endings ?? []
  const last = final ?? endings.at(-1)
  if (!last) return []
  const { initiated, bridged, completed } = last.timestamps
  const seen = evidence.map(({ timestamp }) => timestamp).toSorted((left, right) => right.getTime() - left.getTime())
  const timestamp = completed ?? bridged ?? seen[0] ?? initiated
  const type = endingType(last)
  const where = { chainId: vault.chainId, vaultAddress: vault.address }
  const told: Notice[] =
    type && timestamp
      ? [
          {
            type,
            key: last.final ? buildTransferKey(key) : buildEndingKey(key, last),
            timestamp,
            final: last.final,
            data: { ...where, userAddress: findUser(recorded), ...last },
          },
        ]
      : []
  const reverted = endings.flatMap((ending): Notice[] => {
    const eventId = buildEndingKey(key, ending)
    const { bridged: endedAt } = ending.timestamps
    if (!endedAt || eventId === buildEndingKey(key, last)) return []
    const told = { type: 'transfer.reverted', key: `${eventId}#reverted`, timestamp: endedAt, final: false } as const
    return [{ ...told, data: { ...where, eventId } }]
  })
  return [...reverted, ...told]
}

/** Whose it is: who receives the shares that it is sent for, or who sends what a vault paid to their own address. */
function findUser({ source }: Transfer) {
  if (!source) return null
  return parseMessage(source.deposit)?.deposit?.account ?? parseOwnTransfer(source.deposit)?.account ?? null
}
