import { describe, expect } from 'vitest'
import { expectError } from '../../support/errors.ts'
import { test as base, get } from '../../support/market-service.ts'
import { type Service, startAnew } from '../../support/service.ts'

/** Two containers of the same service, whose clock is the test's. */
const test = base.extend('containers', async ({ service, clock: _, markets: __ }, { onCleanup }) => {
  const both = [await startAnew(service), await startAnew(service)] as const
  onCleanup(async () => {
    await Promise.all(both.map(({ stop }) => stop()))
  })
  return [both[0].service, both[1].service] as const
})

const search = (service: Service, text: string) =>
  service.call('POST', '/portfolio-indexor/markets/coins/search', { body: { search: text } })

describe('A service that asks for a pause', () => {
  test.for<[string, number, Readonly<Record<string, string>>, number]>([
    ['by 429 with Retry-After', 429, { 'retry-after': '40' }, 40],
    ['by 429 alone', 429, {}, 30],
    ['by 503 with Retry-After', 503, { 'retry-after': '20' }, 20],
    ['by 403 with Retry-After', 403, { 'retry-after': '20' }, 20],
  ])(
    '%s is asked nothing for that time, by whichever container',
    async ([, status, headers, seconds], { containers, markets, clock }) => {
      const [one, other] = containers
      for (const id of ['bitcoin', 'ethereum']) expect((await get(one, `/markets/coins/${id}`)).status).toBe(200)
      markets.coinGecko.requests.length = 0
      clock.pass(61)
      markets.coinGecko.rewrite = () => ({ status, headers, body: {} })
      expectError(await get(one, '/markets/coins/dai'), 'upstream_unavailable')
      expect(markets.coinGecko.requests).toHaveLength(1)
      markets.coinGecko.rewrite = undefined
      clock.pass(1)

      for (const service of [one, other]) {
        const refused = await search(service, `nothing ${service.baseUrl}`)
        expectError(refused, 'upstream_unavailable')
        const wait = Number(refused.headers.get('retry-after'))
        expect(wait).toBeGreaterThan(seconds - 10)
        expect(wait).toBeLessThan(seconds)
        const stale = await get(service, '/markets/coins/ethereum')
        expect([stale.status, stale.headers.get('x-stale')]).toEqual([200, 'true'])
        // Another service has no pause.
        const chart = await get(service, `/token/id/usd-coin?days=${service === one ? 1 : 7}`)
        expect([chart.status, chart.body.market_caps]).toEqual([200, []])
      }
      expect(markets.coinGecko.requests).toHaveLength(1)

      clock.pass(seconds)
      expect((await search(other, 'bitcoin')).status).toBe(200)
      expect((await get(one, '/markets/coins/bitcoin')).headers.get('x-stale')).toBeNull()
    },
  )

  test('is asked nothing by the jobs either', async ({ containers: [one], markets }) => {
    markets.coinGecko.rewrite = () => ({ status: 429, headers: { 'retry-after': '60' }, body: {} })
    expectError(await get(one, '/markets/coins/bitcoin'), 'upstream_unavailable')
    markets.coinGecko.rewrite = undefined
    await markets.refresh()
    expectError(await get(one, '/markets/top_gainers_losers'), 'upstream_unavailable')
  })
})
