import { describe, expect } from 'vitest'
import { refreshMarket } from '../../../functions/jobs/refresh-market/handler.ts'
import { CHAINS } from '../../../lib/chain/registry.ts'
import {
  EXCHANGE_RATES_KEY,
  MARKET_DATA_KEY,
  PRICES_KEYS,
  pricesKey,
  tokensKey,
} from '../../../lib/markets/cache-keys.ts'
import type { ListedToken, TokenPrice } from '../../../lib/markets/coin.ts'
import type { PriceSources } from '../../../lib/markets/source.ts'
import { captureLogs } from '../../support/logs.ts'
import {
  test as base,
  CLOCK_START,
  DAI,
  rewriteJson,
  SOURCE_FAILURES,
  someSource,
  USDC,
} from '../../support/markets.ts'

type Row = { id: string; current_price: unknown; price_change_percentage_24h: unknown }
type Llama = { coins: Record<string, { price: number; timestamp: number }> }

const BASE = pricesKey('base-mainnet')
const DAY = 86_400

/** Tokens of Base. ETH and USDC have a CoinGecko id, and DAI has none. */
const TOKENS: ListedToken[] = [
  { ...named('ETH'), address: 'native', coinGeckoId: 'ethereum' },
  { ...named('USDC'), address: USDC.address, coinGeckoId: 'usd-coin' },
  { ...named('DAI'), address: DAI.address, coinGeckoId: '' },
]

/**
 * Number of stored coins. The simulated market, Bitcoin, MORPHO and three dollar coins are 295 coins. The native coins
 * are added, but chains with the same native coin count once.
 */
const COINS = 295 + new Set(CHAINS.map(({ nativeCoin }) => nativeCoin.coinGeckoId)).size
/** Number of stored prices: one for the native coin of each chain, and two for other tokens of Base. */
const PRICES = CHAINS.length + 2
const WITH_ETHER = CHAINS.filter(({ nativeCoin }) => nativeCoin.coinGeckoId === 'ethereum')
const OF_ETHER = WITH_ETHER.length

function named(symbol: string) {
  return { chain: 'base-mainnet', symbol, name: symbol, decimals: 18, coinKey: symbol, logoUrl: '' }
}

/**
 * `marketSeconds` is the interval between reads of the market, and `after` the time since the previous run. Both are
 * in seconds.
 */
type Run = { readonly marketSeconds?: number; readonly after?: number; readonly priceSources?: PriceSources }

const test = base
  .extend('run', async ({ world, cache, clock }) => {
    captureLogs()
    for (const chain of CHAINS) {
      const native = { ...named(chain.nativeCoin.symbol), chain: chain.key, address: 'native' }
      const own = [{ ...native, coinGeckoId: chain.nativeCoin.coinGeckoId }]
      await cache.put(tokensKey(chain.key), chain.key === 'base-mainnet' ? TOKENS : own)
    }
    return async ({ marketSeconds = 0, after = 0, priceSources = world.priceSources }: Run = {}) => {
      clock.pass(after)
      return refreshMarket({ ...world, marketSeconds, priceSources })
    }
  })
  .extend('prices', ({ cache }) => async (): Promise<Record<string, TokenPrice>> => {
    const { BASE: cached } = await cache.get({ BASE })
    return cached?.value ?? {}
  })
  /** Returns the paths that the service has requested from a simulated provider since the last call. */
  .extend('takeRequests', ({ fakes }) => (name: keyof typeof fakes) => {
    const { requests } = fakes[name]
    return requests.splice(0).map((path) => path.split('?')[0])
  })
  .extend('tell', ({ fakes }) => (id: string, price: unknown, change: unknown = 1) => {
    rewriteJson(fakes.coinGecko, (body, { pathname }) =>
      pathname.endsWith('/coins/markets')
        ? (body as Row[]).map((row) =>
            row.id === id ? { ...row, current_price: price, price_change_percentage_24h: change } : row,
          )
        : body,
    )
  })
  .extend('tellLlama', ({ fakes }) => (token: string, price: number | undefined) => {
    rewriteJson(fakes.defiLlama, (body, { pathname }) => {
      const { coins } = body as Llama
      const coin = coins[token]
      if (coin && pathname.includes('/current/')) {
        if (price === undefined) delete coins[token]
        else coin.price = price
      }
      return body
    })
  })

describe('A run', () => {
  test('stores the market, the rates and the prices of all tokens', async ({ run, cache, prices, takeRequests }) => {
    expect(await run()).toEqual({
      coins: COINS,
      currencies: expect.any(Number),
      prices: PRICES,
      olderPrices: 0,
      outliers: 0,
      failures: [],
      lagSeconds: 0,
    })
    expect(takeRequests('coinGecko').toSorted()).toEqual([...Array(4).fill('/coins/markets'), '/simple/price'])
    expect(takeRequests('defiLlama')).toEqual([
      `/prices/current/base:${DAI.address}`,
      `/prices/historical/${CLOCK_START / 1000 - DAY}/base:${DAI.address}`,
    ])
    const { market, rates } = await cache.get({ market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY })
    expect(new Set(market?.value.map(({ id }) => id)).size).toBe(COINS)
    expect(rates?.value.usd).toEqual({ now: 1, dayAgo: 1 })
    expect(rates?.value.eur?.now).toBeGreaterThan(0.5)

    const ether = market?.value.find(({ id }) => id === 'ethereum')
    const { native, [DAI.address]: dai } = await prices()
    expect(native).toMatchObject({ now: ether?.price, at: CLOCK_START })
    expect((native?.now ?? 0) / (native?.dayAgo ?? 1)).toBeCloseTo(1 + (ether?.change24h ?? 0) / 100, 9)
    expect(dai).toEqual({ now: expect.closeTo(1, 1), dayAgo: expect.closeTo(1, 1), at: CLOCK_START })
    const cached = await cache.get(PRICES_KEYS)
    for (const { key } of CHAINS) expect(cached[`prices ${key}`]).toMatchObject({ isStale: false })
  })

  test('requests CoinGecko as rarely as its plan demands, and gets all prices from DefiLlama in between', async ({
    run,
    takeRequests,
    prices,
    clock,
  }) => {
    const seldom = { marketSeconds: 1800, after: 300 }
    await run(seldom)
    expect(takeRequests('coinGecko')).toHaveLength(5)
    for (const _ of [1, 2, 3, 4, 5]) {
      expect(await run(seldom)).toMatchObject({
        coins: null,
        currencies: null,
        prices: PRICES,
        failures: [],
        lagSeconds: 0,
      })
    }
    expect(takeRequests('coinGecko')).toEqual([])
    expect((await prices())['native']?.at).toBeGreaterThan(clock.now() - 60_000)
    expect(takeRequests('defiLlama')).toContain('/prices/current/coingecko:ethereum')
    // The interval of 1,800 s ends only in 10 s. The job already reads the market, because schedules are not exact to
    // the second.
    expect(await run({ ...seldom, after: 290 })).toMatchObject({ coins: COINS })
    expect(takeRequests('coinGecko')).toHaveLength(5)
  })

  test('sends CoinGecko under 10,000 requests a month on the free plan, with some left for users', async ({
    run,
    takeRequests,
  }) => {
    let requestCount = 0
    for (let minutes = 0; minutes < 120; minutes += 5) {
      await run({ marketSeconds: 1800, after: 300 })
      requestCount += takeRequests('coinGecko').length
      takeRequests('defiLlama')
    }
    const inAMonth = requestCount * 12 * 31 + 24 * 31
    expect(inAMonth).toBeLessThan(8_500)
  })
})

describe('A price', () => {
  test('that is zero, negative or no number is replaced by that of DefiLlama', async ({
    run,
    tell,
    prices,
    takeRequests,
  }) => {
    for (const wrong of [0, -5, null, 'NaN', '3000', {}]) {
      tell('ethereum', wrong)
      await run({ after: 300 })
      expect(takeRequests('defiLlama')[0]).toContain('coingecko:ethereum')
      expect((await prices())['native']?.now).toBeGreaterThan(100)
    }
  })

  test('has no value of a day ago if that is unknown', async ({ run, tell, fakes, prices }) => {
    tell('ethereum', 3000, null)
    fakes.defiLlama.rewrite = (reply, { url }) => (url.pathname.includes('historical') ? 'hang up' : reply)
    expect(await run()).toMatchObject({ prices: PRICES, failures: ['prices base-mainnet'] })
    const { native, [DAI.address]: dai } = await prices()
    expect(native).toMatchObject({ now: 3000, dayAgo: null })
    expect(dai).toMatchObject({ now: expect.closeTo(1, 1), dayAgo: null })
  })

  test('that no source reports any longer stays for a day, with its time', async ({ run, tellLlama, prices }) => {
    await run()
    const dai = (await prices())[DAI.address]
    tellLlama(`base:${DAI.address}`, undefined)
    expect(await run({ after: 300 })).toMatchObject({ prices: PRICES - 1, olderPrices: 1, outliers: 0, failures: [] })
    expect((await prices())[DAI.address]).toEqual(dai)
    await run({ after: DAY - 301 })
    await run({ after: 1 })
    expect((await prices())[DAI.address]).toEqual(dai)
    expect(await run({ after: 1 })).toMatchObject({ prices: PRICES - 1, olderPrices: 0 })
    expect(await prices()).not.toHaveProperty(DAI.address)
  })
})

describe('A price that jumps tenfold within an hour', () => {
  test.for([[33_000], [0.0001]])(
    'to %f only in the market is ignored until an hour has passed',
    async ([wrong], { run, tell, prices }) => {
      tell('ethereum', 3000)
      await run()
      tell('ethereum', wrong)
      for (const _ of [1, 2]) {
        expect(await run({ after: 1800 })).toMatchObject({
          prices: PRICES - OF_ETHER,
          olderPrices: 0,
          outliers: OF_ETHER,
        })
        expect((await prices())['native']).toMatchObject({ now: 3000, at: CLOCK_START })
      }
      expect(await run({ after: 1 })).toMatchObject({ prices: PRICES, outliers: 0 })
      expect((await prices())['native']?.now).toBe(wrong)
    },
  )

  test('is accepted if both sources report it', async ({ run, tell, prices, takeRequests }) => {
    tell('ethereum', 30)
    await run()
    takeRequests('defiLlama')
    // Both providers report the original price again, which is a hundred times the stored price. They agree, so the
    // job accepts the price.
    tell('nothing', 1)
    expect(await run({ after: 300 })).toMatchObject({ prices: PRICES, outliers: 0 })
    expect((await prices())['native']?.now).toBeGreaterThan(1000)
    expect(takeRequests('defiLlama').at(-1)).toBe('/prices/current/coingecko:ethereum')
  })

  test('only at DefiLlama is ignored, and accepted if the market confirms it', async ({
    run,
    tellLlama,
    prices,
    cache,
  }) => {
    const listedTokens = [{ ...TOKENS[2], coinGeckoId: 'dai' } as ListedToken]
    await run({ marketSeconds: 1800 })
    const before = await prices()
    tellLlama(`base:${DAI.address}`, 20)
    expect(await run({ marketSeconds: 1800, after: 300 })).toMatchObject({ outliers: 1 })
    expect((await prices())[DAI.address]).toEqual(before[DAI.address])
    // The stored list of tokens now gives DAI the CoinGecko id `dai`. The market's price of that coin confirms the
    // outlier 1.1, so the job accepts it.
    await cache.put(tokensKey('base-mainnet'), listedTokens)
    await cache.put(BASE, { [DAI.address]: { now: 0.05, dayAgo: null, at: CLOCK_START } })
    tellLlama(`base:${DAI.address}`, 1.1)
    expect(await run({ marketSeconds: 1800, after: 300 })).toMatchObject({ outliers: 0 })
    expect((await prices())[DAI.address]?.now).toBe(1.1)
  })

  test('by less than ten times needs no second source', async ({ run, tell, prices }) => {
    tell('ethereum', 3000)
    await run()
    tell('ethereum', 29_999)
    expect(await run({ after: 300 })).toMatchObject({ prices: PRICES, outliers: 0 })
    expect((await prices())['native']?.now).toBe(29_999)
  })
})

describe.for(SOURCE_FAILURES)('When a source %s,', ([, fail]) => {
  test('the market and the rates stay as they were, and the prices are DefiLlama’s', async ({
    run,
    cache,
    prices,
    fakes,
    clock,
  }) => {
    await run()
    const before = await cache.get({ market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY })
    fakes.coinGecko.rewrite = fail
    expect(await run({ after: 600 })).toEqual({
      coins: null,
      currencies: null,
      prices: PRICES,
      olderPrices: 0,
      outliers: 0,
      failures: ['market', 'rates'],
      lagSeconds: 600,
    })
    expect(await cache.get({ market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY })).toEqual(before)
    expect((await prices())['native']?.at).toBeGreaterThan(clock.now() - 60_000)
  })

  test('the prices that only it reports stay as they were', async ({ run, prices, fakes }) => {
    await run()
    const before = await prices()
    fakes.defiLlama.rewrite = fail
    const report = await run({ after: 300 })
    expect(report).toMatchObject({
      coins: COINS,
      prices: PRICES - 1,
      olderPrices: 1,
      failures: ['prices base-mainnet'],
    })
    expect(report.lagSeconds).toBe(300)
    expect((await prices())[DAI.address]).toEqual(before[DAI.address])
  })

  test('and another responds without its prices, the run reports them as missing', async ({ run, world, fakes }) => {
    const priceSources: PriceSources = [...world.priceSources, someSource()]
    await run({ priceSources })
    fakes.defiLlama.rewrite = fail
    const report = await run({ priceSources, after: 300 })
    expect(report).toMatchObject({
      prices: PRICES - 1,
      olderPrices: 1,
      failures: ['prices base-mainnet'],
      lagSeconds: 300,
    })
  })

  test('and another reports its prices, nothing is missing and no request is empty', async ({ run, world, fakes }) => {
    const requests: (readonly string[])[] = []
    const knowing = someSource({
      fetchPrices: async (coins) => {
        requests.push(coins)
        return new Map(coins.map((coin) => [coin, { price: 1, at: world.now() }]))
      },
    })
    fakes.defiLlama.rewrite = fail
    const report = await run({ priceSources: [...world.priceSources, knowing, someSource()] })
    expect(report).toMatchObject({ prices: PRICES, failures: [], lagSeconds: 0 })
    expect(requests).toEqual([[`base:${DAI.address}`], [`base:${DAI.address}`]])
  })

  test('and the other does too, the run fails and all stays as it was', async ({ run, cache, fakes }) => {
    await run()
    const questions = { market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY, BASE }
    const before = await cache.get(questions)
    for (const source of [fakes.coinGecko, fakes.defiLlama]) source.rewrite = fail
    await expect(run({ after: 60 })).rejects.toMatchObject({ code: expect.stringMatching(/^upstream_/) })
    expect(await cache.get(questions)).toEqual(before)
  })
})

describe('Rates', () => {
  test('for less than nine tenths of the currencies do not replace the stored ones', async ({ run, cache, fakes }) => {
    const { currencies } = await run()
    rewriteJson(fakes.coinGecko, (body, { pathname }) =>
      pathname.endsWith('/simple/price') ? { bitcoin: { usd: 90_000, eur: 80_000 } } : body,
    )
    expect(await run({ after: 300 })).toMatchObject({ currencies: null, failures: ['rates'], lagSeconds: 300 })
    const { rates } = await cache.get({ rates: EXCHANGE_RATES_KEY })
    expect(Object.keys(rates?.value ?? {})).toHaveLength(currencies ?? 0)
  })
})

describe('A market', () => {
  test.for<[string, (rows: Row[], page: string | null) => unknown]>([
    ['without coins', () => []],
    ['of less than nine tenths of the coins', (rows, page) => (page === '1' ? rows.slice(0, 100) : [])],
    ['with a page that is empty', (rows, page) => (page === '1' ? rows : [])],
    ['of invalid coins', () => [{}, 7, null]],
  ])('%s does not replace the stored one', async ([, change], { run, cache, fakes }) => {
    await run()
    rewriteJson(fakes.coinGecko, (body, { pathname, searchParams }) =>
      pathname.endsWith('/coins/markets') ? change(body as Row[], searchParams.get('page')) : body,
    )
    expect(await run({ after: 300 })).toMatchObject({ coins: null, failures: ['market'], lagSeconds: 300 })
    expect((await cache.get({ market: MARKET_DATA_KEY })).market?.value).toHaveLength(COINS)
  })

  test('with one failed page is not stored', async ({ run, fakes, cache }) => {
    fakes.coinGecko.rewrite = (reply, { url }) => (url.searchParams.get('page') === '2' ? 'hang up' : reply)
    expect(await run()).toMatchObject({ coins: null, failures: ['market'], lagSeconds: DAY })
    expect((await cache.get({ market: MARKET_DATA_KEY })).market).toBeUndefined()
  })

  test('lists a coin from two pages once', async ({ run, fakes, cache }) => {
    let first: Row[] = []
    rewriteJson(fakes.coinGecko, (body, { pathname, searchParams }) => {
      if (!pathname.endsWith('/coins/markets')) return body
      if (searchParams.get('page') === '1') first = body as Row[]
      return searchParams.get('page') === '3' ? first : body
    })
    expect(await run()).toMatchObject({ coins: COINS })
    expect((await cache.get({ market: MARKET_DATA_KEY })).market?.value).toHaveLength(COINS)
  })
})

describe('Prices of a chain', () => {
  test('stay as they were and become stale if no source reports any', async ({ run, cache, fakes, tell }) => {
    await run()
    tell('ethereum', null)
    rewriteJson(fakes.defiLlama, () => ({ coins: {} }))
    const report = await run({ after: 900 })
    expect(report.failures).toEqual(
      WITH_ETHER.filter(({ key }) => key !== 'base-mainnet').map(({ key }) => `prices ${key}`),
    )
    expect(report.lagSeconds).toBe(900)
    const { ETH, BASE: base } = await cache.get({ ETH: pricesKey('eth-mainnet'), BASE })
    expect(ETH).toMatchObject({ asOf: new Date(CLOCK_START), isStale: true })
    expect(base?.isStale).toBe(false)
  })

  test('for ten thousand tokens that were not requested are not stored', async ({ run, fakes, prices }) => {
    rewriteJson(fakes.defiLlama, (body) => {
      const { coins } = body as Llama
      const [some] = Object.values(coins)
      const more = Array.from({ length: 10_000 }, (_, index) => [`base:0x${index}`, some])
      return { coins: { ...Object.fromEntries(more), ...coins } }
    })
    await run()
    expect(Object.keys(await prices())).toHaveLength(3)
  })
})
