import { addressesOn } from '../../../lib/accounts/wallet.ts'
import { walletsOf } from '../../../lib/accounts/wallets.ts'
import type { Aged, CacheKey } from '../../../lib/cache/cache.ts'
import { CHAINS } from '../../../lib/chain/registry.ts'
import type { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { logger } from '../../../lib/logger.ts'
import { ALL_PRICES, ALL_TOKENS, ofEveryChain, RATES } from '../../../lib/markets/cached.ts'
import type { ListedToken, TokenPrice } from '../../../lib/markets/coin.ts'
import type { ExchangeRate } from '../../../lib/markets/currency.ts'
import { decimal, times, tokens, toNumber } from '../../../lib/markets/decimal.ts'
import { supportedTokens } from '../../../lib/markets/tokens.ts'
import { buildBalance, type Holding } from '../../../lib/portfolio/balance.ts'
import { balancesOf, CachedBalances, RENT, unlistedOf } from '../../../lib/portfolio/cached.ts'
import type { IndexedToken } from '../../../lib/portfolio/goldrush.ts'
import { byChain, NOTHING, type OnChain, walletsResponse } from '../../../lib/portfolio/responses.ts'
import { resultOf } from '../../../lib/result.ts'
import type { Services } from '../../../lib/services.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'
import { evmHoldings, type HoldingsOnChain, solanaHoldings, unlistedHoldings } from './holdings.ts'
import { readSolanaBalances } from './solana.ts'

type Dependencies = Services<'users' | 'cache' | 'readerOf' | 'solana' | 'goldRush' | 'now'>

type Chain = (typeof CHAINS)[number]

/** A chain, and what is to be read there. */
type Place = {
  readonly chain: Chain
  readonly wallets: readonly string[]
  readonly listed: readonly ListedToken[]
  readonly vaults: readonly Vault[]
  readonly question: CacheKey<CachedBalances>
  /** The last good balances of the same wallets. */
  readonly last: Aged<CachedBalances> | undefined
}

/** What is known of a place. */
type Found = OnChain & {
  readonly holdings: readonly Holding[]
  /** Why nothing is known. */
  readonly failure?: AppError | undefined
  readonly rent?: bigint | undefined
}

/** What an account of no bytes cost before the rent was lowered (SIMD-0437): never too little. */
const LEGACY_RENT = 890_880n
/** Decimals of a millionth of a dollar, and of a lamport. */
const MICRO = 6
const LAMPORTS = 9
const DOLLAR: ExchangeRate = { now: 1, dayAgo: 1 }

/**
 * Tells what a user has, in a currency. Chains are read side by side, each in one round trip; one
 * that cannot be read has its last good balances, and never holds up the others. Throws `invalid_session` where the user
 * is no more, and `upstream_*` when nothing is known of any chain that the user has a wallet for.
 */
export function readAllBalances({ users, cache, readerOf, solana, goldRush, now }: Dependencies) {
  async function readPlace(place: Place): Promise<Found> {
    const { chain, wallets, listed, last } = place
    const here = { ...NOTHING, chain: chain.key, wallets }
    if (wallets.length === 0) return { ...here, holdings: [] }
    const [live, indexed] = await Promise.all([resultOf(readChain(place)), askIndex(place)])
    if ('error' in live) {
      logger.warn('chain not read, serving its last balances', { chain: chain.key, cause: String(live.error.cause) })
      const failure = last ? undefined : live.error
      return { ...here, holdings: last?.value.holdings ?? [], asOf: last?.asOf, error: live.error.message, failure }
    }

    const { holdings: read, isUnread, unread, confirm, rent } = live.value
    if (unread.length > 0)
      logger.warn('tokens not read', { chain: chain.key, count: unread.length, some: unread.slice(0, 5) })
    const holdings = [...read, ...unlistedHoldings(indexed ?? [], listed, confirm)]
    const known = new Set(holdings.map(({ address }) => address))
    const isStillKnown = ({ address, isListed }: Holding) =>
      !known.has(address) && (isUnread(address) || (!isListed && indexed === undefined))
    const all = [...holdings, ...(last?.value.holdings ?? []).filter(isStillKnown)]
    await keep(place, all)
    const errors = [
      unread.length > 0 && 'Some tokens could not be read',
      !indexed && 'Unlisted tokens could not be read',
    ]
    return {
      ...here,
      holdings: all,
      asOf: new Date(now()),
      error: errors.filter(Boolean).join('. ') || undefined,
      rent,
    }
  }

  function readChain({ chain, wallets, listed, vaults }: Place): Promise<HoldingsOnChain> {
    if (chain.kind === 'solana') return solanaHoldings(solana, wallets, listed)
    return evmHoldings(readerOf(chain.id), wallets, listed, vaults)
  }

  /** What the index knows of each wallet; nothing where there is no index, undefined when it fails. */
  async function askIndex({ chain, wallets }: Place): Promise<readonly IndexedToken[][] | undefined> {
    if (!goldRush) return []
    const asking = wallets.map(async (wallet) => {
      const question = unlistedOf(chain.key, wallet)
      return (await cache.getOrFetch(question, () => goldRush.fetchTokens(chain.key, wallet))).value
    })
    const outcome = await resultOf(Promise.all(asking))
    if ('value' in outcome) return outcome.value
    logger.warn('unlisted tokens not known', { chain: chain.key, cause: String(outcome.error.cause) })
    return undefined
  }

  /** Keeps the balances where they have changed, or were kept an hour ago. */
  async function keep({ question, wallets, last }: Place, holdings: readonly Holding[]): Promise<void> {
    const balances = { wallets: [...wallets], holdings: [...holdings] }
    if (last && !last.isStale && textOf(last.value) === textOf(balances)) return
    await cache.put(question, balances).catch((error: unknown) => logger.error('balances not kept', { error }))
  }

  /** The rent by itself, for users without a wallet on Solana; undefined when it is not told. */
  async function askRent(): Promise<bigint | undefined> {
    const outcome = await resultOf(readSolanaBalances(solana, []))
    return 'value' in outcome ? outcome.value.rent : undefined
  }

  return async (request: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { session } = request
    const { vaults } = request.client
    const { currency } = request.query
    const [user, kept] = await Promise.all([
      users.get({ clientId: session.clientId, email: session.user.email }),
      cache.get({
        ...ALL_TOKENS,
        ...ALL_PRICES,
        ...ofEveryChain('balances', (chainKey) => balancesOf(chainKey, session)),
        rates: RATES,
        rent: RENT,
      }),
    ])
    const linked = walletsOf(user)
    const places = CHAINS.map((chain): Place => {
      const wallets = addressesOn(chain, linked)
      const last = kept[`balances ${chain.key}`]
      return {
        chain,
        wallets,
        listed: supportedTokens(chain, kept[`tokens ${chain.key}`]),
        vaults: vaults.filter(({ chainId }) => chainId === chain.id),
        question: balancesOf(chain.key, session),
        last: last && last.value.wallets.join() === wallets.join() ? last : undefined,
      }
    })
    const rate = kept.rates?.value[currency] ?? (currency === 'usd' ? DOLLAR : undefined)
    const readAndValue = async (place: Place) => {
      const { holdings, ...found } = await readPlace(place)
      const prices = kept[`prices ${place.chain.key}`]?.value ?? {}
      const entries = holdings.map((holding) => buildBalance(place.chain, holding, priceOf(holding, prices), rate))
      return { ...found, entries }
    }
    const isRentFresh = kept.rent?.isStale === false
    const [chains, rentAlone] = await Promise.all([
      Promise.all(places.map(readAndValue)),
      isRentFresh || linked.some(({ chain }) => chain === 'solana') ? undefined : askRent(),
    ])
    const ofUser = chains.filter(({ wallets }) => wallets.length > 0)
    const [first] = ofUser
    if (first?.failure && ofUser.every(({ failure }) => failure)) throw first.failure

    const rent = rentAlone ?? chains.find((one) => one.rent !== undefined)?.rent
    if (rent !== undefined && !(isRentFresh && kept.rent?.value === rent)) await cache.put(RENT, rent)
    const smartGas = tokens(BigInt(user?.smartGas ?? 0), MICRO)
    return {
      ...walletsResponse(chains),
      tokens: byChain(chains, ({ entries }) => entries),
      kyc: { status: user?.kyc ?? 'none' },
      smartgaz: rate ? toNumber(times(smartGas, decimal(rate.now))) : 0,
      smartgaz_available: rate !== undefined,
      solana_rent: toNumber(tokens(rent ?? kept.rent?.value ?? LEGACY_RENT, LAMPORTS)),
    }
  }
}

/** The price that values a holding: of the asset for shares, and none for what is not listed. */
function priceOf(
  { address, isListed, share }: Holding,
  prices: Readonly<Record<string, TokenPrice>>,
): TokenPrice | undefined {
  return isListed ? prices[share?.asset ?? address] : undefined
}

function textOf(balances: CachedBalances): string {
  return JSON.stringify(CachedBalances.encode(balances))
}
