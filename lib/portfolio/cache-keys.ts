import type { CacheKey, CacheNamespace } from '../cache/cache.ts'
import { Amount } from '../core/codecs.ts'
import { DAY, HOUR, MINUTE } from '../core/time.ts'
import { WalletNfts } from './nft.ts'
import { WalletBalances } from './wallet-balances.ts'

// Each chain's balances in this entry have their own time, which decides if they are fresh. So the entry as a whole
// stays fresh for days.
const BALANCES: CacheNamespace<WalletBalances> = {
  name: 'balances',
  schema: WalletBalances,
  freshSeconds: 7 * DAY,
  keepSeconds: 7 * DAY,
}
const NFTS: CacheNamespace<WalletNfts> = { name: 'nfts', schema: WalletNfts, freshSeconds: DAY, keepSeconds: DAY }

/** Returns the cache key of a wallet's balances on all chains. */
export function balancesKey(wallet: string): CacheKey<WalletBalances> {
  return { namespace: BALANCES, key: wallet }
}

/** Returns the cache key of a wallet's NFTs on all chains. */
export function nftsKey(wallet: string): CacheKey<WalletNfts> {
  return { namespace: NFTS, key: wallet }
}

/** Cache key of a Solana account's rent: the lamports that must stay in the account so that it is rent-exempt. */
export const RENT_KEY: CacheKey<bigint> = {
  namespace: { name: 'rent', schema: Amount, freshSeconds: HOUR, keepSeconds: 30 * DAY, rememberedSeconds: MINUTE },
  key: 'solana-mainnet',
}
