import type { Transfer, TransferKey, TransferStatus } from './transfer.ts'

/** Endings that are remembered between two runs of the job, of which a reorganisation replaces one by another. */
const MOST_ENDINGS = 5

/**
 * Adds the ending of a status that is not final, if it differs from the last one. Returns the same if the transfer has not ended. A
 * transfer without a fill ends by final blocks only.
 */
export function noteEnding(key: TransferKey, latest: Transfer['latest'], status: TransferStatus): Transfer['latest'] {
  const { endings = [], version = 0, ...others } = latest ?? {}
  const last = endings.at(-1)
  if (status.final || !status.timestamps.bridged || !endingType(status)) return latest
  if (last && buildEndingKey(key, last) === buildEndingKey(key, status)) return latest
  // A killed run may have published any of these, so all are kept. Beyond the limit, endings are reported once final.
  if (endings.length === MOST_ENDINGS) return latest
  return { ...others, endings: [...endings, status], isPublished: false, version: version + 1 }
}

/** Keeps the last ending only, once it is reported to clients. */
export function notePublished({ endings, version, ...others }: NonNullable<Transfer['latest']>): Transfer['latest'] {
  return { ...others, endings: endings.slice(-1), isPublished: true, version: version + 1 }
}

/** True if a transfer has an ending, final or not, that is not reported to clients. */
export function isNews({ final, latest }: Transfer): boolean {
  return final !== undefined || latest?.isPublished === false
}

/** The key of a transfer, for its final notice. */
export function buildTransferKey({ sourceChainId, transactionHash, index }: TransferKey): string {
  return ['transfer', sourceChainId, transactionHash, index].join('#')
}

/** The key of an ending by what it says and by the block of its fill, which another one has after a reorganisation. */
export function buildEndingKey(key: TransferKey, status: TransferStatus): string {
  const { timestamps, transactions, outputAmount } = status
  const fill = [timestamps.bridged?.getTime(), transactions.fill, outputAmount]
  return [buildTransferKey(key), endingType(status), ...fill].join('#')
}

/** The event type of an ending; undefined for a status that is none. */
export function endingType({ status, reason }: TransferStatus) {
  if (status === 'completed') return 'transfer.completed'
  if (status !== 'failed') return undefined
  return reason === 'refunded' ? 'transfer.refunded' : 'transfer.failed'
}
