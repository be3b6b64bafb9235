import { describe, expect } from 'vitest'
import { CHAINS } from '../../../lib/chain/registry.ts'
import { EXCHANGE_RATES_KEY, MARKET_DATA_KEY, tokensKey } from '../../../lib/markets/cache-keys.ts'
import { WELL_KNOWN_TOKENS } from '../../../lib/markets/well-known-tokens.ts'
import { expectError } from '../../support/errors.ts'
import { requestPortfolio, test } from '../../support/market-service.ts'

type Coin = Record<string, unknown> & { chainId: number; current_price: number; price_change_percentage_24h: number }

const FIELDS = [
  ['contract_address', 'string'],
  ['chainId', 'number'],
  ['contract_ticker_symbol', 'string'],
  ['contract_decimals', 'number'],
  ['contract_name', 'string'],
  ['coinKey', 'string'],
  ['logo_url', 'string'],
]
const ADDED = ['id', 'current_price', 'market_cap', 'total_volume', 'price_change_percentage_24h']
const NATIVE_ON_EVM = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

describe('The supported coins', () => {
  test('are the well-known ones, unpriced and stale, before the first run of the jobs', async ({
    service,
    markets,
  }) => {
    const { status, headers, body } = await requestPortfolio(service, '/markets')
    expect(status).toBe(200)
    expect(headers.get('x-stale')).toBe('true')
    expect(body).toHaveLength(WELL_KNOWN_TOKENS.filter(({ address }) => address !== WRAPPED_SOL).length)
    for (const coin of body) {
      expect(Object.keys(coin)).toEqual([...FIELDS.map(([name]) => name), ...ADDED])
      for (const [name = '', type] of FIELDS) expect(typeof coin[name]).toBe(type)
      for (const name of ADDED.slice(1)) expect(coin[name]).toBeNull()
    }
    expect(markets.listRequests()).toEqual([])
  })

  test('have the price, market cap, volume and change of the sources', async ({ service, markets }) => {
    await markets.refresh()
    const { status, headers, body } = await requestPortfolio(service, '/markets')
    expect(status).toBe(200)
    expect(headers.get('x-stale')).toBeNull()
    expect(Number(headers.get('age'))).toBeLessThan(60)
    expect(headers.get('cache-control')).toBe(`public, max-age=${60 + Number(headers.get('age'))}`)
    // The response has the native coin of each chain, and two other tokens of Solana, which is the last chain.
    expect(body).toHaveLength(CHAINS.length + 2)
    const cached = await markets.cacheAt().get({ market: MARKET_DATA_KEY })
    for (const [index, chain] of CHAINS.entries()) {
      const coin = cached.market?.value.find(({ id }) => id === chain.nativeCoin.coinGeckoId)
      expect(body[index]).toEqual({
        contract_address: chain.kind === 'evm' ? NATIVE_ON_EVM : WRAPPED_SOL,
        chainId: chain.kind === 'evm' ? chain.id : 1151111081099710,
        contract_ticker_symbol: chain.nativeCoin.symbol,
        contract_decimals: chain.nativeCoin.decimals,
        contract_name: chain.nativeCoin.name,
        coinKey: expect.stringMatching(/./),
        logo_url: expect.stringMatching(/^https:/),
        id: chain.nativeCoin.coinGeckoId,
        current_price: coin?.price,
        market_cap: coin?.marketCap,
        total_volume: coin?.volume,
        price_change_percentage_24h: coin?.change24h,
      })
    }
  })

  test('are available in any currency, each price at the rate of its time', async ({ service, markets }) => {
    await markets.refresh()
    const { body: inDollars } = await requestPortfolio(service, '/markets')
    const { body: inEuros } = await requestPortfolio(service, '/markets?currency=eUr')
    const { rates } = await markets.cacheAt().get({ rates: EXCHANGE_RATES_KEY })
    const { now = 0, dayAgo = 0 } = rates?.value.eur ?? {}
    expect(now).not.toBe(dayAgo)
    for (const [index, coin] of (inEuros as Coin[]).entries()) {
      const dollar: Coin = inDollars[index]
      expect(coin.current_price).toBeCloseTo(dollar.current_price * now, 6)
      const before = (dollar.current_price / (1 + dollar.price_change_percentage_24h / 100)) * dayAgo
      expect(coin.price_change_percentage_24h).toBeCloseTo((coin.current_price / before - 1) * 100, 6)
    }
    const { body: again } = await requestPortfolio(service, '/markets?currency=USD')
    expect(again).toEqual(inDollars)
  })

  test("have no change without yesterday's rate of the currency, and no price without a rate", async ({
    service,
    markets,
  }) => {
    await markets.refresh()
    await markets.cacheAt().put(EXCHANGE_RATES_KEY, { usd: { now: 1, dayAgo: 1 }, gbp: { now: 0.8 } })
    const { status, body } = await requestPortfolio(service, '/markets?currency=gbp')
    expect(status).toBe(200)
    for (const coin of body) {
      expect(coin.current_price).toBeGreaterThan(0)
      expect(coin.price_change_percentage_24h).toBeNull()
    }
    expectError(await requestPortfolio(service, '/markets?currency=chf'), 'upstream_unavailable')
    expectError(await requestPortfolio(service, '/markets/top_gainers_losers?currency=chf'), 'upstream_unavailable')
  })

  test('show a token without picture, id or price as such', async ({ service, markets }) => {
    const address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
    const token = { chain: 'base-mainnet', address, symbol: 'LONG', name: 'Long tail', decimals: 7, coinKey: '' }
    await markets.cacheAt().put(tokensKey('base-mainnet'), [{ ...token, logoUrl: '', coinGeckoId: '' }])
    const { body } = await requestPortfolio(service, '/markets')
    expect(body.filter(({ chainId }: Coin) => chainId === 8453)).toEqual([
      {
        contract_address: address,
        chainId: 8453,
        contract_ticker_symbol: 'LONG',
        contract_decimals: 7,
        contract_name: 'Long tail',
        coinKey: '',
        logo_url: '',
        id: null,
        current_price: null,
        market_cap: null,
        total_volume: null,
        price_change_percentage_24h: null,
      },
    ])
  })

  test('are compressed for clients that accept it, and not sent again to clients that have them', async ({
    service,
    markets,
  }) => {
    await markets.refresh()
    const ask = (headers: Record<string, string>) =>
      fetch(`${service.baseUrl}/portfolio-indexor/markets`, { headers: { 'x-join-key': service.apiKey, ...headers } })
    const { body } = await requestPortfolio(service, '/markets')
    for (const coding of ['br', 'gzip']) {
      const reply = await ask({ 'accept-encoding': coding })
      expect(reply.headers.get('content-encoding')).toBe(coding)
      expect(await reply.json()).toEqual(body)
      const again = await ask({ 'if-none-match': reply.headers.get('etag') ?? '' })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  })

  test('cost no fetch and one read a minute, however often they are requested', async ({ service, markets }) => {
    await markets.refresh()
    service.table.reset()
    const all = await Promise.all(Array.from({ length: 50 }, () => requestPortfolio(service, '/markets')))
    expect(all.every(({ status }) => status === 200)).toBe(true)
    expect((await requestPortfolio(service, '/markets?currency=EUR')).status).toBe(200)
    const reads = service.table.tries.filter(({ action }) => action === 'BatchGetItem')
    expect(reads).toHaveLength(1)
    expect(markets.listRequests()).toEqual([])
  })
})

describe('The top gainers and losers', () => {
  const PATH = '/markets/top_gainers_losers'

  test('are listed once the market is known', async ({ service, markets }) => {
    await markets.refresh()
    const { status, headers, body } = await requestPortfolio(service, PATH)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe(`public, max-age=${60 + Number(headers.get('age'))}`)
    expect(Object.keys(body)).toEqual(['top_gainers', 'top_losers'])
    expect(body.top_gainers.length).toBeGreaterThan(0)
    expect(body.top_losers.length).toBeGreaterThan(0)
  })

  test('have fields named with the currency, and the same fields without it', async ({ service, markets }) => {
    await markets.refresh()
    const { body } = await requestPortfolio(service, `${PATH}?currency=EUR`)
    for (const item of [...body.top_gainers, ...body.top_losers]) {
      expect(item).toEqual({
        id: expect.stringMatching(/./),
        symbol: expect.stringMatching(/./),
        name: expect.stringMatching(/./),
        image: expect.stringMatching(/^https:/),
        market_cap_rank: expect.any(Number),
        current_price: item.eur,
        price_change_percentage_24h: item.eur_24h_change,
        eur: expect.any(Number),
        eur_24h_vol: expect.any(Number),
        eur_24h_change: expect.any(Number),
      })
    }
  })

  test('are unavailable before the market is known', async ({ service, markets }) => {
    expectError(await requestPortfolio(service, PATH), 'upstream_unavailable')
    expect(markets.listRequests()).toEqual([])
  })
})

describe('Every endpoint of the markets', () => {
  const CALLS = [
    ['GET', '/markets'],
    ['GET', '/markets/top_gainers_losers'],
    ['GET', '/markets/coins/bitcoin'],
    ['POST', '/markets/coins/search'],
    ['GET', '/token/id/bitcoin'],
    ['GET', '/token/address/base-mainnet/native'],
  ] as const

  test.for(CALLS)('requires a currency that exists: %s %s', async ([method, path], { service, markets }) => {
    const ask = (currency: string) =>
      service.call(method, `/portfolio-indexor${path}?currency=${currency}`, {
        ...(method === 'POST' && { body: { search: 'bitcoin' } }),
      })
    for (const currency of ['', 'xxx', 'us', 'usd,eur', '__proto__', 'constructor']) {
      expectError(await ask(currency), 'unsupported_currency', ['currency'])
    }
    expect(markets.listRequests()).toEqual([])
  })
})
