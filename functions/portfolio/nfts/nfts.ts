import { listWallets } from '../../../lib/accounts/user.ts'
import { addressesOn } from '../../../lib/accounts/wallet.ts'
import { combine, isOverdue } from '../../../lib/cache/aged.ts'
import { CHAINS, type Chain } from '../../../lib/chain/registry.ts'
import { MAX_UINT256 } from '../../../lib/codecs.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { logger } from '../../../lib/logger.ts'
import { nftsKey } from '../../../lib/portfolio/cache-keys.ts'
import { fitting, type NftCollection } from '../../../lib/portfolio/nft.ts'
import { byChain, NOTHING, type OnChain, walletsResponse } from '../../../lib/portfolio/responses.ts'
import { toResult } from '../../../lib/result.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'users' | 'budgets' | 'cache' | 'goldRush' | 'solanaNfts' | 'now'>

/** The NFTs of a user on one chain. */
type NftsOnChain = OnChain & { readonly collections: readonly NftCollection[] }

/**
 * Tells the NFTs of a user, of each wallet and chain at most ten minutes old, or the last ones
 * while a source is down. Throws `invalid_session` where the user is no more, and `upstream_*` when nothing is known of
 * any chain that has a source.
 */
export function listNfts({ users, budgets, cache, goldRush, solanaNfts, now }: Dependencies) {
  async function readChain(chain: Chain, wallets: readonly string[], clientId: string): Promise<NftsOnChain> {
    const nothing = { ...NOTHING, chain: chain.key, wallets, collections: [] }
    if (wallets.length === 0) return nothing
    const fetchNfts = sourceOf(chain)
    if (!fetchNfts) return { ...nothing, error: 'Not configured' }

    const budget = budgets(chain.kind === 'solana' ? 'das' : 'goldrush', clientId)
    const results = await Promise.all(
      wallets.map((wallet) =>
        toResult(cache.getOrFetch(nftsKey(chain.key, wallet), budget, async () => fitting(await fetchNfts(wallet)))),
      ),
    )
    const [failure] = results.flatMap((result) => ('error' in result ? [result.error] : []))
    const known = results.flatMap((result) => ('value' in result ? [result.value] : []))
    if (failure) logger.warn('NFTs not known', { chain: chain.key, cause: String(failure.cause) })
    if (failure && known.length === 0) return { ...nothing, error: failure.message, failure }

    const { collections, isWhole } = fitting(joined(known.flatMap(({ value }) => value.collections)))
    const isAll = isWhole && known.every(({ value }) => value.isWhole)
    const isOld = known.some((answer) => isOverdue(answer, nftsKey(chain.key, '').namespace, now()))
    const { asOf } = combine(collections, known, now())
    const error = failure || isOld ? 'Upstream unavailable' : isAll ? undefined : 'Not all NFTs are shown'
    return { chain: chain.key, wallets, collections, asOf, error }
  }

  function sourceOf({ kind, key }: Chain): ((wallet: string) => Promise<NftCollection[]>) | undefined {
    if (kind === 'solana') return solanaNfts?.fetchNfts
    return goldRush && ((wallet) => goldRush.fetchNfts(key, wallet))
  }

  return async ({ session }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { clientId, user } = session
    const linked = listWallets(await users.get({ clientId, email: user.email }))
    const chains = await Promise.all(CHAINS.map((chain) => readChain(chain, addressesOn(chain, linked), clientId)))
    return { ...walletsResponse(chains), nfts: byChain(chains, ({ collections }) => collections) }
  }
}

/** The collections of several wallets, each collection once. */
function joined(collections: readonly NftCollection[]): NftCollection[] {
  const byContract = new Map<string, NftCollection>()
  for (const collection of collections) {
    const { balance = 0n, nft_data = [] } = byContract.get(collection.contract_address) ?? {}
    byContract.set(collection.contract_address, {
      ...collection,
      balance: balance + collection.balance,
      nft_data: [...nft_data, ...collection.nft_data],
    })
  }
  // Some tell every wallet that it has all there can be.
  return [...byContract.values()].filter(({ balance }) => balance <= MAX_UINT256)
}
