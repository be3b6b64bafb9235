import { listWallets } from '../../../lib/accounts/user.ts'
import { listAddresses } from '../../../lib/accounts/wallet.ts'
import { CHAINS, type ChainKey } from '../../../lib/chain/registry.ts'
import type { AppError } from '../../../lib/core/errors.ts'
import { toResult } from '../../../lib/core/result.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { EXCHANGE_RATES_KEY, PRICES_KEYS, TOKENS_KEYS } from '../../../lib/markets/cache-keys.ts'
import type { TokenPrice } from '../../../lib/markets/coin.ts'
import type { ExchangeRate } from '../../../lib/markets/currency.ts'
import { decimal, times, toNumber, toWholeTokens } from '../../../lib/markets/decimal.ts'
import { listSupportedTokens } from '../../../lib/markets/tokens.ts'
import { buildBalance, type Holding } from '../../../lib/portfolio/balance.ts'
import { RENT_KEY } from '../../../lib/portfolio/cache-keys.ts'
import { buildWalletsResponse, type ChainResult, groupByChain, NO_DATA } from '../../../lib/portfolio/responses.ts'
import {
  type ChainBalances,
  isIndexRecent,
  type KnownBalances,
  oldestReadTime,
} from '../../../lib/portfolio/wallet-balances.ts'
import { cache, getReader, now, solana, tokenIndex, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { buildHoldings } from './holdings.ts'
import { type ChainInput, createBalancesRefresh } from './refresh.ts'
import { readSolanaBalances } from './solana.ts'

type Found = ChainResult & { readonly holdings: readonly Holding[] }

/**
 * Minimum lamports in a Solana account without data, before SIMD-0437 lowered them. Used while the current minimum is
 * unknown, because the old one always suffices.
 */
const LEGACY_RENT = 890_880n
/** Decimals of an amount in millionths of a US dollar. */
const MICRO = 6
const LAMPORTS = 9
const DOLLAR: ExchangeRate = { now: 1, dayAgo: 1 }

/**
 * Returns the balances of a user's wallets on all chains, valued in a currency. A chain that cannot be read shows its
 * last known balances and does not delay the others. Throws `invalid_session` if the user no longer exists. Throws
 * `upstream_*` if no balances are known on any chain with a wallet.
 */
export const handler = endpoint(
  contract,
  { users, cache, getReader, solana, tokenIndex, now },
  ({ users, cache, getReader, solana, tokenIndex, now }) => {
    const refresh = createBalancesRefresh({ cache, getReader, solana, tokenIndex, now })

    /**
     * Sums the balances of all wallets on a chain. Returns no holdings if one wallet's balances are unknown, because the
     * sums would be wrong.
     */
    function describe(
      { chain, wallets, listed, vaults }: ChainInput,
      known: readonly KnownBalances[],
      failure: AppError | undefined,
    ): Found {
      const here = { ...NO_DATA, chain: chain.key, wallets, holdings: [] }
      if (wallets.length === 0) return here
      const read = known.flatMap((one) => one.read ?? [])
      if (failure && read.length < known.length) return { ...here, error: failure.message, failure }

      const isIndexed = isIndexedChain(chain.key)
      const indexed = isIndexed ? known.flatMap((one) => one.indexed ?? []) : []
      const shares = vaults.map(({ shareToken }) => shareToken)
      const wanted = new Set<string>([...listed.map(({ address }) => address), ...shares])
      const isMissed = (contract: string) => chain.kind === 'solana' || wanted.has(contract)
      const isPartial = (one: ChainBalances) =>
        one.unread.some(isMissed) || shares.some((share) => !(share in one.shares))
      const errors = [
        failure?.message,
        read.some(isPartial) && 'Some tokens could not be read',
        isIndexed && !known.every((one) => isIndexRecent(one, now())) && 'Unlisted tokens could not be read',
        indexed.some(({ isWhole }) => !isWhole) && 'Not all unlisted tokens are shown',
      ]
      return {
        ...here,
        holdings: buildHoldings({ chain, read, indexed: indexed.map((one) => one.tokens), listed, vaults }),
        asOf: new Date(Math.min(...read.map((one) => oldestReadTime(one, shares).getTime()))),
        error: errors.filter(Boolean).join('. ') || undefined,
      }
    }

    const isIndexedChain = (chainKey: ChainKey) => tokenIndex?.tokenChains.includes(chainKey) === true

    /** Reads only the rent of a Solana account, for users without a Solana wallet. Returns undefined if the node does not report the rent. */
    async function readRent(): Promise<bigint | undefined> {
      const result = await toResult(readSolanaBalances(solana, []))
      return 'value' in result ? result.value.rent : undefined
    }
    return async (request) => {
      const { session, query, payFor } = request
      const { currency } = query
      const [user, cached] = await Promise.all([
        users.get({ clientId: session.clientId, email: session.user.email }),
        cache.recall({ ...TOKENS_KEYS, ...PRICES_KEYS, rates: EXCHANGE_RATES_KEY, rent: RENT_KEY }),
      ])
      const linked = listWallets(user)
      const inputs = CHAINS.map(
        (chain): ChainInput => ({
          chain,
          wallets: listAddresses(chain, linked),
          listed: listSupportedTokens(chain, cached[`tokens ${chain.key}`]),
          vaults: request.client.vaults.filter(({ chainId }) => chainId === chain.id),
        }),
      )
      const isRentFresh = cached.rent?.isStale === false
      // The rent is read together with the balances of a Solana wallet. Only a user without such a wallet needs a
      // separate read of the rent.
      const isRentUnread = !isRentFresh && !linked.some(({ chain }) => chain === 'solana')
      const [{ known, failures, rent: rentBeside }, rentAlone] = await Promise.all([
        refresh(inputs, payFor),
        isRentUnread ? readRent() : undefined,
      ])
      const rate = cached.rates?.value[currency] ?? (currency === 'usd' ? DOLLAR : undefined)
      const chains = inputs.map((input) => {
        const { chain, wallets } = input
        const { holdings, ...found } = describe(
          input,
          wallets.map((wallet) => known(chain, wallet)),
          failures.get(chain.key),
        )
        const prices = cached[`prices ${chain.key}`]?.value ?? {}
        const entries = holdings.map((holding) => buildBalance(chain, holding, priceOf(holding, prices), rate))
        return { ...found, entries }
      })
      const rent = rentBeside ?? rentAlone
      if (rent !== undefined && !(isRentFresh && cached.rent?.value === rent)) await cache.put(RENT_KEY, rent)
      const notIndexed = inputs.filter(({ chain, wallets }) => wallets.length > 0 && !isIndexedChain(chain.key))
      const smartGas = toWholeTokens(BigInt(user?.smartGas ?? 0), MICRO)
      return {
        ...buildWalletsResponse(chains),
        ...(notIndexed.length > 0 && {
          missing: Object.fromEntries(notIndexed.map(({ chain }) => [chain.key, ['unlisted_tokens' as const]])),
        }),
        tokens: groupByChain(chains, ({ entries }) => entries),
        kyc: { status: user?.kyc ?? 'none' },
        smartgaz: rate ? toNumber(times(smartGas, decimal(rate.now))) : 0,
        smartgaz_available: rate !== undefined,
        solana_rent: toNumber(toWholeTokens(rent ?? cached.rent?.value ?? LEGACY_RENT, LAMPORTS)),
      }
    }
  },
)

/** Returns the price of a holding. A vault share gets the price of the vault's asset. An unlisted token has no price. */
function priceOf(
  { address, isListed, share }: Holding,
  prices: Readonly<Record<string, TokenPrice>>,
): TokenPrice | undefined {
  return isListed ? prices[share?.asset ?? address] : undefined
}
