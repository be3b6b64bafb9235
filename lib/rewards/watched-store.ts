import type { Address } from 'viem'
import * as z from 'zod'
import { type Change, exists, set, setOnce } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { Address as AddressText, EpochSeconds } from '../codecs.ts'
import { DAY_MS } from '../time.ts'

/** An account on a chain whose rewards a client's user asked for; times in epoch milliseconds. */
export const Watched = z.object({
  chainId: z.number(),
  account: AddressText,
  clientId: z.string(),
  seenAt: z.number(),
  /** Keys of the index: the negative chain id, because positive ones hold transfers, and the time of the next check. */
  followedOnChain: z.number(),
  lookAt: z.number(),
  expiresAt: EpochSeconds,
})
export type Watched = z.output<typeof Watched>

/** Names an account that a client watches. */
export type WatchedKey = Pick<Watched, 'chainId' | 'account' | 'clientId'>

/** The last block of which claims are reported. */
export const ClaimsCursor = z.object({ through: z.number() })

const INDEX = { name: 'followedTransfers', partitionKey: 'followedOnChain', sortKey: 'lookAt' } as const

/** Milliseconds for which an account stays watched after the last request. DynamoDB deletes it some hours later. */
const WATCHED_MS = 7 * DAY_MS

/** The accounts that clients watch, and how far each chain's claims are reported. Methods throw when the table cannot be reached. */
export function watchedStore(table: Table) {
  return {
    /** Watches accounts from now on (epoch milliseconds). Writes those that the client did not ask for in the last 24 hours. */
    async watch(keys: readonly WatchedKey[], now: number): Promise<void> {
      const known = await table.getMany(Watched, keys.map(itemKey), { isConsistent: false })
      const isRecent = ({ chainId, account }: WatchedKey) =>
        known.some((one) => one.chainId === chainId && one.account === account && one.seenAt > now - DAY_MS)
      await Promise.all(
        keys.filter((key) => !isRecent(key)).map((key) => table.write(itemKey(key), changesOf(key, now))),
      )
    },

    /** The watched accounts of a chain in the order of their next checks, at most `limit`; read as one page that may lag. */
    async listNext(chainId: number, limit: number): Promise<Watched[]> {
      const range = { index: INDEX, partition: -chainId }
      return (await table.getPage(Watched, range, { limit, isConsistent: false })).items
    },

    /** The ids of the clients that watch an account. */
    async listClients(chainId: number, account: Address): Promise<string[]> {
      const partition = itemKey({ chainId, account, clientId: '' }).pk
      return (await table.list(Watched, { partition }, { isConsistent: false })).map(({ clientId }) => clientId)
    },

    /** Sets when an account is checked next, in epoch milliseconds, unless it is no longer watched. */
    async postpone(key: WatchedKey, lookAt: number): Promise<void> {
      await table.update(itemKey(key), { changes: [set('lookAt', lookAt)], when: exists('lookAt') })
    },

    /** The last block of which a chain's claims are reported; undefined if no account is watched. */
    getThrough: async (chainId: number): Promise<number | undefined> =>
      (await table.get(ClaimsCursor, cursorKey(chainId)))?.through,

    /** Sets that block. */
    async recordThrough(chainId: number, through: number): Promise<void> {
      await table.put(ClaimsCursor, cursorKey(chainId), { through })
    },

    /** Forgets that block: the next claims to report are those after a later one. */
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
