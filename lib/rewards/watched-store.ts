import type { Address } from 'viem'
import * as z from 'zod'
import { type Change, exists, set, setOnce } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { Address as AddressText, EpochSeconds } from '../core/codecs.ts'
import { DAY_MS } from '../core/time.ts'

/**
 * Account on a chain whose rewards a client has requested, so the job refresh-rewards checks it for new rewards. Times
 * are in epoch milliseconds.
 */
export const WatchedAccount = z.object({
  chainId: z.number(),
  account: AddressText,
  clientId: z.string(),
  seenAt: z.number(),
  /** Partition key of the table index. The index also lists bridge transfers by their chain id, so the chain id is negative here. */
  followedOnChain: z.number(),
  lookAt: z.number(),
  expiresAt: EpochSeconds,
})
export type WatchedAccount = z.output<typeof WatchedAccount>

/** Key of an account that is watched for a client. */
export type WatchedAccountKey = Pick<WatchedAccount, 'chainId' | 'account' | 'clientId'>

/** Number of the last block whose reward claims were published to clients. */
export const ClaimsCursor = z.object({ through: z.number() })

const INDEX = { name: 'followedTransfers', partitionKey: 'followedOnChain', sortKey: 'lookAt' } as const

/** Milliseconds for which an account is watched after a client last requested its rewards. DynamoDB deletes the item some hours later. */
const WATCHED_MS = 7 * DAY_MS

/**
 * Creates the store of watched accounts, and of the last block of each chain whose reward claims were published.
 * Methods throw if the table cannot be reached.
 */
export function watchedStore(table: Table) {
  return {
    /**
     * Watches these accounts from the time `now` (epoch milliseconds) on. Writes only accounts that were not recorded
     * for the client within the last 24 hours, which saves writes.
     */
    async watch(keys: readonly WatchedAccountKey[], now: number): Promise<void> {
      const known = await table.getMany(WatchedAccount, keys.map(itemKey), { isConsistent: false })
      const unseen = keys.filter((_, index) => (known[index]?.seenAt ?? 0) <= now - DAY_MS)
      await Promise.all(unseen.map((key) => table.write(itemKey(key), changesOf(key, now))))
    },

    /**
     * Lists the watched accounts of a chain in the order in which they are due. Reads one page of at most `limit`
     * accounts, which may lack changes of the last second.
     */
    async listNext(chainId: number, limit: number): Promise<WatchedAccount[]> {
      const range = { index: INDEX, partition: -chainId }
      return (await table.getPage(WatchedAccount, range, { limit, isConsistent: false })).items
    },

    async listClients(chainId: number, account: Address): Promise<string[]> {
      const partition = itemKey({ chainId, account, clientId: '' }).pk
      return (await table.list(WatchedAccount, { partition }, { isConsistent: false })).map(({ clientId }) => clientId)
    },

    /** Sets the time in epoch milliseconds at which an account is checked next. Does nothing if the account is no longer watched. */
    async postpone(key: WatchedAccountKey, lookAt: number): Promise<void> {
      await table.update(itemKey(key), { changes: [set('lookAt', lookAt)], when: exists('lookAt') })
    },

    /**
     * Returns the number of the last block whose reward claims on this chain were published. Returns undefined if no
     * account on the chain is watched.
     */
    getThrough: async (chainId: number): Promise<number | undefined> =>
      (await table.get(ClaimsCursor, cursorKey(chainId)))?.through,

    async recordThrough(chainId: number, through: number): Promise<void> {
      await table.put(ClaimsCursor, cursorKey(chainId), { through })
    },

    /**
     * Deletes the number of the last block whose reward claims were published. After an account is watched again,
     * publishing starts after the block that is then the newest final one.
     */
    async forgetThrough(chainId: number): Promise<void> {
      await table.delete(cursorKey(chainId))
    },
  }
}

function changesOf({ chainId, account, clientId }: WatchedAccountKey, now: number): Change[] {
  return [
    ...[set('chainId', chainId), set('account', account), set('clientId', clientId), set('seenAt', now)],
    ...[set('followedOnChain', -chainId), setOnce('lookAt', now)],
    set('expiresAt', EpochSeconds.encode(new Date(now + WATCHED_MS))),
  ]
}

function itemKey({ chainId, account, clientId }: WatchedAccountKey) {
  return { pk: `WATCHED#${chainId}#${account}`, sk: clientId }
}

function cursorKey(chainId: number) {
  return { pk: `CLAIMS#${chainId}`, sk: 'CURSOR' }
}
