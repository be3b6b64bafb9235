import * as z from 'zod'
import { all, exists, is, missing, remove, set } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { Timestamp, TransactionHash } from '../codecs.ts'
import { type RecordedTransfer, Transfer, type TransferKey } from './transfer.ts'

const Item = z.object({
  transfer: Transfer,
  /** Keys of the index, of transfers that the job follows only: when it looks at the transfer next, in epoch milliseconds. */
  followedOnChain: z.number().optional(),
  lookAt: z.number().optional(),
})
const FollowedItem = Item.extend({ pk: z.string(), sk: z.string() }).transform(
  ({ pk, sk, transfer }): RecordedTransfer => {
    const [, chainId, hash] = pk.split('#')
    const [, index] = sk.split('#')
    const transactionHash = TransactionHash.parse(hash)
    return { key: { sourceChainId: Number(chainId), transactionHash, index: Number(index) }, recorded: transfer }
  },
)

const FOLLOWED = { name: 'followedTransfers', partitionKey: 'followedOnChain', sortKey: 'lookAt' } as const

/** The table of transfers that somebody asked about. */
export function transfersStore(table: Table) {
  return {
    /** The record of a transfer, undefined where there is none; read consistently, so that no status goes back. */
    get: async (key: TransferKey): Promise<Transfer | undefined> => (await table.get(Item, itemKey(key)))?.transfer,

    /**
     * The recorded transfers that started on this chain and are due by now (epoch milliseconds), those that have waited longest
     * first; at most `limit`, read as one page.
     */
    async listDue(sourceChainId: number, now: number, limit: number): Promise<RecordedTransfer[]> {
      const range = { index: FOLLOWED, partition: sourceChainId, to: now }
      const { items } = await table.getPage(FollowedItem, range, { limit, isConsistent: false })
      return items
    },

    /**
     * Records a transfer; false when its final status is recorded already, its earlier record is not the one that was read, or it
     * is followed since.
     */
    record(
      key: TransferKey,
      transfer: Transfer,
      { latest, lookAt }: Pick<Transfer, 'latest' | 'lookAt'> = {},
    ): Promise<boolean> {
      const followed = transfer.lookAt && { followedOnChain: key.sourceChainId, lookAt: transfer.lookAt.getTime() }
      const when = all(
        missing(['transfer', 'final']),
        latest ? is(['transfer', 'latest', 'version'], '=', latest.version) : missing(['transfer', 'latest']),
        ...(transfer.lookAt || lookAt ? [] : [missing('lookAt')]),
      )
      return table.put(Item, itemKey(key), { transfer, ...followed }, when)
    },

    /** Has the job follow a recorded transfer from then on; false for one that it follows already. */
    follow(key: TransferKey, lookAt: Date): Promise<boolean> {
      return table.update(itemKey(key), {
        changes: [set('followedOnChain', key.sourceChainId), ...dueAt(lookAt)],
        when: all(exists('transfer'), missing('lookAt')),
      })
    },

    /** Sets when a transfer is due next, undefined for never; false for one that is no longer followed, which stays. */
    postpone(key: TransferKey, lookAt: Date | undefined): Promise<boolean> {
      return table.update(itemKey(key), {
        changes: lookAt ? dueAt(lookAt) : [remove('followedOnChain'), remove('lookAt'), remove(['transfer', 'lookAt'])],
        when: exists('lookAt'),
      })
    },

    /** Deletes the record of a transfer, its final status too. */
    async forget(key: TransferKey): Promise<void> {
      await table.delete(itemKey(key))
    },
  }
}
export type TransfersStore = ReturnType<typeof transfersStore>

function itemKey({ sourceChainId, transactionHash, index }: TransferKey) {
  return { pk: `TRANSFER#${sourceChainId}#${transactionHash}`, sk: `DEPOSIT#${index}` }
}

function dueAt(lookAt: Date) {
  return [set('lookAt', lookAt.getTime()), set(['transfer', 'lookAt'], Timestamp.encode(lookAt))]
}
