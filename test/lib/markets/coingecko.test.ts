import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Chart, CoinQuote, FoundCoin, MarketCoin } from '../../../lib/markets/coin.ts'
import { createCoinGecko } from '../../../lib/markets/coingecko.ts'
import { CURRENCIES } from '../../../lib/markets/currency.ts'
import { createFakeUpstream, type FakeReply } from '../../support/upstream.ts'

const NOW = Date.UTC(2026, 10, 21, 10, 30)
const DAY = 86_400_000

const BITCOIN = {
  id: 'bitcoin',
  symbol: 'btc',
  name: 'Bitcoin',
  image: 'https://coin-images.coingecko.com/coins/images/1/large/bitcoin.png?1696501400',
  current_price: 92342,
  market_cap: 1842012345678,
  market_cap_rank: 1,
  fully_diluted_valuation: 1842012345678,
  total_volume: 61234567890,
  high_24h: 93012,
  low_24h: 90122.5,
  price_change_24h: -671.3344,
  price_change_percentage_24h: -0.72176,
  market_cap_change_24h: -13412345678,
  market_cap_change_percentage_24h: -0.72288,
  circulating_supply: 19949856,
  total_supply: 19949856,
  max_supply: 21000000,
  ath: 126080,
  ath_change_percentage: -26.75901,
  ath_date: '2025-10-06T18:57:42.558Z',
  atl: 67.81,
  atl_change_percentage: 136078.2,
  atl_date: '2013-07-06T00:00:00.000Z',
  roi: null,
  last_updated: '2026-11-21T10:29:41.123Z',
  price_change_percentage_24h_in_currency: -0.7217635,
  a_field_of_tomorrow: { nobody: 'knows' },
}
const UNKNOWN = {
  ...BITCOIN,
  id: 'some-coin',
  symbol: 'some',
  name: 'Some Coin',
  image: 'missing_large.png',
  current_price: null,
  market_cap: 0,
  market_cap_rank: null,
  total_volume: null,
  high_24h: null,
  low_24h: null,
  price_change_24h: null,
  price_change_percentage_24h: null,
  circulating_supply: 0,
  total_supply: null,
  max_supply: null,
  ath: null,
  atl: null,
  last_updated: null,
}
const QUERY = (url: URL | undefined) => Object.fromEntries(url?.searchParams ?? [])

/** Error responses of CoinGecko in its three formats. Each has the service's error code. */
const REFUSALS: readonly (readonly [string, FakeReply, string])[] = [
  [
    'without a key',
    { status: 401, body: { status: { error_code: 10002, error_message: 'API Key Missing' } } },
    'upstream_unavailable',
  ],
  [
    'for the plan',
    { status: 403, body: { error: { status: { error_code: 10005, error_message: 'x' } } } },
    'upstream_unavailable',
  ],
  [
    'for the plan, as a bad request',
    { status: 400, body: { error: { status: { error_code: 10005 } } } },
    'upstream_unavailable',
  ],
  [
    'for the host',
    { status: 400, body: { status: { error_code: 10011, error_message: 'x' } } },
    'upstream_unavailable',
  ],
  ['at its edge', { status: 403, body: '<html>error code: 1020</html>' }, 'upstream_unavailable'],
  ['for the rate', { status: 429, body: { status: { error_code: 429, error_message: 'x' } } }, 'upstream_unavailable'],
  ['for a parameter', { status: 422, body: { error: 'Missing parameter vs_currency' } }, 'upstream_bad_answer'],
  ['in HTML', { status: 404, body: '<html>Not here</html>' }, 'upstream_bad_answer'],
]
const NONSENSE: readonly (readonly [string, FakeReply])[] = [
  ['HTML', { body: '<html>Welcome</html>' }],
  ['truncated JSON', { body: '[{"id":"bitcoin","sym' }],
  ['an object of errors', { body: { status: { error_code: 429 } } }],
  ['null', { body: 'null' }],
  ['rows of another shape', { body: [{ coin: 'bitcoin' }, 7, null] }],
]

describe('A page of the market', () => {
  test('is requested by market capitalisation, with 250 coins a page', async () => {
    const { ask, urls } = createFakeUpstream(() => ({ body: [BITCOIN] }))
    await createCoinGecko(ask).fetchMarketPage(3)
    expect(urls.map(({ pathname }) => pathname)).toEqual(['/api/coins/markets'])
    expect(QUERY(urls[0])).toEqual({
      vs_currency: 'usd',
      order: 'market_cap_desc',
      per_page: '250',
      page: '3',
      price_change_percentage: '24h',
    })
  })

  test('has the known fields of each coin, and null for the rest', async () => {
    const { ask } = createFakeUpstream(() => ({ body: [BITCOIN, UNKNOWN] }))
    const coins = await createCoinGecko(ask).fetchMarketPage(1)
    expect(coins).toEqual([
      {
        id: 'bitcoin',
        symbol: 'btc',
        name: 'Bitcoin',
        image: 'https://coin-images.coingecko.com/coins/images/1/large/bitcoin.png?1696501400',
        rank: 1,
        price: 92342,
        marketCap: 1842012345678,
        volume: 61234567890,
        change24h: -0.72176,
      },
      {
        ...{ id: 'some-coin', symbol: 'some', name: 'Some Coin', image: '' },
        ...{ rank: null, price: null, marketCap: null, volume: null, change24h: null },
      },
    ])
    for (const coin of coins) expect(MarketCoin.parse(coin)).toEqual(coin)
  })

  test.each([
    ['a negative price', { current_price: -1 }, { price: null }],
    ['a price that is text', { current_price: '92342' }, { price: null }],
    ['a price that is NaN, in words', { current_price: 'NaN' }, { price: null }],
    ['no price at all', { current_price: undefined }, { price: null }],
    ['a price of zero', { current_price: 0 }, { price: 0 }],
    ['a tiny price', { current_price: 1.2e-15 }, { price: 1.2e-15 }],
    ['a loss of more than everything', { price_change_percentage_24h: -100 }, { change24h: null }],
    ['a change in words', { price_change_percentage_24h: '5' }, { change24h: null }],
    ['a rank of zero', { market_cap_rank: 0 }, { rank: null }],
    ['an invalid picture', { image: 'javascript:alert(1)' }, { image: '' }],
    ['no picture', { image: null }, { image: '' }],
  ])('reads a coin with %s as null, empty or its value', async (_, wrong, expected) => {
    const { ask } = createFakeUpstream(() => ({ body: [{ ...BITCOIN, ...wrong }] }))
    expect(await createCoinGecko(ask).fetchMarketPage(1)).toEqual([
      expect.objectContaining({ id: 'bitcoin', ...expected }),
    ])
  })

  test('leaves out invalid coins, and keeps the others', async () => {
    const rows = [null, 7, 'bitcoin', [], {}, { ...BITCOIN, id: null }, { ...BITCOIN, name: '' }, BITCOIN]
    const { ask } = createFakeUpstream(() => ({ body: rows }))
    expect((await createCoinGecko(ask).fetchMarketPage(1)).map(({ id }) => id)).toEqual(['bitcoin'])
  })

  test.each(REFUSALS)('that is refused %s is an error', async (_, reply, code) => {
    const { ask } = createFakeUpstream(() => reply)
    await expect(createCoinGecko(ask).fetchMarketPage(1)).rejects.toMatchObject({ code })
  })

  test.each(NONSENSE)('that is %s is upstream_bad_answer', async (_, reply) => {
    const { ask } = createFakeUpstream(() => reply)
    await expect(createCoinGecko(ask).fetchMarketPage(1)).rejects.toMatchObject({ code: 'upstream_bad_answer' })
  })
})

describe('Coins by their ids', () => {
  test('are requested together, and have all known fields', async () => {
    const { ask, urls } = createFakeUpstream(() => ({ body: [BITCOIN] }))
    const coins = [...(await createCoinGecko(ask).fetchCoins(['bitcoin', 'some-coin'], 'eur')).values()]
    expect(QUERY(urls[0])).toEqual({ ids: 'bitcoin,some-coin', vs_currency: 'eur', per_page: '250' })
    expect(coins).toEqual([
      {
        id: 'bitcoin',
        symbol: 'btc',
        name: 'Bitcoin',
        image: BITCOIN.image,
        price: 92342,
        marketCap: 1842012345678,
        rank: 1,
        volume: 61234567890,
        high24h: 93012,
        low24h: 90122.5,
        priceChange24h: -671.3344,
        change24h: -0.72176,
        circulatingSupply: 19949856,
        totalSupply: 19949856,
        maxSupply: 21000000,
        allTimeHigh: 126080,
        allTimeLow: 67.81,
        updatedAt: Date.UTC(2026, 10, 21, 10, 29, 41, 123),
      },
    ])
    for (const coin of coins) expect(CoinQuote.parse(coin)).toEqual(coin)
  })

  test('are null without a price or its time, and left out if not requested', async () => {
    const rows = [
      UNKNOWN,
      { ...BITCOIN, id: 'negative', current_price: -5 },
      { ...BITCOIN, id: 'timeless', last_updated: 'yesterday' },
      { ...BITCOIN, id: 'endless', last_updated: '9999-12-31T23:59:59-10:00' },
      { ...BITCOIN, id: 'another' },
      { ...BITCOIN, id: 'bare', market_cap_rank: undefined, ath: 'high', circulating_supply: 0 },
    ]
    const { ask } = createFakeUpstream(() => ({ body: rows }))
    const coins = await createCoinGecko(ask).fetchCoins(['some-coin', 'negative', 'timeless', 'endless', 'bare'], 'usd')
    expect(coins).toEqual(
      new Map([
        ...['some-coin', 'negative', 'timeless', 'endless'].map((id) => [id, null] as const),
        ['bare', expect.anything()],
      ]),
    )
    expect(coins.get('bare')).toMatchObject({ rank: null, allTimeHigh: null, circulatingSupply: null, price: 92342 })
  })

  test('need no request if there are none', async () => {
    const { ask, urls } = createFakeUpstream(() => ({ body: [BITCOIN] }))
    expect(await createCoinGecko(ask).fetchCoins([], 'usd')).toEqual(new Map())
    expect(urls).toEqual([])
  })
})

const DAY_CHART = { currency: 'usd', days: 1 } as const
const WHOLE_CHART = { currency: 'usd', days: 'max' } as const
const series = (count: number, step: number, value: (index: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, index) => [NOW - (count - 1 - index) * step, value(index)])
const someChart = (count = 3, step = DAY) => ({
  prices: series(count, step, (index) => 92_000.12345678901 + index),
  market_caps: series(count, step, (index) => 1_842_012_345_678.125 + index),
  total_volumes: series(count, step, (index) => 61_234_567_890.12345 + index),
})
const RANGE = 'Your request exceeds the allowed time range. Public API users are limited …'

describe('A chart', () => {
  test('is requested by id, and returned unchanged', async () => {
    const { ask, urls } = createFakeUpstream(() => ({ body: someChart() }))
    const answer = await createCoinGecko(ask).fetchChart('coingecko:bitcoin', { currency: 'chf', days: 30 })
    expect(urls[0]?.pathname).toBe('/api/coins/bitcoin/market_chart')
    expect(QUERY(urls[0])).toEqual({ vs_currency: 'chf', days: '30' })
    const { prices, market_caps: marketCaps, total_volumes: volumes } = someChart()
    expect(answer).toEqual({ chart: { prices, marketCaps, volumes }, days: 30 })
    expect(Chart.parse(answer?.chart)).toEqual(answer?.chart)
  })

  test.each([
    ['base', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'],
    ['solana', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
  ])('is requested by contract on %s, in CoinGecko’s letter case', async (platform, address, written) => {
    const { ask, urls } = createFakeUpstream(() => ({ body: someChart() }))
    await createCoinGecko(ask).fetchChart(`${platform}:${address}`, WHOLE_CHART)
    expect(urls[0]?.pathname).toBe(`/api/coins/${platform}/contract/${written}/market_chart`)
  })

  test.each(['', '.', '..'])('of the id %j is not requested, because it would change the path', async (id) => {
    const { ask, urls } = createFakeUpstream(() => ({ body: someChart() }))
    expect(await createCoinGecko(ask).fetchChart(`coingecko:${id}`, DAY_CHART)).toBeNull()
    expect(await createCoinGecko(ask).fetchChart(`base:${id}`, DAY_CHART)).toBeNull()
    expect(urls).toEqual([])
  })

  test('of an id with special characters stays below its own path', async () => {
    const { ask, urls } = createFakeUpstream(() => ({ body: someChart() }))
    await createCoinGecko(ask).fetchChart('coingecko:../ping?x=1#y', DAY_CHART)
    expect(urls[0]?.pathname).toBe('/api/coins/..%2Fping%3Fx%3D1%23y/market_chart')
  })

  test('is ascending, without duplicates and invalid points', async () => {
    const body = {
      prices: [
        [3000, 3],
        [1000, 1],
        [2000, null],
        [2500, -1],
        [2600, '7'],
        [2700],
        null,
        [3000, 3.5],
        ['4000', 4],
        [5000.5, 5],
        [6000, 0],
      ],
      market_caps: [
        [1000, 0],
        [3000, 30],
        [2000, null],
      ],
      total_volumes: [
        [3000, 0],
        [1000, 100],
      ],
    }
    const { ask } = createFakeUpstream(() => ({ body }))
    expect((await createCoinGecko(ask).fetchChart('coingecko:bitcoin', DAY_CHART))?.chart).toEqual({
      prices: [
        [1000, 1],
        [3000, 3.5],
        [6000, 0],
      ],
      marketCaps: [[3000, 30]],
      volumes: [
        [1000, 100],
        [3000, 0],
      ],
    })
  })

  test('without market capitalisations and volumes has only prices', async () => {
    const body = { ...someChart(), market_caps: series(3, DAY, () => null), total_volumes: [] }
    const { ask } = createFakeUpstream(() => ({ body }))
    const answer = await createCoinGecko(ask).fetchChart('coingecko:bitcoin', { currency: 'usd', days: 30 })
    expect(answer?.chart).toMatchObject({ marketCaps: [], volumes: [] })
    expect(answer?.chart.prices).toHaveLength(3)
  })

  test.each([
    ['by text', { status: 404, body: { error: 'coin not found' } }],
    ['by text, as a bad request', { status: 400, body: { error: 'coin not found' } }],
    ['by text, as not processable', { status: 422, body: { error: 'Could not find coin with the given id' } }],
    ['by a code', { status: 404, body: { status: { error_code: 404, error_message: 'x' } } }],
    ['by a code inside', { status: 404, body: { error: { status: { error_code: 404 } } } }],
    ['by an empty chart', { body: { prices: [], market_caps: [], total_volumes: [] } }],
  ])('of a coin that CoinGecko reports as unknown %s is null', async (_, reply) => {
    const { ask, urls } = createFakeUpstream(() => reply)
    expect(await createCoinGecko(ask).fetchChart('coingecko:no-such-coin', WHOLE_CHART)).toBeNull()
    expect(urls).toHaveLength(1)
  })

  test.each([
    ['in the usual form', { error: { status: { timestamp: 'x', error_code: 10012, error_message: RANGE } } }],
    ['in the short form', { status: { error_code: 10012, error_message: RANGE } }],
  ])('that CoinGecko refuses as too long %s has 365 days instead', async (_, body) => {
    const { ask, urls } = createFakeUpstream((url) =>
      url.searchParams.get('days') === '365' ? { body: someChart() } : { status: 401, body },
    )
    expect(await createCoinGecko(ask).fetchChart('coingecko:bitcoin', WHOLE_CHART)).toMatchObject({ days: 365 })
    expect(await createCoinGecko(ask).fetchChart('coingecko:bitcoin', { currency: 'usd', days: 1000 })).toMatchObject({
      days: 365,
    })
    expect(urls.map((url) => url.searchParams.get('days'))).toEqual(['max', '365', '1000', '365'])
  })

  test('that is too long even with 365 days is unavailable, after two requests', async () => {
    const body = { error: { status: { error_code: 10012, error_message: RANGE } } }
    const { ask, urls } = createFakeUpstream(() => ({ status: 401, body }))
    await expect(createCoinGecko(ask).fetchChart('coingecko:bitcoin', WHOLE_CHART)).rejects.toMatchObject({
      code: 'upstream_unavailable',
    })
    expect(urls).toHaveLength(2)
    await expect(
      createCoinGecko(ask).fetchChart('coingecko:bitcoin', { currency: 'usd', days: 365 }),
    ).rejects.toMatchObject({
      code: 'upstream_unavailable',
    })
    expect(urls).toHaveLength(3)
  })

  test.each(REFUSALS)('that is refused %s is an error', async (_, reply, code) => {
    const { ask } = createFakeUpstream(() => reply)
    await expect(createCoinGecko(ask).fetchChart('coingecko:bitcoin', WHOLE_CHART)).rejects.toMatchObject({ code })
  })

  test.each([
    ...NONSENSE,
    ['without volumes', { body: { prices: [], market_caps: [] } }],
    ['with only invalid points', { body: { ...someChart(), prices: [[1000, null]] } }],
  ] as const)('that is %s is upstream_bad_answer', async (_, reply) => {
    const { ask } = createFakeUpstream(() => reply)
    await expect(createCoinGecko(ask).fetchChart('coingecko:bitcoin', DAY_CHART)).rejects.toMatchObject({
      code: 'upstream_bad_answer',
    })
  })

  test('of all time keeps all its points, and fits into the cache', async () => {
    // The price history is as long as it will be in 2030: one price per day since April 2013, with all digits.
    const noise = (index: number) => ((index * 7919.123456789) % 1) + index / 3
    const body = {
      prices: series(5_999, DAY, (index) => 60_000 * noise(index)),
      market_caps: series(5_999, DAY, (index) => 1e12 * noise(index + 1)),
      total_volumes: series(5_999, DAY, (index) => 1e10 * noise(index + 2)),
    }
    const { ask } = createFakeUpstream(() => ({ body }))
    const answer = await createCoinGecko(ask).fetchChart('coingecko:bitcoin', WHOLE_CHART)
    expect(answer?.chart.prices).toHaveLength(5_999)
    expect(gzipSync(JSON.stringify(answer?.chart)).length).toBeLessThan(350_000)
  })

  test('with too many points is thinned evenly, and keeps its last point', async () => {
    const { ask } = createFakeUpstream(() => ({ body: someChart(25_000, 300_000) }))
    const answer = await createCoinGecko(ask).fetchChart('coingecko:bitcoin', WHOLE_CHART)
    const times = answer?.chart.prices.map(([time]) => time) ?? []
    expect(times).toHaveLength(5_000)
    expect(times.at(-1)).toBe(NOW)
    expect(new Set(times.slice(1).map((time, index) => time - (times[index] ?? 0)))).toEqual(new Set([1_500_000]))
    expect(gzipSync(JSON.stringify(answer?.chart)).length).toBeLessThan(350_000)
  })
})

describe('A search', () => {
  const SEARCH_RESULT = {
    id: 'usd-coin',
    name: 'USDC',
    api_symbol: 'usd-coin',
    symbol: 'USDC',
    market_cap_rank: 6,
    thumb: 'https://coin-images.coingecko.com/coins/images/6319/thumb/usdc.png',
    large: 'https://coin-images.coingecko.com/coins/images/6319/large/usdc.png',
  }

  test('returns the found coins in their order', async () => {
    const bare = { id: 'usdc-x', name: 'USDC X', symbol: 'USDCX', market_cap_rank: null, thumb: 'missing_thumb.png' }
    const body = {
      coins: [SEARCH_RESULT, { symbol: 'nameless' }, bare],
      exchanges: [],
      icos: [],
      categories: [],
      nfts: [],
    }
    const { ask, urls } = createFakeUpstream(() => ({ body }))
    const coins = await createCoinGecko(ask).searchCoins('usdc & co')
    expect(urls[0]?.pathname).toBe('/api/search')
    expect(QUERY(urls[0])).toEqual({ query: 'usdc & co' })
    expect(coins).toEqual([
      {
        ...{ id: 'usd-coin', symbol: 'USDC', name: 'USDC', apiSymbol: 'usd-coin', rank: 6 },
        thumb: SEARCH_RESULT.thumb,
        large: SEARCH_RESULT.large,
      },
      { id: 'usdc-x', symbol: 'USDCX', name: 'USDC X', apiSymbol: '', rank: null, thumb: '', large: '' },
    ])
    for (const coin of coins) expect(FoundCoin.parse(coin)).toEqual(coin)
  })

  test.each(NONSENSE)('that is %s is upstream_bad_answer', async (_, reply) => {
    const { ask } = createFakeUpstream(() => reply)
    await expect(createCoinGecko(ask).searchCoins('usd')).rejects.toMatchObject({ code: 'upstream_bad_answer' })
  })
})

describe('Exchange rates', () => {
  const ratesOf = (bitcoin: unknown) =>
    createCoinGecko(createFakeUpstream(() => ({ body: { bitcoin } })).ask).fetchRates()

  test('are requested together, in every currency', async () => {
    const { ask, urls } = createFakeUpstream(() => ({ body: { bitcoin: { usd: 1 } } }))
    await createCoinGecko(ask).fetchRates()
    expect(urls.map(({ pathname }) => pathname)).toEqual(['/api/simple/price'])
    expect(QUERY(urls[0])).toEqual({
      ids: 'bitcoin',
      vs_currencies: CURRENCIES.join(','),
      include_24hr_change: 'true',
    })
  })

  test('are bitcoin’s price in a currency divided by its price in dollars, now and a day ago', async () => {
    const rates = await ratesOf({
      usd: 100_000,
      usd_24h_change: 25,
      eur: 90_000,
      eur_24h_change: 20,
      btc: 1,
      btc_24h_change: 0,
    })
    // The simulated prices mean that one bitcoin cost 80,000 dollars and 75,000 euros a day ago.
    expect(rates).toEqual({
      usd: { now: 1, dayAgo: 1 },
      eur: { now: 0.9, dayAgo: 0.9375 },
      btc: { now: 0.00001, dayAgo: 0.0000125 },
    })
  })

  test('are exact to the precision of numbers', async () => {
    const rates = await ratesOf({ usd: 0.3, usd_24h_change: 0.1, chf: 0.1, chf_24h_change: 0.2 })
    expect(rates.chf).toEqual({ now: 1 / 3, dayAgo: 1001 / 3006 })
  })

  test.each([
    ['its own change', { usd: 2, usd_24h_change: 1, eur: 1, eur_24h_change: null }],
    ['the change of the dollar', { usd: 2, eur: 1, eur_24h_change: 1 }],
    ['a possible change', { usd: 2, usd_24h_change: 1, eur: 1, eur_24h_change: -100 }],
  ])('have no rate of a day ago without %s', async (_, bitcoin) => {
    expect(await ratesOf(bitcoin)).toEqual({ usd: { now: 1, dayAgo: 1 }, eur: { now: 0.5, dayAgo: undefined } })
  })

  test('leave out missing and unsupported currencies', async () => {
    const rates = await ratesOf({ usd: 2, eur: null, gbp: 0, chf: -1, jpy: '300', doge: 5, czk: 40 })
    expect(rates).toEqual({ usd: { now: 1, dayAgo: 1 }, czk: { now: 20, dayAgo: undefined } })
  })

  test.each([{ eur: 1 }, { usd: 0, eur: 1 }, { usd: '2' }, {}, null, undefined, []])(
    'are upstream_bad_answer without dollars: %j',
    async (bitcoin) => {
      await expect(ratesOf(bitcoin)).rejects.toMatchObject({ code: 'upstream_bad_answer' })
    },
  )
})

describe('Ids by contract', () => {
  test('are those of our chains, EVM addresses in lower case', async () => {
    const body = [
      { id: 'bitcoin', symbol: 'btc', name: 'Bitcoin', platforms: {} },
      {
        id: 'usd-coin',
        symbol: 'usdc',
        name: 'USDC',
        platforms: {
          ethereum: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
          base: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
          solana: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
          'near-protocol': '17208628f84f5d6ad33f0da3bbbeb27ffcb398eac501a31bd6ad2011e36133a1',
          'polygon-pos': '',
          'arbitrum-one': null,
        },
      },
      { id: 'nothing', platforms: null },
      { symbol: 'nameless', platforms: { ethereum: '0x01' } },
    ]
    const { ask, urls } = createFakeUpstream(() => ({ body }))
    expect((await createCoinGecko(ask).fetchCoinIds()).byContract).toEqual(
      new Map([
        ['ethereum:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'usd-coin'],
        ['base:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 'usd-coin'],
        ['solana:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'usd-coin'],
      ]),
    )
    expect(`${urls[0]?.pathname}${urls[0]?.search}`).toBe('/api/coins/list?include_platform=true')
  })

  test('omit a contract that two coins claim', async () => {
    const body = [
      { id: 'first', platforms: { base: '0xAB' } },
      { id: 'second', platforms: { base: '0xab', ethereum: '0xab' } },
      { id: 'third', platforms: { base: '0xab' } },
    ]
    const { ask } = createFakeUpstream(() => ({ body }))
    expect(await createCoinGecko(ask).fetchCoinIds()).toEqual({
      all: ['first', 'second', 'third'],
      byContract: new Map([['ethereum:0xab', 'second']]),
    })
  })

  test.each(NONSENSE)('that are %s are upstream_bad_answer', async (_, reply) => {
    const { ask } = createFakeUpstream(() => reply)
    await expect(createCoinGecko(ask).fetchCoinIds()).rejects.toMatchObject({ code: 'upstream_bad_answer' })
  })
})
