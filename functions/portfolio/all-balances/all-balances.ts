import type { Session } from '../../../lib/accounts/session.ts'
import { listWallets } from '../../../lib/accounts/user.ts'
import { addressesOn } from '../../../lib/accounts/wallet.ts'
import type { Aged, CacheKey } from '../../../lib/cache/cache.ts'
import { CHAINS, type Chain } from '../../../lib/chain/registry.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { logger } from '../../../lib/logger.ts'
import { ALL_PRICES, ALL_TOKENS, RATES } from '../../../lib/markets/cache-keys.ts'
import type { ListedToken, TokenPrice } from '../../../lib/markets/coin.ts'
import type { ExchangeRate } from '../../../lib/markets/currency.ts'
import { decimal, times, tokens, toNumber } from '../../../lib/markets/decimal.ts'
import { supportedTokens } from '../../../lib/markets/tokens.ts'
import { buildBalance, type Holding } from '../../../lib/portfolio/balance.ts'
import { balancesKey, CachedBalances, RENT, unlistedKey } from '../../../lib/portfolio/cache-keys.ts'
import type { IndexedToken } from '../../../lib/portfolio/goldrush.ts'
import { byChain, NOTHING, type OnChain, walletsResponse } from '../../../lib/portfolio/responses.ts'
import { toResult } from '../../../lib/result.ts'
import type { Services } from '../../../lib/services.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'
import { evmHoldings, type HoldingsOnChain, solanaHoldings, unlistedHoldings } from './holdings.ts'
import { readSolanaBalances } from './solana.ts'

type Dependencies = Services<'users' | 'budgets' | 'cache' | 'getReader' | 'solana' | 'goldRush' | 'now'>

/** A chain, and the user's wallets there. */
type WalletsOnChain = { readonly chain: Chain; readonly wallets: readonly string[] }

/** A chain, and what is to be read there. */
type ChainInput = WalletsOnChain & {
  readonly clientId: string
  readonly listed: readonly ListedToken[]
  readonly vaults: readonly Vault[]
  readonly cacheKey: CacheKey<CachedBalances>
  readonly own: Promise<Own>
}

/** What is cached of a user: the last good balances by chain, and what the index knew by `unlistedName`. */
type Own = {
  readonly last: Readonly<Record<string, Aged<CachedBalances> | undefined>>
  readonly unlisted: Readonly<Record<string, Aged<IndexedToken[]> | undefined>>
}

/** What is known of the user on a chain. */
type Found = OnChain & {
  readonly holdings: readonly Holding[]
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
export function readAllBalances({ users, budgets, cache, getReader, solana, goldRush, now }: Dependencies) {
  async function readHoldings(input: ChainInput): Promise<Found> {
    const { chain, wallets, listed } = input
    const here = { ...NOTHING, chain: chain.key, wallets }
    if (wallets.length === 0) return { ...here, holdings: [] }
    const [live, indexed, last] = await Promise.all([toResult(readChain(input)), fetchIndexed(input), lastOf(input)])
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
    await cacheBalances(input, all, last)
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

  function readChain({ chain, wallets, listed, vaults }: ChainInput): Promise<HoldingsOnChain> {
    if (chain.kind === 'solana') return solanaHoldings(solana, wallets, listed)
    return evmHoldings(getReader(chain.id), wallets, listed, vaults)
  }

  /** What the index knows of each wallet; nothing where there is no index, undefined when it fails. */
  async function fetchIndexed(input: ChainInput): Promise<readonly IndexedToken[][] | undefined> {
    if (!goldRush) return []
    const { clientId, chain, wallets, own } = input
    const budget = budgets('goldrush', clientId)
    const [{ unlisted }, last] = await Promise.all([own, lastOf(input)])
    // Most wallets use a few chains: of the others it is asked once for as long as the answer is kept, a day.
    const isUnused = last?.value.holdings.every(({ balance }) => balance === 0n)
    const asking = wallets.map(async (wallet) => {
      const cacheKey = unlistedKey(chain.key, wallet)
      const known = unlisted[unlistedName(chain, wallet)]
      if (known && (!known.isStale || isUnused)) return known.value
      return (await cache.getOrFetch(cacheKey, budget, () => goldRush.fetchTokens(chain.key, wallet))).value
    })
    const result = await toResult(Promise.all(asking))
    if ('value' in result) return result.value
    logger.warn('unlisted tokens not known', { chain: chain.key, cause: String(result.error.cause) })
    return undefined
  }

  /** Caches the balances where they have changed, or were cached an hour ago. */
  async function cacheBalances(
    { cacheKey, wallets }: ChainInput,
    holdings: readonly Holding[],
    last: Aged<CachedBalances> | undefined,
  ): Promise<void> {
    const balances = { wallets: [...wallets], holdings: [...holdings] }
    if (last && !last.isStale && textOf(last.value) === textOf(balances)) return
    await cache.put(cacheKey, balances).catch((error: unknown) => logger.error('balances not cached', { error }))
  }

  /** The rent by itself, for users without a wallet on Solana; undefined when it is not told. */
  async function readRent(): Promise<bigint | undefined> {
    const result = await toResult(readSolanaBalances(solana, []))
    return 'value' in result ? result.value.rent : undefined
  }

  /** What is cached of the user, in two reads. */
  async function getOwn(session: Session, linked: readonly WalletsOnChain[]): Promise<Own> {
    const used = linked.filter(({ wallets }) => wallets.length > 0)
    const balances = used.map(({ chain: { key } }) => [key, balancesKey(key, session)] as const)
    const indexed = used.flatMap(({ chain, wallets }) =>
      wallets.map((wallet) => [unlistedName(chain, wallet), unlistedKey(chain.key, wallet)] as const),
    )
    const [last, unlisted] = await Promise.all([
      cache.get(Object.fromEntries(balances)),
      cache.get(goldRush ? Object.fromEntries(indexed) : {}),
    ])
    return { last, unlisted }
  }

  return async (request: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { session, query } = request
    const { currency } = query
    const [user, cached] = await Promise.all([
      users.get({ clientId: session.clientId, email: session.user.email }),
      cache.recall({ ...ALL_TOKENS, ...ALL_PRICES, rates: RATES, rent: RENT }),
    ])
    const linked = listWallets(user)
    const onChains = CHAINS.map((chain): WalletsOnChain => ({ chain, wallets: addressesOn(chain, linked) }))
    const own = getOwn(session, onChains)
    const inputs = onChains.map(
      ({ chain, wallets }): ChainInput => ({
        clientId: session.clientId,
        chain,
        wallets,
        listed: supportedTokens(chain, cached[`tokens ${chain.key}`]),
        vaults: request.client.vaults.filter(({ chainId }) => chainId === chain.id),
        cacheKey: balancesKey(chain.key, session),
        own,
      }),
    )
    const rate = cached.rates?.value[currency] ?? (currency === 'usd' ? DOLLAR : undefined)
    const readAndValue = async (input: ChainInput) => {
      const { holdings, ...found } = await readHoldings(input)
      const prices = cached[`prices ${input.chain.key}`]?.value ?? {}
      const entries = holdings.map((holding) => buildBalance(input.chain, holding, priceOf(holding, prices), rate))
      return { ...found, entries }
    }
    const isRentFresh = cached.rent?.isStale === false
    const [chains, rentAlone] = await Promise.all([
      Promise.all(inputs.map(readAndValue)),
      isRentFresh || linked.some(({ chain }) => chain === 'solana') ? undefined : readRent(),
      own,
    ])
    const response = walletsResponse(chains)
    const rent = rentAlone ?? chains.find((one) => one.rent !== undefined)?.rent
    if (rent !== undefined && !(isRentFresh && cached.rent?.value === rent)) await cache.put(RENT, rent)
    const smartGas = tokens(BigInt(user?.smartGas ?? 0), MICRO)
    return {
      ...response,
      tokens: byChain(chains, ({ entries }) => entries),
      kyc: { status: user?.kyc ?? 'none' },
      smartgaz: rate ? toNumber(times(smartGas, decimal(rate.now))) : 0,
      smartgaz_available: rate !== undefined,
      solana_rent: toNumber(tokens(rent ?? cached.rent?.value ?? LEGACY_RENT, LAMPORTS)),
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

/** The last good balances, where they are of the same wallets. */
async function lastOf({ chain, wallets, own }: ChainInput): Promise<Aged<CachedBalances> | undefined> {
  const last = (await own).last[chain.key]
  return last?.value.wallets.join() === wallets.join() ? last : undefined
}

function unlistedName({ key }: Chain, wallet: string): string {
  return `${key} ${wallet}`
}

function textOf(balances: CachedBalances): string {
  return JSON.stringify(CachedBalances.encode(balances))
}
