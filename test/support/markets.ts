import { setImmediate } from 'node:timers/promises'
import { getAddress } from 'viem'
import { sharedCache } from '../../lib/cache/cache.ts'
import { cacheStore } from '../../lib/cache/store.ts'
import { createUpstream } from '../../lib/core/http.ts'
import { createCoinGecko } from '../../lib/markets/coingecko.ts'
import { CURRENCIES } from '../../lib/markets/currency.ts'
import { createDefiLlama } from '../../lib/markets/defillama.ts'
import { createLiFi } from '../../lib/markets/lifi.ts'
import { createListedCoinLookup } from '../../lib/markets/listed-coins.ts'
import type { PriceSource } from '../../lib/markets/source.ts'
import type { FakeService, ProviderReply } from '../../sandbox/fake.ts'
import { type Providers, startProviders } from '../../sandbox/providers.ts'
import { createRelayer } from '../../sandbox/relayer.ts'
import { UNRESTRICTED_LIMITS } from './clients.ts'
import { test as base } from './dynamo.ts'
import { UNLIMITED_BUDGET } from './upstream.ts'

/** Time at which the test clock starts, in milliseconds since 1970. */
export const CLOCK_START = Date.UTC(2026, 10, 21, 12)

/** USDC and DAI on Base, for which the simulated market data provider has prices. */
export const [USDC, DAI] = [
  { chainId: 8453, address: getAddress('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'), symbol: 'USDC', decimals: 6 },
  { chainId: 8453, address: getAddress('0x50c5725949a6f0c72e6c4a641f24049a917db0cb'), symbol: 'DAI', decimals: 18 },
] as const

/**
 * Failures of a market data provider: a closed connection, an unexpected response, no response. Each leads to its own error
 * code.
 */
export const SOURCE_FAILURES: readonly (readonly [string, NonNullable<FakeService['rewrite']>])[] = [
  ['hangs up', () => 'hang up'],
  ['answers another shape', () => ({ status: 200, body: { data: 7 } })],
  ['does not answer', () => new Promise<ProviderReply>(() => {})],
]

/** Creates a fake price source. By default it has no prices. */
export function someSource(changes: Partial<PriceSource> = {}): PriceSource {
  return {
    name: 'coingecko',
    currencies: CURRENCIES,
    fetchChart: async () => null,
    fetchPrices: async () => new Map(),
    ...changes,
  }
}

/** Test fixtures of market data: the shared cache in a table and simulated providers, with one clock for both. */
export const test = base
  .extend('time', { scope: 'file' }, () => ({ now: CLOCK_START }))
  .extend('providers', { scope: 'file' }, async ({ time }, { onCleanup }): Promise<Providers> => {
    const tokens = [USDC, DAI].map((token) => ({ ...token, name: `${token.symbol} of tests` }))
    const chains = [{ chainId: 8453, rpcUrl: 'http://127.0.0.1:1', blockSeconds: undefined, tokens }]
    const providers = await startProviders({
      secrets: {},
      chains,
      relayer: createRelayer({ chains: [] }),
      now: () => time.now,
    })
    onCleanup(() => providers.stop())
    return providers
  })
  /** Test clock, which starts again at `CLOCK_START` for each test. */
  .extend('clock', ({ time }) => {
    time.now = CLOCK_START
    return {
      now: () => time.now,
      pass: (seconds: number) => {
        time.now += seconds * 1000
      },
    }
  })
  /** Simulated providers, reset to their normal responses and without recorded requests. */
  .extend('fakes', ({ providers }) => {
    const { coinGecko, defiLlama, liFi } = providers
    for (const fake of [coinGecko, defiLlama, liFi]) {
      fake.rewrite = undefined
      fake.requests.length = 0
    }
    return { coinGecko, defiLlama, liFi }
  })
  .extend('cache', ({ tables, clock }) => {
    const sleep = (milliseconds: number) => {
      clock.pass(milliseconds / 1000)
      return setImmediate()
    }
    return sharedCache({ table: cacheStore(tables.cache), now: clock.now, sleep })
  })
  /** Services that the market endpoints and jobs use. Requests to a provider time out after one second. */
  .extend('world', ({ cache, clock, providers, fakes }) => {
    const ask = (name: string) =>
      createUpstream(
        { name, url: `${providers.url}/${name}`, deadlineMs: 1_000 },
        { fetch, random: () => 0, now: () => performance.now() },
      )
    const market = createCoinGecko(ask('coingecko'))
    return {
      cache,
      isListedCoin: createListedCoinLookup({ cache }),
      now: clock.now,
      fakes,
      coinGecko: market,
      priceSources: [market, createDefiLlama(ask('defillama'), { now: clock.now })] as const,
      liFi: createLiFi(ask('lifi')),
    }
  })

/** Arguments that an endpoint's handler gets in addition to the parsed request. */
export const CALL_CONTEXT = {
  client: { clientId: 'tests00000', name: 'Tests', createdAt: new Date(CLOCK_START), vaults: [] },
  limits: UNRESTRICTED_LIMITS,
  payFor: () => UNLIMITED_BUDGET,
  requestContext: { http: { method: 'GET', path: '/', sourceIp: '127.0.0.1' } },
}

/** Makes a simulated provider change its JSON response bodies before it sends them. */
export function rewriteJson(fake: FakeService, change: (body: unknown, url: URL) => unknown): void {
  fake.rewrite = (reply, { url }) => ({ ...reply, body: change(structuredClone(reply.body), url) })
}
