import { getAddress, keccak256, sliceHex, toHex } from 'viem'
import type { SharedCache } from '../../lib/cache/cache.ts'
import { CHAINS } from '../../lib/chain/registry.ts'
import {
  EXCHANGE_RATES_KEY,
  MARKET_DATA_KEY,
  PRICES_KEYS,
  pricesKey,
  TOKENS_KEYS,
  tokensKey,
} from '../../lib/markets/cache-keys.ts'
import type { ListedToken, MarketCoin } from '../../lib/markets/coin.ts'
import { CURRENCIES } from '../../lib/markets/currency.ts'

const COINS = 1_000

/**
 * Adds invented tokens with prices to the cached market data, evenly over the chains, up to the total `tokens`. Adds invented coins up to a
 * total of 1,000.
 */
export async function fillMarket(cache: Pick<SharedCache, 'get' | 'put'>, tokens: number): Promise<void> {
  const cached = await cache.get({ market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY, ...TOKENS_KEYS, ...PRICES_KEYS })
  const coins = cached.market?.value ?? []
  await cache.put(MARKET_DATA_KEY, [...coins, ...Array.from({ length: COINS }, buildCoin)].slice(0, COINS))
  const rates = CURRENCIES.map((currency) => [currency, { now: 1.1, dayAgo: 1.09 }])
  await cache.put(EXCHANGE_RATES_KEY, { ...Object.fromEntries(rates), ...cached.rates?.value })
  for (const [place, { key }] of CHAINS.entries()) {
    const knownTokens = cached[`tokens ${key}`]?.value ?? []
    const all = Math.round(((place + 1) * tokens) / CHAINS.length) - Math.round((place * tokens) / CHAINS.length)
    const added = Array.from({ length: all - knownTokens.length }, (_, index) => buildToken(key, index))
    await cache.put(tokensKey(key), [...knownTokens, ...added])
    const prices = added.map(({ address }, index) => [
      address,
      { now: 1.5 * (index + 1), dayAgo: 1.4 * (index + 1), at: Date.now() },
    ])
    await cache.put(pricesKey(key), { ...Object.fromEntries(prices), ...cached[`prices ${key}`]?.value })
  }
}

function buildCoin(_: unknown, index: number): MarketCoin {
  const price = 60_000 / (index + 1)
  return {
    id: `made-up-coin-${index}`,
    symbol: `made${index}`,
    name: `Made-up coin ${index}`,
    image: `https://assets.example.com/coins/images/${index}/large/made-up-coin-${index}.png?1696501400`,
    rank: index + 1,
    price,
    marketCap: price * 19_000_000,
    volume: price * 450_000,
    change24h: (index % 200) / 10 - 9.9,
  }
}

function buildToken(chain: string, index: number): ListedToken {
  const hash = keccak256(toHex(`${chain} ${index}`))
  return {
    chain,
    address: getAddress(sliceHex(hash, 0, 20)),
    symbol: `MADE${index}`,
    name: `Made-up token ${index}`,
    decimals: index % 3 === 0 ? 6 : 18,
    coinKey: `MADE${index}`,
    logoUrl: `https://assets.example.com/tokens/${hash.slice(2, 34)}/large/made-up-token-${index}.png`,
    coinGeckoId: index % 2 === 0 ? `made-up-coin-${index % COINS}` : '',
  }
}
