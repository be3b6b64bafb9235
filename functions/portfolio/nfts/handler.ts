import { listWallets } from '../../../lib/accounts/user.ts'
import { listAddresses } from '../../../lib/accounts/wallet.ts'
import { CHAINS, type Chain } from '../../../lib/chain/registry.ts'
import { MAX_UINT256 } from '../../../lib/core/codecs.ts'
import type { AppError } from '../../../lib/core/errors.ts'
import { logger } from '../../../lib/core/logger.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/core/time.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { REQUEST_UNITS } from '../../../lib/meter/meter.ts'
import { fetchPaid } from '../../../lib/portfolio/ask-each.ts'
import { balancesKey, nftsKey } from '../../../lib/portfolio/cache-keys.ts'
import {
  fitNfts,
  fitNftsIntoItem,
  type NftCollection,
  type OwnedNfts,
  type WalletNfts,
} from '../../../lib/portfolio/nft.ts'
import { buildWalletsResponse, type ChainResult, groupByChain, NO_DATA } from '../../../lib/portfolio/responses.ts'
import { isKnownEmpty } from '../../../lib/portfolio/wallet-balances.ts'
import { cache, now, solanaNfts, tokenIndex, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

type NftsOnChain = ChainResult & { readonly collections: readonly NftCollection[] }

type Known = NonNullable<WalletNfts[keyof WalletNfts]>

type Question = { readonly chain: Chain; readonly wallet: string }
type Source = (wallet: string) => Promise<OwnedNfts>

const FRESH_MS = 10 * MINUTE_MS

/**
 * Returns a user's NFTs. NFTs of a wallet on a chain are at most ten minutes old. They are at most a day old while
 * their source fails, or if the wallet is empty. Throws `invalid_session` if the user no longer exists. Throws
 * `upstream_*` if no NFTs are known on any chain with a source.
 */
export const handler = endpoint(
  contract,
  { users, cache, tokenIndex, solanaNfts, now },
  ({ users, cache, tokenIndex, solanaNfts, now }) => {
    function sourceOf({ kind, key }: Chain): Source | undefined {
      if (kind === 'evm') {
        return tokenIndex?.nftChains.includes(key) ? (wallet) => tokenIndex.fetchNfts(key, wallet) : undefined
      }
      return solanaNfts && (async (wallet) => ({ collections: await solanaNfts.fetchNfts(wallet), isWhole: true }))
    }

    /**
     * Reads the cached NFTs and balances of these wallets. `isEmpty` returns true for a wallet that needs no request for
     * NFTs, because it has no balances on the chain.
     */
    async function getCached(wallets: readonly string[]) {
      const [nfts, balances] = await Promise.all([
        cache.get(Object.fromEntries(wallets.map((wallet) => [wallet, nftsKey(wallet)]))),
        cache.get(Object.fromEntries(wallets.map((wallet) => [wallet, balancesKey(wallet)]))),
      ])
      return {
        nftsOf: (wallet: string): WalletNfts => nfts[wallet]?.value ?? {},
        isEmpty: ({ chain, wallet }: Question) => isKnownEmpty(balances[wallet]?.value[chain.key] ?? {}, now()),
      }
    }

    const unitsOf = ({ chain }: Question) =>
      chain.kind === 'solana' ? REQUEST_UNITS.das : (tokenIndex?.units.nfts ?? 0)

    function describe(
      chain: Chain,
      wallets: readonly string[],
      known: readonly Known[],
      failure: AppError | undefined,
    ): NftsOnChain {
      const nothing = { ...NO_DATA, chain: chain.key, wallets, collections: [] }
      if (wallets.length === 0) return nothing
      if (!sourceOf(chain)) return { ...nothing, error: 'Not configured' }
      if (failure) logger.warn('NFTs not known', { chain: chain.key, cause: String(failure.cause) })
      if (failure && known.length === 0) return { ...nothing, error: failure.message, failure }
      const { collections, isWhole } = fitNfts(joined(known.flatMap((one) => one.collections)))
      const isAll = isWhole && known.every((one) => one.isWhole)
      const error = failure?.message ?? (isAll ? undefined : 'Not all NFTs are shown')
      const asOf = new Date(Math.min(...known.map((one) => one.asOf.getTime())))
      return { chain: chain.key, wallets, collections, asOf, error }
    }
    return async (request) => {
      const { clientId, user } = request.session
      const linked = listWallets(await users.get({ clientId, email: user.email }))
      const { nftsOf, isEmpty } = await getCached(linked.map(({ address }) => address))
      const ageOf = (known: Known) => now() - known.asOf.getTime()
      const isFresh = (question: Question, known: Known) =>
        ageOf(known) < (known.collections.length === 0 && isEmpty(question) ? DAY_MS : FRESH_MS)

      const all = CHAINS.flatMap((chain) => listAddresses(chain, linked).map((wallet) => ({ chain, wallet })))
      const questions = all.flatMap((question) => {
        const known = nftsOf(question.wallet)[question.chain.key]
        const source = known && isFresh(question, known) ? undefined : sourceOf(question.chain)
        return source ? [{ ...question, source, asOf: known?.asOf }] : []
      })
      const price = { unitsOf, payFor: request.payFor }
      const outcomes = await fetchPaid(questions, price, ({ source, wallet }) => source(wallet))
      const asOf = new Date(now())
      const changed = Map.groupBy(outcomes, ({ wallet }) => wallet)
      const nfts = new Map(
        linked.map(({ address }): [string, WalletNfts] => {
          const fresh = (changed.get(address) ?? []).flatMap(({ chain, result }) =>
            'value' in result ? [[chain.key, { ...result.value, asOf }] as const] : [],
          )
          return [
            address,
            fresh.length > 0 ? fitNftsIntoItem({ ...nftsOf(address), ...Object.fromEntries(fresh) }) : nftsOf(address),
          ]
        }),
      )
      const items = [...nfts].filter(([wallet, one]) => one !== nftsOf(wallet))
      await cache
        .putMany(items.map(([wallet, one]) => [nftsKey(wallet), one] as const))
        .catch((error: unknown) => logger.error('NFTs not cached', { error }))

      const chains = CHAINS.map((chain) => {
        const wallets = listAddresses(chain, linked)
        const known = wallets
          .flatMap((wallet) => nfts.get(wallet)?.[chain.key] ?? [])
          .filter((one) => ageOf(one) < DAY_MS)
        const [failure] = outcomes.flatMap((one) =>
          one.chain === chain && 'error' in one.result ? [one.result.error] : [],
        )
        return describe(chain, wallets, known, failure)
      })
      return { ...buildWalletsResponse(chains), nfts: groupByChain(chains, ({ collections }) => collections) }
    }
  },
)

/** Merges the NFT collections of several wallets by contract. */
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
  // Spam contracts report impossible balances. Collections with such a balance are left out.
  return [...byContract.values()].filter(({ balance }) => balance <= MAX_UINT256)
}
