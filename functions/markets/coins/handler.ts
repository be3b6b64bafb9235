import { combineAges } from '../../../lib/cache/aged.ts'
import { CHAINS, type Chain } from '../../../lib/chain/registry.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { toResponseAddress, WRAPPED_SOL } from '../../../lib/markets/address.ts'
import { EXCHANGE_RATES_KEY, MARKET_DATA_KEY, PRICES_KEYS, TOKENS_KEYS } from '../../../lib/markets/cache-keys.ts'
import type { ListedToken, MarketCoin, TokenPrice } from '../../../lib/markets/coin.ts'
import { buildConversion, type Conversion, changeInPercent } from '../../../lib/markets/convert.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import { listSupportedTokens } from '../../../lib/markets/tokens.ts'
import { cache, now, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

type Cached = Awaited<ReturnType<typeof recallAll>>
type Entries = ReturnType<typeof toReply>[]

/** Lists the supported tokens of all chains with one cache read. Throws `upstream_unavailable` if the currency's rate is unknown. */
export const handler = endpoint(contract, { cache, now }, ({ cache, now }) => {
  // Finished lists of coins by currency, reused until the cached market data, rates or tokens change. There are at most
  // 62 lists of 2 MB each, including their compressed forms.
  let lists = { from: [] as readonly unknown[], byCurrency: new Map<Currency, Entries>() }
  return async ({ query: { currency } }) => {
    const cached = await recallAll(cache)
    const conversion = buildConversion(currency, cached.rates)
    const parts = Object.values(cached).map((part) => part?.value)
    const isSame = parts.length === lists.from.length && parts.every((part, index) => part === lists.from[index])
    if (!isSame) lists = { from: parts, byCurrency: new Map() }
    const supported = lists.byCurrency.get(currency) ?? toEntries(cached, conversion)
    lists.byCurrency.set(currency, supported)
    // Token lists are refreshed only hourly, so they would make every response look old. Only stale lists count for the
    // response's age.
    const oldTokens = CHAINS.map(({ key }) => cached[`tokens ${key}`]).filter((tokens) => tokens?.isStale)
    const prices = CHAINS.map(({ key }) => cached[`prices ${key}`])
    return combineAges(supported, [cached.market, ...prices, ...oldTokens, ...conversion.answers], now())
  }
})

function recallAll(cache: Services<'cache'>['cache']) {
  return cache.recall({ market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY, ...TOKENS_KEYS, ...PRICES_KEYS })
}

function toEntries(cached: Cached, conversion: Conversion): Entries {
  const coins = new Map(cached.market?.value.map((coin) => [coin.id, coin]))
  return CHAINS.flatMap((chain) => {
    const prices = cached[`prices ${chain.key}`]?.value ?? {}
    return listSupportedTokens(chain, cached[`tokens ${chain.key}`])
      .filter(({ address }) => address !== WRAPPED_SOL) // Wrapped SOL is left out, because its address represents the native SOL coin in this list.
      .map((token) =>
        toReply(chain, token, { price: prices[token.address], coin: coins.get(token.coinGeckoId) }, conversion),
      )
  })
}

type Figures = { readonly price: TokenPrice | undefined; readonly coin: MarketCoin | undefined }

function toReply(chain: Chain, token: ListedToken, { price, coin }: Figures, conversion: Conversion) {
  // The 24-hour change of the market data belongs to the market's price. A price from another source needs its own change.
  const isOwnPrice = price && price.now !== coin?.price
  const change = isOwnPrice ? changeInPercent(price.now, price.dayAgo) : (coin?.change24h ?? null)
  return {
    contract_address: toResponseAddress(chain, token.address),
    chainId: chain.id,
    contract_ticker_symbol: token.symbol,
    contract_decimals: token.decimals,
    contract_name: token.name,
    coinKey: token.coinKey,
    logo_url: token.logoUrl,
    id: token.coinGeckoId || null,
    current_price: conversion.amount(price?.now ?? coin?.price ?? null),
    market_cap: conversion.amount(coin?.marketCap ?? null),
    total_volume: conversion.amount(coin?.volume ?? null),
    price_change_percentage_24h: conversion.change(change),
  }
}
