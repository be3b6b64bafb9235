import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import { parseMessage, parseOwnTransfer } from './events.ts'
import type { RecordedTransfer, Transfer, TransferKey, TransferStatus } from './transfer.ts'

/** Endings that are remembered between two runs of the job, of which a reorganisation replaces one by another. */
const MOST_ENDINGS = 5

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
  const type = typeOf(last)
  const where = { chainId: vault.chainId, vaultAddress: vault.address }
  const told: Notice[] =
    type && timestamp
      ? [
          {
            type,
            key: last.final ? buildKey(key) : buildEndingKey(key, last),
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

/**
 * What is kept of how a transfer has ended by blocks that are not final, now that it has this status: it has another one to
 * be told where it has ended otherwise than was seen before, and the same where it has not ended. A transfer that ends
 * without a fill ends by final blocks alone.
 */
export function noteEnding(key: TransferKey, latest: Transfer['latest'], status: TransferStatus): Transfer['latest'] {
  const { endings = [], version = 0, ...others } = latest ?? {}
  const last = endings.at(-1)
  if (status.final || !status.timestamps.bridged || !typeOf(status)) return latest
  if (last && buildEndingKey(key, last) === buildEndingKey(key, status)) return latest
  // Each of them may have been published by a run that was killed: none is forgotten, and what is more is told once it is final.
  if (endings.length === MOST_ENDINGS) return latest
  return { ...others, endings: [...endings, status], isPublished: false, version: version + 1 }
}

/** What is kept of the same once clients are told. */
export function notePublished({ endings, version, ...others }: NonNullable<Transfer['latest']>): Transfer['latest'] {
  return { ...others, endings: endings.slice(-1), isPublished: true, version: version + 1 }
}

/** Whether there is something of a transfer of which clients are not told: how it has ended, for good or not. */
export function isNews({ final, latest }: Transfer): boolean {
  return final !== undefined || latest?.isPublished === false
}

function buildKey({ sourceChainId, transactionHash, index }: TransferKey): string {
  return ['transfer', sourceChainId, transactionHash, index].join('#')
}

/** The key of an ending by what it says and by the block of its fill, which another one has after a reorganisation. */
function buildEndingKey(key: TransferKey, status: TransferStatus): string {
  const { timestamps, transactions, outputAmount } = status
  const fill = [timestamps.bridged?.getTime(), transactions.fill, outputAmount]
  return [buildKey(key), typeOf(status), ...fill].join('#')
}

/** Whose it is: who receives the shares that it is sent for, or who sends what a vault paid to their own address. */
function findUser({ source }: Transfer) {
  if (!source) return null
  return parseMessage(source.deposit)?.deposit?.account ?? parseOwnTransfer(source.deposit)?.account ?? null
}

function typeOf({ status, reason }: TransferStatus) {
  if (status === 'completed') return 'transfer.completed'
  if (status !== 'failed') return undefined
  return reason === 'refunded' ? 'transfer.refunded' : 'transfer.failed'
}
