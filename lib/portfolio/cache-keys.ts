import * as z from 'zod'
import type { Session } from '../accounts/session.ts'
import type { CacheKey, Namespace } from '../cache/cache.ts'
import { Amount } from '../codecs.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'
import { Holding } from './balance.ts'
import { IndexedToken } from './goldrush.ts'
import { OwnedNfts } from './nft.ts'

/** What these wallets held on a chain when it could be read. */
export const CachedBalances = z.object({ wallets: z.array(z.string()), holdings: z.array(Holding) })
export type CachedBalances = z.output<typeof CachedBalances>

const BALANCES: Namespace<CachedBalances> = {
  name: 'balances',
  schema: CachedBalances,
  // The user always gets what is on the chain; after so long the same balances are written again.
  freshSeconds: HOUR,
  keepSeconds: 7 * DAY,
}
const UNLISTED: Namespace<IndexedToken[]> = {
  name: 'unlisted',
  schema: z.array(IndexedToken),
  freshSeconds: 10 * MINUTE,
  keepSeconds: DAY,
}
const NFTS: Namespace<OwnedNfts> = { name: 'nfts', schema: OwnedNfts, freshSeconds: 10 * MINUTE, keepSeconds: DAY }

/** The last good balances of a client's user on the chain with this key. */
export function balancesKey(chainKey: string, { clientId, user }: Session): CacheKey<CachedBalances> {
  return { namespace: BALANCES, key: `${chainKey}#${clientId}#${user.id}` }
}

/** The tokens that GoldRush knows of a wallet on the chain with this key. */
export function unlistedKey(chainKey: string, wallet: string): CacheKey<IndexedToken[]> {
  return { namespace: UNLISTED, key: `${chainKey}#${wallet}` }
}

/** The NFTs of a wallet on the chain with this key. */
export function nftsKey(chainKey: string, wallet: string): CacheKey<OwnedNfts> {
  return { namespace: NFTS, key: `${chainKey}#${wallet}` }
}

/** What must stay in an account on Solana, in lamports. */
export const RENT: CacheKey<bigint> = {
  namespace: { name: 'rent', schema: Amount, freshSeconds: HOUR, keepSeconds: 30 * DAY, rememberedSeconds: MINUTE },
  key: 'solana-mainnet',
}
