import type { CacheKey, Namespace } from '../cache/cache.ts'
import { Amount } from '../core/codecs.ts'
import { DAY, HOUR, MINUTE } from '../core/time.ts'
import { WalletNfts } from './nft.ts'
import { WalletBalances } from './wallet-balances.ts'

// Each part of these items has its own time, which decides its freshness.
const BALANCES: Namespace<WalletBalances> = {
  name: 'balances',
  schema: WalletBalances,
  freshSeconds: 7 * DAY,
  keepSeconds: 7 * DAY,
}
const NFTS: Namespace<WalletNfts> = { name: 'nfts', schema: WalletNfts, freshSeconds: DAY, keepSeconds: DAY }

/** Returns the key of a wallet's balances on all chains. */
export function balancesKey(wallet: string): CacheKey<WalletBalances> {
  return { namespace: BALANCES, key: wallet }
}

/** Returns the key of a wallet's NFTs on all chains. */
export function nftsKey(wallet: string): CacheKey<WalletNfts> {
  return { namespace: NFTS, key: wallet }
}

/** Lamports that must stay in an account on Solana. */
export const RENT: CacheKey<bigint> = {
  namespace: { name: 'rent', schema: Amount, freshSeconds: HOUR, keepSeconds: 30 * DAY, rememberedSeconds: MINUTE },
  key: 'solana-mainnet',
}
