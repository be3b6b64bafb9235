import { getAddress, type Hash } from 'viem'
import * as z from 'zod'
import { all, exists, is, missing, remove, set } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { Timestamp } from '../codecs.ts'
import { type RecordedTransfer, Sent, Transfer, type TransferKey } from './transfer.ts'

const Item = z.object({
  transfer: Transfer,
  /** Keys of the index, of transfers that the job follows only: when it reads the transfer next, in epoch milliseconds. */
  followedOnChain: z.number().optional(),
  lookAt: z.number().optional(),
})
const KeyedItem = Item.extend({ pk: z.string(), sk: z.string() }).transform(
  ({ pk, sk, transfer }): RecordedTransfer => {
    const [, chainId, depositor = ''] = pk.split('#')
    // The keys are those of `itemKey`.
    const key = { sourceChainId: Number(chainId), depositor: getAddress(depositor), relayHash: sk as Hash }
    return { key, recorded: transfer }
  },
)
const SentItem = z.object({ sent: Sent })

const FOLLOWED = { name: 'followedTransfers', partitionKey: 'followedOnChain', sortKey: 'lookAt' } as const

/** A hash on its chain. */
type HashKey = { readonly sourceChainId: number; readonly hash: Hash }

/** The table of transfers, and of the hashes by which they are found. */
export function transfersStore(table: Table) {
  return {
    /** The recorded transfers of these keys, in their order; read consistently, so that no status goes back. */
    async getMany(keys: readonly TransferKey[]): Promise<RecordedTransfer[]> {
      if (keys.length === 0) return []
      const found = await table.getMany(KeyedItem, keys.map(itemKey))
      return keys.flatMap(({ relayHash }) => found.find(({ key }) => key.relayHash === relayHash) ?? [])
    },

    /** The record of a hash, undefined if there is none. */
    getSent: async (key: HashKey): Promise<Sent | undefined> => (await table.get(SentItem, sentKey(key)))?.sent,

    /** Records what was seen of a hash. */
    async recordSent(key: HashKey, sent: Sent): Promise<void> {
      await table.put(SentItem, sentKey(key), { sent })
    },

    /** Deletes what was seen of a hash. */
    async forgetSent(key: HashKey): Promise<void> {
      await table.delete(sentKey(key))
    },

    /**
     * The recorded transfers that started on this chain and are due by now (epoch milliseconds), those that have waited longest
     * first; at most `limit`, read as one page.
     */
    async listDue(sourceChainId: number, now: number, limit: number): Promise<RecordedTransfer[]> {
      const range = { index: FOLLOWED, partition: sourceChainId, to: now }
      const { items } = await table.getPage(KeyedItem, range, { limit, isConsistent: false })
      return items
    },

    /**
     * Records a transfer; false when its final outcome is recorded already, its earlier record is not the one that was read, or it
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

    /** Deletes the record of a transfer, its final outcome too. */
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

function dueAt(lookAt: Date) {
  return [set('lookAt', lookAt.getTime()), set(['transfer', 'lookAt'], Timestamp.encode(lookAt))]
}
