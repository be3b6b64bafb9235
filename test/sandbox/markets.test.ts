import { getAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { CHAINS } from '../../lib/chain/registry.ts'
import { Config } from '../../lib/config.ts'
import { createUpstream } from '../../lib/http.ts'
import { coinGecko } from '../../lib/markets/coingecko.ts'
import { CURRENCIES } from '../../lib/markets/currency.ts'
import { defiLlama } from '../../lib/markets/defillama.ts'
import { liFi } from '../../lib/markets/lifi.ts'
import { startBackends } from '../../sandbox/backends.ts'
import { type Providers, startProviders } from '../../sandbox/providers.ts'
import { createRelayer } from '../../sandbox/relayer.ts'

const NOW = Date.UTC(2026, 10, 21, 10, 30, 42, 123)
const MINUTE = Date.UTC(2026, 10, 21, 10, 30)
const DAY = 86_400_000
const BASE_USDC = getAddress('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
const TOKENS = [
  { chainId: 8453, address: BASE_USDC, name: 'USD Coin', symbol: 'USDC', decimals: 6 },
  {
    chainId: 8453,
    address: getAddress('0x50c5725949a6f0c72e6c4a641f24049a917db0cb'),
    name: 'Dai Stablecoin',
    symbol: 'DAI',
    decimals: 18,
  },
]

let providers: Providers
beforeAll(async () => {
  const chains = [{ chainId: 8453, rpcUrl: 'http://127.0.0.1:1', blockSeconds: undefined, tokens: TOKENS }]
  providers = await startProviders({ secrets: {}, chains, relayer: createRelayer({ chains: [] }), now: () => NOW })
})
afterAll(() => providers.stop())
afterEach(() => {
  for (const fake of [providers.coinGecko, providers.defiLlama, providers.liFi]) {
    fake.rewrite = undefined
    fake.requests.length = 0
  }
})

const upstream = (name: string, headers = {}) =>
  createUpstream(
    { name, url: `${providers.url}/${name}`, headers },
    { fetch, random: Math.random, now: () => performance.now() },
  )
const gecko = (headers = {}) => coinGecko(upstream('coingecko', headers))
const llama = () => defiLlama(upstream('defillama'), { now: () => NOW })
const tokenList = () => liFi(upstream('lifi'))

describe('the market', () => {
  test('has about 300 coins on two pages, each named as what it is', async () => {
    const coins = [...(await gecko().fetchMarketPage(1)), ...(await gecko().fetchMarketPage(2))]
    expect(coins).toHaveLength(299)
    expect(new Set(coins.map(({ id }) => id)).size).toBe(299)
    expect(coins.every(({ name }) => /made-up/i.test(name))).toBe(true)
    expect(coins.slice(0, 2).map(({ id, rank }) => [id, rank])).toEqual([
      ['bitcoin', 1],
      ['ethereum', 2],
    ])
    expect(coins.find(({ id }) => id === 'made-up-coin-17')).toMatchObject({ name: 'Made-up Coin 17' })
    expect(await gecko().fetchMarketPage(3)).toEqual([])
  })

  test('has a coin without a price and one without a change, as the real one', async () => {
    const coins = await gecko().fetchMarketPage(2)
    expect(coins.find(({ id }) => id === 'made-up-coin-290')).toMatchObject({
      price: null,
      marketCap: null,
      rank: null,
    })
    expect(coins.find(({ id }) => id === 'made-up-coin-289')).toMatchObject({ change24h: null })
    expect(coins.find(({ id }) => id === 'made-up-coin-289')?.price).toBeGreaterThan(0)
  })

  test.each(CHAINS.map(({ key, nativeCoin }) => [key, nativeCoin.coinGeckoId]))(
    'has the own coin of %s',
    async (_, id) => {
      const [coin] = await gecko().fetchCoins([id], 'usd')
      expect(coin).toMatchObject({ id, updatedAt: MINUTE })
      expect(coin?.price).toBeGreaterThan(0)
    },
  )

  test('finds coins by a part of their name', async () => {
    const found = await gecko().searchCoins('coin 17')
    expect(found[0]).toMatchObject({ id: 'made-up-coin-17', apiSymbol: 'made-up-coin-17', symbol: 'MADE17' })
    expect(await gecko().searchCoins('no such coin')).toEqual([])
  })
})

describe('one coin', () => {
  test.each(['bitcoin', 'solana', 'made-up-coin-3'])(
    'has one price in all that is told of %s: its quote, the market, its charts and DefiLlama',
    async (id) => {
      const [quote] = await gecko().fetchCoins([id], 'usd')
      if (!quote) throw new Error('There is no quote')
      const page = await gecko().fetchMarketPage(1)
      expect(page.find((coin) => coin.id === id)).toMatchObject({ price: quote.price, change24h: quote.change24h })
      for (const days of [1, 90, 365]) {
        const answer = await gecko().fetchChart({ id }, 'usd', days)
        expect(answer?.chart.prices.at(-1)).toEqual([MINUTE, quote.price])
        expect(answer?.chart.marketCaps.at(-1)).toEqual([MINUTE, quote.marketCap])
        expect(answer?.chart.volumes.at(-1)).toEqual([MINUTE, quote.volume])
      }
      const name = `coingecko:${id}`
      expect(await llama().fetchPrices([name])).toEqual(new Map([[name, { price: quote.price, at: MINUTE }]]))
      const elsewhere = await llama().fetchChart(name, 1, NOW)
      expect(elsewhere?.prices.at(-1)).toEqual([MINUTE, quote.price])
    },
  )

  test.each(['usd', 'eur', 'btc'] as const)('has a change in %s that its chart of a day shows', async (currency) => {
    const [quote] = await gecko().fetchCoins(['ethereum'], currency)
    const answer = await gecko().fetchChart({ id: 'ethereum' }, currency, 1)
    const [dayAgo, price = Number.NaN] = answer?.chart.prices[0] ?? []
    if (!quote) throw new Error('There is no quote')
    expect(dayAgo).toBe(MINUTE - DAY)
    expect(quote.change24h).toBeCloseTo((quote.price / price - 1) * 100, 6)
    expect(quote.priceChange24h).toBeCloseTo(quote.price - price, 6)
    expect(quote.change24h).not.toBe(0)
    expect(quote.high24h).toBeGreaterThanOrEqual(quote.price)
    expect(quote.low24h).toBeLessThanOrEqual(price)
    expect(quote.allTimeHigh).toBeGreaterThanOrEqual(quote.high24h ?? 0)
  })

  test('has the price of a day ago at DefiLlama too', async () => {
    const answer = await gecko().fetchChart({ id: 'bitcoin' }, 'usd', 1)
    const prices = await llama().fetchPricesAt(['coingecko:bitcoin'], new Date(NOW - DAY))
    expect(prices.get('coingecko:bitcoin')).toEqual({ price: answer?.chart.prices[0]?.[1], at: MINUTE - DAY })
  })

  test('moves smoothly', async () => {
    const answer = await gecko().fetchChart({ id: 'made-up-coin-3' }, 'usd', 1)
    const prices = answer?.chart.prices.map(([, price]) => price) ?? []
    expect(prices).toHaveLength(289)
    for (const [index, price] of prices.slice(1).entries()) {
      expect(Math.abs(price / (prices[index] ?? 0) - 1)).toBeLessThan(0.005)
    }
  })
})

describe('a chart', () => {
  test('has the density of the real one: 5 minutes for a day, an hour up to 90, a day beyond', async () => {
    const lengths = await Promise.all(
      [1, 2, 90, 91, 365].map(
        async (days) => (await gecko().fetchChart({ id: 'dai' }, 'usd', days))?.chart.prices.length,
      ),
    )
    expect(lengths).toEqual([289, 49, 2161, 92, 366])
  })

  test('of all time is one of 365 days without a plan for more, and of all time with one', async () => {
    const shorter = await gecko().fetchChart({ id: 'bitcoin' }, 'eur', 'max')
    expect(shorter?.days).toBe(365)
    expect(shorter?.chart.prices).toHaveLength(366)
    expect(providers.coinGecko.requests.map((path) => new URLSearchParams(path.split('?')[1]).get('days'))).toEqual([
      'max',
      '365',
    ])
    const whole = await gecko({ 'x-cg-pro-api-key': 'a-key' }).fetchChart({ id: 'bitcoin' }, 'eur', 'max')
    expect(whole?.days).toBe('max')
    expect(whole?.chart.prices[0]?.[0]).toBe(Date.UTC(2018, 0, 1))
  })

  test('is found by the contract of a local token too, and nobody knows another', async () => {
    const byId = await gecko().fetchChart({ id: 'usd-coin' }, 'usd', 1)
    expect(await gecko().fetchChart({ platform: 'base', address: BASE_USDC }, 'usd', 1)).toEqual(byId)
    expect(await gecko().fetchChart({ platform: 'ethereum', address: BASE_USDC }, 'usd', 1)).toBeNull()
    expect(await gecko().fetchChart({ id: 'no-such-coin' }, 'usd', 1)).toBeNull()
    expect((await llama().fetchChart(`base:${BASE_USDC}`, 1, NOW))?.prices).toHaveLength(289)
    expect(await llama().fetchChart('base:0x0000000000000000000000000000000000000001', 1, NOW)).toBeNull()
  })
})

describe('currencies', () => {
  test('are all known, and a price in one is the price in dollars at its rate', async () => {
    const rates = await gecko().fetchRates()
    expect(Object.keys(rates).sort()).toEqual([...CURRENCIES].sort())
    expect(rates.usd).toEqual({ now: 1, dayAgo: 1 })
    const [dollars] = await gecko().fetchCoins(['solana'], 'usd')
    for (const currency of ['eur', 'jpy', 'sats', 'eth'] as const) {
      const [quote] = await gecko().fetchCoins(['solana'], currency)
      const rate = rates[currency]?.now ?? Number.NaN
      expect(((dollars?.price ?? Number.NaN) * rate) / (quote?.price ?? Number.NaN)).toBeCloseTo(1, 8)
    }
  })

  test('have a rate of a day ago that agrees with the charts', async () => {
    const [rates, euros, dollars] = await Promise.all([
      gecko().fetchRates(),
      gecko().fetchChart({ id: 'solana' }, 'eur', 1),
      gecko().fetchChart({ id: 'solana' }, 'usd', 1),
    ])
    const before = (euros?.chart.prices[0]?.[1] ?? 0) / (dollars?.chart.prices[0]?.[1] ?? 0)
    expect(rates.eur?.dayAgo).toBeCloseTo(before, 7)
    expect(rates.eur?.dayAgo).not.toBeCloseTo(rates.eur?.now ?? 0, 7)
  })
})

describe('tokens', () => {
  test('are the local ones and the own coin of every chain', async () => {
    const tokens = await tokenList().fetchTokens()
    expect([...tokens.keys()]).toEqual(CHAINS.map(({ key }) => key))
    expect(tokens.get('base-mainnet')?.map(({ address, coinKey, decimals }) => [address, coinKey, decimals])).toEqual([
      ['native', 'ETH', 18],
      [BASE_USDC, 'USDC', 6],
      [TOKENS[1]?.address, 'DAI', 18],
    ])
    expect(tokens.get('solana-mainnet')).toEqual([
      {
        chain: 'solana-mainnet',
        address: 'native',
        symbol: 'SOL',
        name: 'Solana',
        decimals: 9,
        coinKey: 'SOL',
        logoUrl: 'https://images.example/tokens/sol.png',
        coinGeckoId: '',
      },
      expect.objectContaining({ symbol: 'USDT', address: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', decimals: 6 }),
      expect.objectContaining({ symbol: 'USDC', address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', decimals: 6 }),
    ])
  })

  test('have a CoinGecko id by their contract', async () => {
    expect(await gecko().fetchCoinIds()).toEqual(
      new Map([
        [`base:${BASE_USDC.toLowerCase()}`, 'usd-coin'],
        ['base:0x50c5725949a6f0c72e6c4a641f24049a917db0cb', 'dai'],
        ['solana:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'usd-coin'],
        ['solana:Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'tether'],
      ]),
    )
  })

  test('and the own coins of chains have a price at DefiLlama', async () => {
    const coins = [`base:${BASE_USDC}`, 'ethereum:0x0000000000000000000000000000000000000000', 'base:0xnone']
    const prices = await llama().fetchPrices(coins)
    expect([...prices.keys()]).toEqual(coins.slice(0, 2))
  })
})

describe('the fakes', () => {
  test('remember what they were asked, the last thousand', async () => {
    await gecko().fetchMarketPage(2)
    await llama().fetchPrices(['coingecko:bitcoin'])
    await tokenList().fetchTokens()
    expect(providers.coinGecko.requests).toEqual([expect.stringMatching(/^\/coins\/markets\?.*page=2/)])
    expect(providers.defiLlama.requests).toEqual(['/prices/current/coingecko:bitcoin'])
    expect(providers.liFi.requests).toEqual([expect.stringMatching(/^\/tokens\?chains=1%2C10/)])
    for (let count = 0; count < 1_005; count += 1) await fetch(`${providers.url}/coingecko/ping?${count}`)
    expect(providers.coinGecko.requests).toHaveLength(1_000)
    expect(providers.coinGecko.requests.at(-1)).toBe('/ping?1004')
  })

  test('fail as they are told, each by itself', async () => {
    providers.coinGecko.rewrite = () => ({ status: 429, body: 'Throttled', headers: { 'retry-after': '17' } })
    providers.defiLlama.rewrite = () => 'hang up'
    await expect(gecko().fetchMarketPage(1)).rejects.toMatchObject({
      code: 'upstream_unavailable',
      headers: { 'retry-after': '17' },
    })
    await expect(llama().fetchPrices(['coingecko:bitcoin'])).rejects.toMatchObject({ code: 'upstream_unavailable' })
    expect((await tokenList().fetchTokens()).size).toBe(8)
    expect(providers.coinGecko.requests).toHaveLength(1)
    expect(providers.defiLlama.requests).toHaveLength(2)
  })
})

describe('the functions of the local service', () => {
  /** The configuration that they read. */
  const configOf = async (options: { realMarkets?: boolean }) => {
    const backends = await startBackends({ chainIds: [], ...options })
    const { AWS_ENDPOINT_URL_SECRETS_MANAGER: url = '', CONFIG_SECRET } = backends.environment
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-amz-target': 'secretsmanager.GetSecretValue' },
      body: JSON.stringify({ SecretId: CONFIG_SECRET }),
    })
    const { SecretString } = z.object({ SecretString: z.string() }).parse(await response.json())
    await backends.stop()
    return { config: Config.parse(JSON.parse(SecretString)), url: backends.providers.url }
  }

  test('are configured for the made-up market', async () => {
    const { config, url } = await configOf({})
    expect([config.coinGecko.url, config.defiLlama.url, config.liFi.url]).toEqual([
      `${url}/coingecko`,
      `${url}/defillama`,
      `${url}/lifi`,
    ])
  })

  test('are configured for the real services when that is asked for', async () => {
    const { config } = await configOf({ realMarkets: true })
    expect([config.coinGecko.url, config.defiLlama.url, config.liFi.url]).toEqual([
      'https://api.coingecko.com/api/v3',
      'https://coins.llama.fi',
      'https://li.quest/v1',
    ])
  })
})
