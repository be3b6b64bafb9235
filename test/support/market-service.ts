import { sharedCache } from '../../lib/cache/cache.ts'
import { cacheStore } from '../../lib/cache/store.ts'
import type { BackendsOptions } from '../../sandbox/backends.ts'
import { someContext } from './lambda.ts'
import { chainlessTest, type Service } from './service.ts'
import { resetTable } from './tables.ts'

/** Maximum age in milliseconds of a container's in-memory copy of the cache. */
const TEN_MINUTES_MS = 600_000

/** Test fixtures of the running service with simulated market data providers. Each test begins with an empty cache. */
export const test = chainlessTest
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('time', { scope: 'file' }, ({}, { onCleanup }) => {
    const { now } = Date
    const time = { passedMs: 0 }
    Date.now = () => now() + time.passedMs
    onCleanup(() => {
      Date.now = now
    })
    return time
  })
  .extend('backendsOptions', { scope: 'file' }, ({ time: _ }): BackendsOptions => ({ chainIds: [] }))
  .extend('markets', async ({ service, time }) => {
    const forget = () => {
      time.passedMs += TEN_MINUTES_MS
    }
    forget()
    const { coinGecko, defiLlama, liFi } = service.backends.providers
    const fakes = [coinGecko, defiLlama, liFi]
    for (const fake of fakes) {
      fake.rewrite = undefined
      fake.requests.length = 0
    }
    await resetTable(service.tables.cache, new Map())
    return {
      coinGecko,
      defiLlama,
      liFi,
      listRequests: () => fakes.flatMap(({ requests }) => requests),
      forget,
      /** Opens the service's cache table directly. `now` is in milliseconds since 1970. */
      cacheAt: (now = Date.now()) => sharedCache({ table: cacheStore(service.tables.cache), now: () => now }),
      async refresh() {
        for (const job of ['refresh-tokens', 'refresh-market']) {
          const { handler } = await import(`../../functions/jobs/${job}/handler.ts`)
          await handler({}, someContext())
        }
        for (const fake of fakes) fake.requests.length = 0
      },
    }
  })

/** Sends a GET request to a path below `/portfolio-indexor` of the service. */
export const requestPortfolio = (service: Service, path: string, key = service.apiKey) =>
  service.call('GET', `/portfolio-indexor${path}`, { key })
