import { getAddress, type Hash } from 'viem'
import * as z from 'zod'
import { all, exists, is, missing, remove, set } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { Timestamp } from '../core/codecs.ts'
import { type RecordedTransfer, SourceHashRecord, Transfer, type TransferKey } from './transfer.ts'

const Item = z.object({
  transfer: Transfer,
  /**
   * Source chain of a transfer that the job refresh-chain must read again. `lookAt` is the time of that read in epoch
   * milliseconds. Both are keys of a table index, and absent for other transfers.
   */
  followedOnChain: z.number().optional(),
  lookAt: z.number().optional(),
})
const KeyedItem = Item.extend({ pk: z.string(), sk: z.string() }).transform(
  ({ pk, sk, transfer }): RecordedTransfer => {
    const [, chainId, depositor = ''] = pk.split('#')
    // The cast holds: `itemKey` writes the relay hash as the sort key.
    const key = { sourceChainId: Number(chainId), depositor: getAddress(depositor), relayHash: sk as Hash }
    return { key, recorded: transfer }
  },
)
const SentItem = z.object({ sent: SourceHashRecord })

const FOLLOWED = { name: 'followedTransfers', partitionKey: 'followedOnChain', sortKey: 'lookAt' } as const

type HashKey = { readonly sourceChainId: number; readonly hash: Hash }

/** Creates the store of transfers, and of the transaction hashes that lead to transfers. */
export function transfersStore(table: Table) {
  return {
    /**
     * Returns the stored transfers with these keys, in the same order. Reads consistently, so that a status never
     * returns to an earlier one.
     */
    async getMany(keys: readonly TransferKey[]): Promise<RecordedTransfer[]> {
      const found = await table.getMany(KeyedItem, keys.map(itemKey))
      return found.filter((one) => one !== undefined)
    },

    getSent: async (key: HashKey): Promise<SourceHashRecord | undefined> =>
      (await table.get(SentItem, sentKey(key)))?.sent,

    async recordSent(key: HashKey, sent: SourceHashRecord): Promise<void> {
      await table.put(SentItem, sentKey(key), { sent })
    },

    async forgetSent(key: HashKey): Promise<void> {
      await table.delete(sentKey(key))
    },

    /**
     * Lists stored transfers from this chain whose next read is due at `now` (epoch milliseconds), longest due first.
     * Reads one page of at most `limit` transfers.
     */
    async listDue(sourceChainId: number, now: number, limit: number): Promise<RecordedTransfer[]> {
      const range = { index: FOLLOWED, partition: sourceChainId, to: now }
      const { items } = await table.getPage(KeyedItem, range, { limit, isConsistent: false })
      return items
    },

    /**
     * Stores a transfer. Returns false, without a change, if the stored transfer has changed since it was read. Only a
     * final outcome, other endings and a first `lookAt` count as changes.
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

    /**
     * Schedules the job refresh-chain to read a stored transfer from the time `lookAt` on. Returns false if such a read
     * is already scheduled.
     */
    follow(key: TransferKey, lookAt: Date): Promise<boolean> {
      return table.update(itemKey(key), {
        changes: [set('followedOnChain', key.sourceChainId), ...buildDueChanges(lookAt)],
        when: all(exists('transfer'), missing('lookAt')),
      })
    },

    /**
     * Sets the time of a transfer's next read by the job refresh-chain; undefined ends these reads. Returns false,
     * without a change, if they have ended.
     */
    postpone(key: TransferKey, lookAt: Date | undefined): Promise<boolean> {
      return table.update(itemKey(key), {
        changes: lookAt
          ? buildDueChanges(lookAt)
          : [remove('followedOnChain'), remove('lookAt'), remove(['transfer', 'lookAt'])],
        when: exists('lookAt'),
      })
    },

    /** Deletes the record of a transfer, even one with a final outcome. */
    async forget(key: TransferKey): Promise<void> {
      await table.delete(itemKey(key))
    },
  }
}
export type TransfersStore = ReturnType<typeof transfersStore>

function itemKey({ sourceChainId, depositor, relayHash }: TransferKey) {
  return { pk: `TRANSFER#${sourceChainId}#${depositor}`, sk: relayHash }
}

function sentKey({ sourceChainId, hash }: HashKey) {
  return { pk: `SENT#${sourceChainId}#${hash}`, sk: 'SENT' }
}

function buildDueChanges(lookAt: Date) {
  return [set('lookAt', lookAt.getTime()), set(['transfer', 'lookAt'], Timestamp.encode(lookAt))]
}
