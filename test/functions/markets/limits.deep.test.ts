import { describe, expect } from 'vitest'
import { REQUEST_UNITS } from '../../../lib/meter/meter.ts'
import { UNRESTRICTED_LIMITS } from '../../support/clients.ts'
import { expectError } from '../../support/errors.ts'
import { test as base, requestPortfolio } from '../../support/market-service.ts'
import { type Service, startNewContainers } from '../../support/service.ts'

const test = base.extend('containers', async ({ service, clock: _, markets: __ }, { onCleanup }) => {
  const both = [
    await startNewContainers(service, { isWhole: true }),
    await startNewContainers(service, { isWhole: true }),
  ] as const
  onCleanup(async () => {
    await Promise.all(both.map(({ stop }) => stop()))
  })
  return [both[0].service, both[1].service] as const
})

const search = (service: Service, text: string, key = service.apiKey) =>
  service.call('POST', '/portfolio-indexor/markets/coins/search', { key, body: { search: text } })

describe('A source that requests a pause', () => {
  test.for<[string, number, Readonly<Record<string, string>>, number]>([
    ['by 429 with Retry-After', 429, { 'retry-after': '40' }, 40],
    ['by 429 without Retry-After', 429, {}, 30],
    ['by 503 with Retry-After', 503, { 'retry-after': '20' }, 20],
    ['by 403 with Retry-After', 403, { 'retry-after': '20' }, 20],
  ])(
    '%s gets no request from any container for that time',
    async ([, status, headers, seconds], { containers, markets, clock }) => {
      const [one, other] = containers
      for (const id of ['bitcoin', 'ethereum'])
        expect((await requestPortfolio(one, `/markets/coins/${id}`)).status).toBe(200)
      markets.coinGecko.requests.length = 0
      clock.pass(61)
      markets.coinGecko.rewrite = () => ({ status, headers, body: {} })
      expectError(await requestPortfolio(one, '/markets/coins/dai'), 'upstream_unavailable')
      expect(markets.coinGecko.requests).toHaveLength(1)
      markets.coinGecko.rewrite = undefined
      clock.pass(1)

      for (const service of [one, other]) {
        const refused = await search(service, `nothing ${service.baseUrl}`)
        expectError(refused, 'upstream_unavailable')
        const wait = Number(refused.headers.get('retry-after'))
        expect(wait).toBeGreaterThan(seconds - 10)
        expect(wait).toBeLessThan(seconds)
        const stale = await requestPortfolio(service, '/markets/coins/ethereum')
        expect([stale.status, stale.headers.get('x-stale')]).toEqual([200, 'true'])
        // After CoinGecko's refusal, the service pauses only requests to CoinGecko. A chart from another provider
        // still works.
        const chart = await requestPortfolio(service, `/token/id/usd-coin?days=${service === one ? 1 : 7}`)
        expect([chart.status, chart.body.market_caps]).toEqual([200, []])
      }
      expect(markets.coinGecko.requests).toHaveLength(1)

      clock.pass(seconds)
      expect((await search(other, 'bitcoin')).status).toBe(200)
      expect((await requestPortfolio(one, '/markets/coins/bitcoin')).headers.get('x-stale')).toBeNull()
    },
  )

  test('gets no request from the jobs either', async ({ containers: [one], markets }) => {
    markets.coinGecko.rewrite = () => ({ status: 429, headers: { 'retry-after': '60' }, body: {} })
    expectError(await requestPortfolio(one, '/markets/coins/bitcoin'), 'upstream_unavailable')
    markets.coinGecko.rewrite = undefined
    await markets.refresh()
    expectError(await requestPortfolio(one, '/markets/top_gainers_losers'), 'upstream_unavailable')
  })
})

const MOST = 6

/** Two containers, an API key whose budget suffices for six fetches from CoinGecko, and an API key of another client. */
const strictTest = test.extend('strict', async ({ containers, clock, service }) => {
  clock.pass(600 - (Math.floor(Date.now() / 1000) % 600))
  const rate = { requests: MOST * REQUEST_UNITS.coingecko * 6, seconds: 3600 }
  return {
    containers,
    key: await service.createClient([], { ...UNRESTRICTED_LIMITS, rate }),
    otherKey: await service.createClient([]),
  }
})

const statuses = async (replies: readonly Promise<{ status: number }>[]) =>
  (await Promise.all(replies)).map(({ status }) => status)

describe('A key that has spent its units for fetches', () => {
  strictTest(
    'gets cached responses and is refused others in every container, and other clients are not',
    async ({ strict: { containers, key, otherKey }, markets, clock }) => {
      const [one, other] = containers
      expect((await requestPortfolio(one, '/markets/coins/bitcoin', key)).status).toBe(200)
      clock.pass(61)
      const replies = await statuses(
        Array.from({ length: 20 }, (_, i) => search(i % 2 ? one : other, `nothing like ${i}`, key)),
      )
      expect(replies.filter((status) => status === 200)).toHaveLength(MOST - 1)
      expect(replies.filter((status) => status === 429)).toHaveLength(20 - (MOST - 1))
      expect(markets.coinGecko.requests).toHaveLength(MOST)

      for (const service of containers) {
        const refused = await search(service, 'nothing at all', key)
        expectError(refused, 'too_many_requests', ['x-join-key'])
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(600 - 61)
        const stale = await requestPortfolio(service, '/markets/coins/bitcoin', key)
        expect([stale.status, stale.headers.get('x-stale')]).toEqual([200, 'true'])
      }
      expect(markets.coinGecko.requests).toHaveLength(MOST)

      // The other client still has a budget, so its request refreshes the cached coin for both clients.
      const refreshed = await requestPortfolio(other, '/markets/coins/bitcoin', otherKey)
      expect([refreshed.status, refreshed.headers.get('x-stale')]).toEqual([200, null])
      expect((await requestPortfolio(one, '/markets/coins/bitcoin', key)).headers.get('x-stale')).toBeNull()
      clock.pass(600)
      expect((await search(one, 'nothing at all', key)).status).toBe(200)
    },
  )

  strictTest(
    'fetches once for parallel requests of the same, and costs no writes when it is refused',
    async ({ strict: { containers, key }, markets }) => {
      const [one] = containers
      const same = await statuses(Array.from({ length: 10 }, () => search(one, 'nothing like it', key)))
      expect(same).toEqual(Array(10).fill(200))
      for (let i = 1; i < MOST; i += 1) expect((await search(one, `nothing like ${i}`, key)).status).toBe(200)
      expectError(await search(one, 'the first that is refused', key), 'too_many_requests', ['x-join-key'])
      one.table.reset()
      for (let i = 0; i < 5; i += 1) {
        expectError(await search(one, `refused ${i}`, key), 'too_many_requests', ['x-join-key'])
      }
      const written = one.table.tries.filter(({ action, body }) => action !== 'GetItem' && !body.includes('"LEASES"'))
      expect(written).toEqual([])
      expect(markets.coinGecko.requests).toHaveLength(MOST)
    },
  )
})
