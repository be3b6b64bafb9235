import type { Address } from 'viem'
import * as z from 'zod'
import { type Change, exists, set, setOnce } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { Address as AddressText, EpochSeconds } from '../core/codecs.ts'
import { DAY_MS } from '../core/time.ts'

/** Account on a chain that the service watches for new rewards, because a client requested its rewards. Times are in epoch milliseconds. */
export const WatchedAccount = z.object({
  chainId: z.number(),
  account: AddressText,
  clientId: z.string(),
  seenAt: z.number(),
  /**
   * Keys of the table index, which also lists transfers by their chain id. So the chain id is negative here. `lookAt` is the time of the
   * next check.
   */
  followedOnChain: z.number(),
  lookAt: z.number(),
  expiresAt: EpochSeconds,
})
export type WatchedAccount = z.output<typeof WatchedAccount>

/** Key of an account that the service watches for a client. */
export type WatchedKey = Pick<WatchedAccount, 'chainId' | 'account' | 'clientId'>

/** Last block up to which clients were notified of paid claims. */
export const ClaimsCursor = z.object({ through: z.number() })

const INDEX = { name: 'followedTransfers', partitionKey: 'followedOnChain', sortKey: 'lookAt' } as const

/** Milliseconds for which an account is watched after the last recorded request. DynamoDB deletes its item some hours later. */
const WATCHED_MS = 7 * DAY_MS

/**
 * Creates the store of watched accounts, and of the last block up to which each chain's claims were reported. Its methods throw if the
 * table fails.
 */
export function watchedStore(table: Table) {
  return {
    /**
     * Watches accounts from the time `now` on, in epoch milliseconds. Writes only accounts that were not recorded for the client in the
     * last 24 hours.
     */
    async watch(keys: readonly WatchedKey[], now: number): Promise<void> {
      const known = await table.getMany(WatchedAccount, keys.map(itemKey), { isConsistent: false })
      const isRecent = ({ chainId, account }: WatchedKey) =>
        known.some((one) => one.chainId === chainId && one.account === account && one.seenAt > now - DAY_MS)
      await Promise.all(
        keys.filter((key) => !isRecent(key)).map((key) => table.write(itemKey(key), changesOf(key, now))),
      )
    },

    /**
     * Lists the watched accounts of a chain in the order of their next checks. Reads one page of at most `limit`, which may lack the latest
     * changes.
     */
    async listNext(chainId: number, limit: number): Promise<WatchedAccount[]> {
      const range = { index: INDEX, partition: -chainId }
      return (await table.getPage(WatchedAccount, range, { limit, isConsistent: false })).items
    },

    async listClients(chainId: number, account: Address): Promise<string[]> {
      const partition = itemKey({ chainId, account, clientId: '' }).pk
      return (await table.list(WatchedAccount, { partition }, { isConsistent: false })).map(({ clientId }) => clientId)
    },

    /** Sets the time of an account's next check, in epoch milliseconds, unless the account is no longer watched. */
    async postpone(key: WatchedKey, lookAt: number): Promise<void> {
      await table.update(itemKey(key), { changes: [set('lookAt', lookAt)], when: exists('lookAt') })
    },

    /** Returns the last block up to which claims on a chain were reported; undefined if no account there is watched. */
    getThrough: async (chainId: number): Promise<number | undefined> =>
      (await table.get(ClaimsCursor, cursorKey(chainId)))?.through,

    async recordThrough(chainId: number, through: number): Promise<void> {
      await table.put(ClaimsCursor, cursorKey(chainId), { through })
    },

    /** Deletes the last block up to which claims were reported. Later, reporting starts again at a newer block. */
    async forgetThrough(chainId: number): Promise<void> {
      await table.delete(cursorKey(chainId))
    },
  }
}

function changesOf({ chainId, account, clientId }: WatchedKey, now: number): Change[] {
  return [
    ...[set('chainId', chainId), set('account', account), set('clientId', clientId), set('seenAt', now)],
    ...[set('followedOnChain', -chainId), setOnce('lookAt', now)],
    set('expiresAt', EpochSeconds.encode(new Date(now + WATCHED_MS))),
  ]
}

function itemKey({ chainId, account, clientId }: WatchedKey) {
  return { pk: `WATCHED#${chainId}#${account}`, sk: clientId }
}

function cursorKey(chainId: number) {
  return { pk: `CLAIMS#${chainId}`, sk: 'CURSOR' }
}
