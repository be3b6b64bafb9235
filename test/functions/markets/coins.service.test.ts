import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { MARKET_DATA_KEY, tokensKey } from '../../../lib/markets/cache-keys.ts'
import { expectError } from '../../support/errors.ts'
import { test as base, requestPortfolio } from '../../support/market-service.ts'
import { rewriteJson } from '../../support/markets.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { CODE_POINT } from '../../support/texts.ts'

const SEARCH = '/portfolio-indexor/markets/coins/search'
const test = base.extend(
  'search',
  ({ service }) =>
    (search: unknown, query = '') =>
      service.call('POST', SEARCH + query, { body: { search } }),
)

describe('A coin', () => {
  test('has all its figures and the chains on which it is a supported token', async ({ service, markets }) => {
    const address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
    const token = { chain: 'base-mainnet', symbol: 'USDC', name: 'USD Coin', decimals: 6, coinKey: 'USDC', logoUrl: '' }
    const tokens = [{ ...token, address, coinGeckoId: 'usd-coin' }]
    await markets.cacheAt().put(tokensKey('base-mainnet'), tokens)
    const { status, headers, body } = await requestPortfolio(service, '/markets/coins/usd-coin?currency=Jpy')
    expect(status).toBe(200)
    expect(headers.get('age')).toBe('0')
    expect(headers.get('cache-control')).toBe(`public, max-age=${60 + Number(headers.get('age'))}`)
    expect(body).toEqual({
      id: 'usd-coin',
      symbol: 'usdc',
      name: 'USDC (made-up price)',
      image: 'https://images.example/coins/usd-coin/large.png',
      current_price: expect.any(Number),
      market_cap: expect.any(Number),
      market_cap_rank: expect.any(Number),
      total_volume: expect.any(Number),
      high_24h: expect.any(Number),
      low_24h: expect.any(Number),
      price_change_24h: expect.any(Number),
      price_change_percentage_24h: expect.any(Number),
      circulating_supply: expect.any(Number),
      total_supply: expect.any(Number),
      max_supply: null,
      ath: expect.any(Number),
      atl: expect.any(Number),
      last_updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      currency: 'jpy',
      platforms: expect.objectContaining({ base: address }),
    })
    expect(body.current_price).toBeGreaterThan(100)
    expect(markets.listRequests()).toEqual(['/coins/markets?ids=usd-coin&vs_currency=jpy&per_page=250'])
  })

  test('is fetched once, however many requests come in parallel', async ({ service, markets }) => {
    const all = await Promise.all(
      Array.from({ length: 10 }, () => requestPortfolio(service, '/markets/coins/ethereum')),
    )
    for (const { status, body } of all) expect([status, body]).toEqual([200, all[0]?.body])
    expect(markets.listRequests()).toHaveLength(1)
  })

  test('that no source knows is not found, and this is cached', async ({ service, markets }) => {
    for (const _ of [1, 2])
      expectError(await requestPortfolio(service, '/markets/coins/no-such-coin'), 'coin_not_found')
    expect(markets.listRequests()).toHaveLength(1)
    for (const id of ['bitcoin%2Cethereum', '%23', '..%2Fcoins', 'Bitcoin%20', '%F0%9F%92%A9']) {
      expectError(await requestPortfolio(service, `/markets/coins/${id}`), 'coin_not_found')
    }
  })

  test('that is not in the list of all coins is not found without a fetch or write, like its chart', async ({
    coldService,
    markets,
  }) => {
    await markets.refresh()
    expect((await requestPortfolio(coldService, '/markets/coins/bitcoin')).status).toBe(200)
    coldService.table.reset()
    markets.coinGecko.requests.length = 0
    for (let i = 0; i < 50; i += 1) {
      expectError(await requestPortfolio(coldService, `/markets/coins/made-up-${i}`), 'coin_not_found')
      expectError(await requestPortfolio(coldService, `/token/id/made-up-${i}`), 'token_not_found')
    }
    expect(markets.listRequests()).toEqual([])
    // Table requests that identify the caller are not counted. The search itself reads the list of coins at most
    // once.
    const ofCaller = /^Query$|rate#/
    const others = coldService.table.tries.filter(({ action, body }) => !ofCaller.test(action) && !ofCaller.test(body))
    expect(others.length).toBeLessThanOrEqual(1)
    expect((await requestPortfolio(coldService, '/token/id/bitcoin?days=1')).status).toBe(200)
  })

  test('of the list that CoinGecko suddenly omits comes from the cache, or is an upstream error', async ({
    coldService,
    markets,
  }) => {
    await markets.refresh()
    rewriteJson(markets.coinGecko, (body, { pathname }) => (pathname.endsWith('/coins/markets') ? [] : body))
    const { status, body } = await requestPortfolio(coldService, '/markets/coins/bitcoin')
    expect([status, body.name]).toEqual([200, 'Bitcoin (made-up price)'])
    markets.forget()
    await markets.cacheAt().put(MARKET_DATA_KEY, [])
    expectError(await requestPortfolio(coldService, '/markets/coins/ethereum'), 'upstream_bad_answer')
  })

  test('with an impossible id is not found without a fetch', async ({ service, markets }) => {
    expectError(await requestPortfolio(service, `/markets/coins/${'x'.repeat(129)}`), 'coin_not_found', ['id'])
    expect(markets.listRequests()).toEqual([])
  })

  test('without a price is not found', async ({ service }) => {
    expectError(await requestPortfolio(service, '/markets/coins/made-up-coin-290'), 'coin_not_found')
  })
})

describe('A search', () => {
  test('finds coins by name or symbol, the largest first, with their prices', async ({ search, markets }) => {
    const { status, headers, body } = await search('coin', '?currency=EUR')
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toHaveLength(100)
    expect(body[0]).toEqual({
      id: 'bitcoin',
      name: 'Bitcoin (made-up price)',
      symbol: 'BTC',
      api_symbol: 'bitcoin',
      market_cap_rank: 1,
      thumb: 'https://images.example/coins/bitcoin/thumb.png',
      large: 'https://images.example/coins/bitcoin/large.png',
      current_price: expect.any(Number),
      price_change_percentage_24h: expect.any(Number),
    })
    const ranks = body.map(({ market_cap_rank }: { market_cap_rank: number }) => market_cap_rank)
    expect(ranks).toEqual(ranks.toSorted((left: number, right: number) => left - right))
    expect(markets.listRequests().map((path) => path.split('?')[0])).toEqual(['/search', '/coins/markets'])
  })

  test('shows coins without a price as such', async ({ search }) => {
    const { body } = await search('made-up-coin-290')
    expect(body).toMatchObject([{ id: 'made-up-coin-290', current_price: null, price_change_percentage_24h: null }])
    const { body: other } = await search('made-up-coin-289')
    expect(other).toMatchObject([{ current_price: expect.any(Number), price_change_percentage_24h: null }])
  })

  test('that finds nothing is an empty list, and fetches no prices', async ({ search, markets }) => {
    const { status, body } = await search('no such coin')
    expect([status, body]).toEqual([200, []])
    expect(markets.listRequests()).toHaveLength(1)
  })

  test('that finds none of the known coins of that name is an upstream error', async ({ search, markets }) => {
    await markets.refresh()
    markets.coinGecko.rewrite = () => ({ status: 200, body: { coins: [] } })
    for (const text of ['bitcoin', 'USDC', 'usd-coin']) expectError(await search(text), 'upstream_bad_answer')
    expect(await search('of no coin the name')).toMatchObject({ status: 200, body: [] })
  })

  test('shows its coins with the prices of the cached market while CoinGecko returns none', async ({
    search,
    markets,
  }) => {
    await markets.refresh()
    rewriteJson(markets.coinGecko, (body, { pathname }) => (pathname.endsWith('/coins/markets') ? [] : body))
    const { status, body } = await search('bitcoin')
    expect([status, body]).toMatchObject([200, [{ id: 'bitcoin', current_price: expect.any(Number) }]])
  })

  test('ignores case and outer spaces, and is fetched once', async ({ search, markets }) => {
    const answers = [await search('bitcoin'), await search('  BitCoin\n')]
    expect(answers[0]?.body).toHaveLength(1)
    expect(answers[1]?.body).toEqual(answers[0]?.body)
    await search('BITCOIN', '?currency=eur')
    expect(markets.listRequests().map((path) => path.split('?')[0])).toEqual([
      '/search',
      '/coins/markets',
      '/coins/markets',
    ])
  })

  test.for([[''], ['ab'], ['  ab  '], ['a😀'], [7], [null], [undefined], [['bitcoin']], [{ $gt: '' }]])(
    'for %j is refused',
    async ([text], { search, markets }) => {
      expectError(await search(text), 'invalid_search', ['search'])
      expect(markets.listRequests()).toEqual([])
    },
  )

  test.for([
    ['x', 101],
    ['😀', 101],
    ['x', 16_000],
  ] as const)(
    'for too many characters is refused as too long: %s, %i times',
    async ([text, times], { search, markets }) => {
      expectError(await search(text.repeat(times)), 'search_too_long', ['search'])
      expect(markets.listRequests()).toEqual([])
    },
  )

  test.for([
    ['a😀b'],
    ['😀😀😀'],
    ['x'.repeat(100)],
    ['😀'.repeat(100)],
    ['日本円'],
    ['\ud800\ud800\ud800'],
    ['a&b=#?%'],
  ])('for %j is accepted, because length counts code points', async ([text], { search }) => {
    const { status, body } = await search(text)
    expect([status, body]).toEqual([200, []])
  })

  test('refuses fields that it does not know', async ({ service }) => {
    const body = { search: 'bitcoin', serach: 'bitcoin' }
    expectError(await service.call('POST', SEARCH, { body }), 'unknown_field', ['serach'])
    expectError(await service.call('POST', SEARCH, { body: '[' }), 'invalid_json')
  })

  test('names the currency first in an error', async ({ search }) => {
    expectError(await search('a', '?currency=xxx'), 'unsupported_currency', ['currency', 'search'])
  })
})

describe('Random requests never break', () => {
  const text = fc.oneof(
    fc.string({ unit: CODE_POINT, maxLength: 110 }),
    fc.constantFrom('bitcoin', 'usd', 'EUR', 'max', '30', 'native', 'base', '__proto__', '../..', '%00', '#', ','),
  )
  const part = text.filter((value) => !/^\.*$/.test(value)).map((value) => encodeURIComponent(value.toWellFormed()))

  test('on the way to a coin, a chart or a search', async ({ service, markets }) => {
    const met = new Set<number>()
    const query = fc.tuple(part, part).map(([currency, days]) => `?currency=${currency}&days=${days}`)
    const path = fc.oneof(
      fc.tuple(part, fc.oneof(query, fc.constant('?days=1'))).map(([id, rest]) => `/token/id/${id}${rest}`),
      fc
        .tuple(fc.oneof(part, fc.constant('base')), part, fc.oneof(query, fc.constant('?days=1')))
        .map(([network, address, rest]) => `/token/address/${network}/${address}${rest}`),
      fc.tuple(part, fc.oneof(query, fc.constant(''))).map(([id, rest]) => `/markets/coins/${id}${rest}`),
    )
    await fc.assert(
      fc.asyncProperty(path, fc.oneof(text, fc.jsonValue()), async (anyPath, search) => {
        const replies = [
          await requestPortfolio(service, anyPath),
          await service.call('POST', SEARCH, { body: JSON.stringify({ search }) }),
        ]
        for (const { status, body } of replies) {
          met.add(status)
          expect([200, 400, 404], JSON.stringify(body)).toContain(status)
        }
      }),
      { numRuns: scaleSampleCount(50) },
    )
    expect([...met].toSorted()).toEqual([200, 400, 404])
    expect(markets.listRequests().length).toBeGreaterThan(0)
  })
})
