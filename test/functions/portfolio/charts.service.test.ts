import { describe, expect } from 'vitest'
import { tokensKey } from '../../../lib/markets/cache-keys.ts'
import { expectError } from '../../support/errors.ts'
import { requestPortfolio, test } from '../../support/market-service.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const UNLISTED = '0x00000000000000000000000000000000000000A1'

const chartsOf = (paths: readonly string[]) => paths.filter((path) => path.includes('market_chart'))

describe('A chart by id', () => {
  test("has CoinGecko's format, is ascending, and ends now", async ({ service, markets }) => {
    const { status, headers, body } = await requestPortfolio(service, '/token/id/bitcoin?currency=EUR&days=7')
    expect(status).toBe(200)
    expect(headers.get('age')).toBe('0')
    expect(headers.get('cache-control')).toBe(`public, max-age=${60 + Number(headers.get('age'))}`)
    expect(Object.keys(body)).toEqual(['prices', 'market_caps', 'total_volumes', 'currency', 'days', 'truncated'])
    expect(body).toMatchObject({ currency: 'eur', days: '7', truncated: false })
    for (const series of [body.prices, body.market_caps, body.total_volumes] as [number, number][][]) {
      expect(series).toHaveLength(7 * 24 + 1)
      const times = series.map(([time]) => time)
      expect(times).toEqual(times.toSorted((left, right) => left - right))
      expect(Date.now() - (times.at(-1) ?? 0)).toBeLessThan(120_000)
    }
    expect(markets.listRequests()).toEqual(['/coins/bitcoin/market_chart?vs_currency=eur&days=7'])
  })

  test('of all days is marked as truncated if the source has fewer', async ({ service, markets }) => {
    const { status, body } = await requestPortfolio(service, '/token/id/bitcoin')
    expect(status).toBe(200)
    expect(body).toMatchObject({ currency: 'usd', days: '365', truncated: true })
    expect(body.prices.length).toBeGreaterThan(360)
    expect(markets.listRequests()).toEqual([
      '/coins/bitcoin/market_chart?vs_currency=usd&days=max',
      '/coins/bitcoin/market_chart?vs_currency=usd&days=365',
    ])
    const again = await requestPortfolio(service, '/token/id/bitcoin?days=max&currency=usd')
    expect(again.body).toEqual(body)
    expect(markets.listRequests()).toHaveLength(2)
  })

  test('is fetched once, however many requests come in parallel', async ({ service, markets }) => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => requestPortfolio(service, '/token/id/ethereum?days=1')),
    )
    for (const { status, body } of all) {
      expect(status).toBe(200)
      expect(body.prices).toHaveLength(289)
    }
    expect(markets.listRequests()).toHaveLength(1)
  })

  test('is fetched separately for other days and other currencies', async ({ service, markets }) => {
    for (const query of ['days=1', 'days=2', 'days=2&currency=eur'])
      await requestPortfolio(service, `/token/id/bitcoin?${query}`)
    expect(markets.listRequests()).toHaveLength(3)
  })

  test('of any number of days is cut from one of seven lengths fetched from the source', async ({
    service,
    markets,
  }) => {
    const allDays = [1, 2, 5, 7, 8, 30, 31, 89, 90, 91, 100, 364, 365]
    for (const days of allDays) {
      const { status, body } = await requestPortfolio(service, `/token/id/bitcoin?days=${days}`)
      expect([status, body.days, body.truncated]).toEqual([200, days.toString(), false])
      for (const series of [body.prices, body.market_caps, body.total_volumes] as [number, number][][]) {
        const [first = 0, last = 0] = [series[0]?.[0], series.at(-1)?.[0]]
        expect(last - first).toBeLessThanOrEqual(days * 86_400_000)
        expect(last - first).toBeGreaterThan((days - (days > 90 ? 1 : 0.05)) * 86_400_000)
      }
    }
    for (const days of [500, 1000, 2000, 3000, 36_500]) {
      const { body } = await requestPortfolio(service, `/token/id/bitcoin?days=${days}`)
      expect(body).toMatchObject({ days: '365', truncated: true })
    }
    const lengths = markets.listRequests().map((path) => new URLSearchParams(path.split('?')[1]).get('days'))
    expect(lengths).toEqual(['1', '7', '30', '90', '365', '1825', '365', 'max', '365'])
  })

  test.for([
    ['0'],
    ['-1'],
    ['1.5'],
    ['+5'],
    ['007'],
    ['1e3'],
    ['36501'],
    ['99999999999'],
    ['MAX'],
    ['all'],
    [''],
    ['7d'],
  ])('of %j days is refused', async ([days = ''], { service, markets }) => {
    expectError(await requestPortfolio(service, `/token/id/bitcoin?days=${encodeURIComponent(days)}`), 'invalid_days', [
      'days',
    ])
    expect(markets.listRequests()).toEqual([])
  })

  test('of 36500 days is accepted', async ({ service }) => {
    const { status, body } = await requestPortfolio(service, '/token/id/bitcoin?days=36500')
    expect(status).toBe(200)
    expect(body).toMatchObject({ days: '365', truncated: true })
  })

  test('of a token that no source knows is not found, and this is cached', async ({ service, markets }) => {
    for (const _ of [1, 2])
      expectError(await requestPortfolio(service, '/token/id/no-such-coin?days=1'), 'token_not_found')
    expect(markets.listRequests()).toEqual([
      expect.stringMatching('^/coins/no-such-coin/market_chart'),
      expect.stringMatching('^/chart/coingecko:no-such-coin'),
    ])
    expectError(await requestPortfolio(service, `/token/id/${'x'.repeat(129)}`), 'token_not_found', ['id'])
    for (const id of ['..%2F..%2Fping', '%23', 'bitcoin%3Fx']) {
      expectError(await requestPortfolio(service, `/token/id/${id}?days=1`), 'token_not_found')
    }
  })

  test('names the currency before the days in an error', async ({ service }) => {
    expectError(await requestPortfolio(service, '/token/id/bitcoin?days=x&currency=x'), 'unsupported_currency', [
      'currency',
      'days',
    ])
  })
})

describe('A chart by address', () => {
  test.for([
    ['base-mainnet', 'native'],
    ['base', '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'],
    ['8453', '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'],
    ['arbitrum-one', '0xEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE'],
    ['1', '0x0000000000000000000000000000000000000000'],
    ['optimistic-ethereum', 'NATIVE'],
  ])("of %s %s is that of the chain's own coin", async ([network, address], { service, markets }) => {
    const byId = await requestPortfolio(service, '/token/id/ethereum?days=1')
    const { status, body } = await requestPortfolio(service, `/token/address/${network}/${address}?days=1`)
    expect(status).toBe(200)
    expect(body).toEqual(byId.body)
    expect(markets.listRequests()).toHaveLength(1)
  })

  test.for([
    ['solana-mainnet', 'native'],
    ['solana', '11111111111111111111111111111111'],
    ['1151111081099710', 'So11111111111111111111111111111111111111112'],
  ])('of %s %s is that of SOL', async ([network, address], { service, markets }) => {
    const { status } = await requestPortfolio(service, `/token/address/${network}/${address}?days=1`)
    expect(status).toBe(200)
    expect(markets.listRequests()).toEqual(['/coins/solana/market_chart?vs_currency=usd&days=1'])
  })

  test('of a listed token is the chart of its id', async ({ service, markets }) => {
    const token = { chain: 'base-mainnet', symbol: 'USDC', name: 'USD Coin', decimals: 6, coinKey: 'USDC', logoUrl: '' }
    await markets.cacheAt().put(tokensKey('base-mainnet'), [{ ...token, address: USDC, coinGeckoId: 'usd-coin' }])
    for (const address of [USDC, USDC.toLowerCase(), USDC.toUpperCase().replace('0X', '0x')]) {
      const { status } = await requestPortfolio(service, `/token/address/base/${address}?days=1`)
      expect(status).toBe(200)
    }
    await requestPortfolio(service, '/token/id/usd-coin?days=1')
    expect(markets.listRequests()).toEqual(['/coins/usd-coin/market_chart?vs_currency=usd&days=1'])
  })

  test('of an unlisted token is fetched by its contract', async ({ service, markets }) => {
    expectError(await requestPortfolio(service, `/token/address/8453/${UNLISTED}?days=1`), 'token_not_found')
    expect(markets.listRequests()).toEqual([
      `/coins/base/contract/${UNLISTED.toLowerCase()}/market_chart?vs_currency=usd&days=1`,
      expect.stringMatching(`^/chart/base:${UNLISTED}`),
    ])
  })

  test.for([
    ['ethereum', 'no-address'],
    ['ethereum', '0x833589fcd6edb6e08f4c7c32d4f71b54bda0291'],
    ['ethereum', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914'],
    ['ethereum', 'So11111111111111111111111111111111111111112'],
    ['solana', USDC],
    ['solana', '111111111111111111111111111111111'],
    ['solana', '0OIl'],
  ])('of %s %s, which is no address on that chain, is not found', async ([network, address], { service, markets }) => {
    expectError(await requestPortfolio(service, `/token/address/${network}/${address}`), 'token_not_found')
    expect(markets.listRequests()).toEqual([])
  })

  test.for([['dogechain'], ['Base'], ['0'], ['8453.0'], ['0x2105'], ['no-chain'], ['constructor']])(
    'on the network %s is refused first of all',
    async ([network], { service, markets }) => {
      const reply = await requestPortfolio(service, `/token/address/${network}/nonsense?currency=x&days=x`)
      expectError(reply, 'unsupported_network', ['network', 'currency', 'days'])
      expect(markets.listRequests()).toEqual([])
    },
  )

  test('shares nothing with a chart by an id that looks like one', async ({ service, markets }) => {
    await requestPortfolio(service, `/token/id/${encodeURIComponent(`base:${UNLISTED}`)}?days=1`)
    await requestPortfolio(service, `/token/address/base/${UNLISTED}?days=1`)
    expect(chartsOf(markets.listRequests())).toHaveLength(2)
  })
})

describe('While CoinGecko is down,', () => {
  test('an older chart is returned as stale, with its age', async ({ clock, coldService, markets }) => {
    const path = '/token/id/bitcoin?days=1&currency=eur'
    const { body } = await requestPortfolio(coldService, path)
    clock.pass(3600)
    markets.coinGecko.rewrite = () => ({ status: 429, body: {}, headers: { 'retry-after': '30' } })
    const { status, headers, body: later } = await requestPortfolio(coldService, path)
    expect([status, later]).toEqual([200, body])
    expect(headers.get('x-stale')).toBe('true')
    expect(Number(headers.get('age'))).toBeGreaterThanOrEqual(3600)
    expect(Number(headers.get('age'))).toBeLessThan(3660)
  })

  test('a first chart in another currency is an upstream error without details', async ({ service, markets }) => {
    markets.coinGecko.rewrite = () => ({ status: 429, body: {}, headers: { 'retry-after': '30' } })
    const all = await Promise.all(
      [1, 2, 3].map(() => requestPortfolio(service, '/token/id/bitcoin?days=1&currency=eur')),
    )
    for (const reply of all) {
      expectError(reply, 'upstream_unavailable')
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(25)
    }
    expect(markets.listRequests()).toHaveLength(1)
  })
})
