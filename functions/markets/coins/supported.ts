import { combine } from '../../../lib/cache/aged.ts'
import type { Aged, SharedCache } from '../../../lib/cache/cache.ts'
import { CHAINS } from '../../../lib/chain/registry.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { shownAddress, WRAPPED_SOL } from '../../../lib/markets/address.ts'
import { ALL_PRICES, ALL_TOKENS, MARKET, RATES } from '../../../lib/markets/cached.ts'
import type { ListedToken, MarketCoin, TokenPrice } from '../../../lib/markets/coin.ts'
import { changeInPercent, conversionInto } from '../../../lib/markets/convert.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import { supportedTokens } from '../../../lib/markets/tokens.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = {
  readonly cache: Pick<SharedCache, 'get'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** A token that the service supports and what is known of it in a currency; null is unknown. */
export type SupportedToken = {
  readonly token: ListedToken
  readonly chainId: number
  /** As callers see it: the chain's own coin has one too. */
  readonly address: string
  readonly price: number | null
  readonly marketCap: number | null
  readonly volume: number | null
  /** Percent over the last 24 hours. */
  readonly change24h: number | null
}

/** The tokens that the service supports on all chains, in one read. Throws `upstream_unavailable` when the currency's rate is unknown. */
async function listSupported({ cache, now }: Dependencies, currency: Currency): Promise<Aged<SupportedToken[]>> {
  const kept = await cache.get({ market: MARKET, rates: RATES, ...ALL_TOKENS, ...ALL_PRICES })
  const conversion = conversionInto(currency, kept.rates)
  const coins = new Map(kept.market?.value.map((coin) => [coin.id, coin]))
  const supported = CHAINS.flatMap((chain) => {
    const tokens = supportedTokens(chain, kept[`tokens ${chain.key}`])
    const prices = kept[`prices ${chain.key}`]?.value ?? {}
    // Under its own address would stand the coin that it wraps.
    const shown = tokens.filter(({ address }) => address !== WRAPPED_SOL)
    return shown.map((token): SupportedToken => {
      const coin = coins.get(token.coinGeckoId)
      const price = prices[token.address]
      return {
        token,
        chainId: chain.id,
        address: shownAddress(chain, token.address),
        price: conversion.amount(price?.now ?? coin?.price ?? null),
        marketCap: conversion.amount(coin?.marketCap ?? null),
        volume: conversion.amount(coin?.volume ?? null),
        change24h: conversion.change(changeOf(price, coin)),
      }
    })
  })
  // A list of tokens that is past its time makes the answer old; one that is not does not.
  const oldTokens = CHAINS.map(({ key }) => kept[`tokens ${key}`]).filter((tokens) => tokens?.isStale)
  const prices = CHAINS.map(({ key }) => kept[`prices ${key}`])
  return combine(supported, [kept.market, ...prices, ...oldTokens, ...conversion.parts], now())
}

/** The change of a price in percent: as the market tells it where the price is the market's. */
function changeOf(price: TokenPrice | undefined, coin: MarketCoin | undefined): number | null {
  if (price && price.now !== coin?.price) return changeInPercent(price.now, price.dayAgo)
  return coin?.change24h ?? null
}

export const listCoins =
  (services: Services<'cache' | 'now'>) =>
  async ({ query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { value, ...age } = await listSupported(services, query.currency)
    return { value: value.map(toReply), ...age }
  }

function toReply({ token, chainId, address, price, marketCap, volume, change24h }: SupportedToken) {
  return {
    contract_address: address,
    chainId,
    contract_ticker_symbol: token.symbol,
    contract_decimals: token.decimals,
    contract_name: token.name,
    coinKey: token.coinKey,
    logo_url: token.logoUrl,
    id: token.coinGeckoId || null,
    current_price: price,
    market_cap: marketCap,
    total_volume: volume,
    price_change_percentage_24h: change24h,
  }
}
