import { getAddress, keccak256, sliceHex, toHex } from 'viem'
import type { SharedCache } from '../../lib/cache/cache.ts'
import { CHAINS } from '../../lib/chain/registry.ts'
import { MARKET, pricesKey, RATES, tokensKey } from '../../lib/markets/cache-keys.ts'
import type { ListedToken, MarketCoin } from '../../lib/markets/coin.ts'
import { CURRENCIES } from '../../lib/markets/currency.ts'

const COINS = 1_000

/** Puts a made-up market of so many tokens, the same number on each chain, and of the 1,000 largest coins, as the jobs put theirs. */
export async function putMarket(cache: Pick<SharedCache, 'put'>, tokens: number): Promise<void> {
  await cache.put(MARKET, Array.from({ length: COINS }, buildCoin))
  await cache.put(RATES, Object.fromEntries(CURRENCIES.map((currency) => [currency, { now: 1.1, dayAgo: 1.09 }])))
  for (const [place, chain] of CHAINS.entries()) {
    const first = Math.round((place * tokens) / CHAINS.length)
    const end = Math.round(((place + 1) * tokens) / CHAINS.length)
    const listed = Array.from({ length: end - first }, (_, i) => buildToken(chain.key, first + i))
    await cache.put(tokensKey(chain.key), listed)
    const prices = listed.map(({ address }, i) => [
      address,
      { now: 1.2345 * (i + 1), dayAgo: 1.2 * (i + 1), at: Date.now() },
    ])
    await cache.put(pricesKey(chain.key), Object.fromEntries(prices))
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
