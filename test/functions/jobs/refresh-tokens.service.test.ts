import { describe, expect } from 'vitest'
import { refreshTokens } from '../../../functions/jobs/refresh-tokens/handler.ts'
import type { SharedCache } from '../../../lib/cache/cache.ts'
import { CHAINS } from '../../../lib/chain/registry.ts'
import { COIN_IDS_KEY, TOKENS_KEYS, tokensKey } from '../../../lib/markets/cache-keys.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import { WELL_KNOWN_TOKENS } from '../../../lib/markets/well-known-tokens.ts'
import { captureLogs } from '../../support/logs.ts'
import { test as base, CLOCK_START, DAI, rewriteJson, SOURCE_FAILURES, USDC } from '../../support/markets.ts'

type List = { tokens: Record<string, unknown[]> }

const BASE = tokensKey('base-mainnet')
const LISTED = CHAINS.length + 4

const test = base.extend('readStoredIds', ({ cache }) => async () => {
  const { BASE: tokens } = await cache.get({ BASE })
  return tokens?.value.map(({ address, coinGeckoId }) => [address, coinGeckoId])
})

function someToken(index: number): ListedToken {
  const address = `0x${(index + 1).toString().padStart(40, '0')}`
  const token = { chain: 'base-mainnet', address, symbol: `T${index}`, name: `Token ${index}`, decimals: 18 }
  return { ...token, coinKey: '', logoUrl: '', coinGeckoId: '' }
}

describe('A run', () => {
  test('stores the tokens of every chain, with the ids of their contracts', async ({ world, cache, readStoredIds }) => {
    expect(await refreshTokens(world)).toEqual({
      tokens: LISTED,
      withId: LISTED,
      areIdsNew: true,
      keptChains: [],
      lagSeconds: 0,
    })
    expect(await readStoredIds()).toEqual([
      ['native', 'ethereum'],
      [USDC.address, 'usd-coin'],
      [DAI.address, 'dai'],
    ])
    const cached = await cache.get(TOKENS_KEYS)
    for (const { key, nativeCoin } of CHAINS) {
      expect(cached[`tokens ${key}`]).toMatchObject({ asOf: new Date(CLOCK_START), isStale: false })
      expect(cached[`tokens ${key}`]?.value[0]).toMatchObject({
        address: 'native',
        coinGeckoId: nativeCoin.coinGeckoId,
      })
    }
  })

  test('every hour keeps the lists fresh, and one missed run does not make them stale', async ({
    world,
    cache,
    clock,
  }) => {
    await refreshTokens(world)
    clock.pass(3600)
    expect((await cache.get({ BASE })).BASE?.isStale).toBe(false)
    clock.pass(3600)
    expect((await cache.get({ BASE })).BASE?.isStale).toBe(true)
    clock.pass(7 * 24 * 3600)
    expect((await cache.get({ BASE })).BASE).toBeUndefined()
  })

  test('leaves the id empty for a contract that CoinGecko does not know', async ({ world, readStoredIds }) => {
    rewriteJson(world.fakes.coinGecko, (body) =>
      (body as { id: string }[]).map((coin) => (coin.id === 'dai' ? { ...coin, platforms: {} } : coin)),
    )
    expect(await refreshTokens(world)).toMatchObject({ tokens: LISTED, withId: LISTED - 1 })
    expect(await readStoredIds()).toContainEqual([DAI.address, ''])
  })
})

describe('A chain', () => {
  test.for<[string, (list: List) => void]>([
    ['is left out', ({ tokens }) => delete tokens['8453']],
    ['comes back empty', ({ tokens }) => Object.assign(tokens, { 8453: [] })],
    [
      'comes back with less than half of its tokens',
      ({ tokens }) => Object.assign(tokens, { 8453: tokens['8453']?.slice(0, 1) }),
    ],
    ['comes back without any valid token', ({ tokens }) => Object.assign(tokens, { 8453: [{}, 7, null] })],
  ])(
    'that %s keeps its old list with an error, and the others are new',
    async ([, change], { world, cache, clock, readStoredIds }) => {
      await refreshTokens(world)
      const before = await readStoredIds()
      rewriteJson(world.fakes.liFi, (body) => {
        change(body as List)
        return body
      })
      clock.pass(3600)
      const { lines } = captureLogs()
      expect(await refreshTokens(world)).toEqual({
        tokens: LISTED - 3,
        withId: LISTED - 3,
        areIdsNew: true,
        keptChains: ['base-mainnet'],
        lagSeconds: 3600,
      })
      expect(lines).toMatchObject([{ level: 'WARN', chain: 'base-mainnet' }])
      expect(await readStoredIds()).toEqual(before)
      const cached = await cache.get({ BASE, other: tokensKey('eth-mainnet') })
      expect(cached.BASE?.asOf).toEqual(new Date(CLOCK_START))
      expect(cached.other?.asOf).toEqual(new Date(clock.now()))
    },
  )

  test('may lose half of its tokens, and is cut to three hundred of ten thousand', async ({ world, cache }) => {
    captureLogs()
    await cache.put(BASE, [0, 1, 2, 3, 4, 5].map(someToken))
    expect(await refreshTokens(world)).toMatchObject({ keptChains: [] })
    rewriteJson(world.fakes.liFi, (body) => {
      const many = Array.from({ length: 10_000 }, (_, index) => ({ ...someToken(index), marketCapUSD: index + 1 }))
      ;(body as List).tokens['8453'] = many
      return body
    })
    expect(await refreshTokens(world)).toMatchObject({ tokens: LISTED + 297, keptChains: [] })
    expect((await cache.get({ BASE })).BASE?.value).toHaveLength(300)
  })

  test('that never had a list has the maximum lag', async ({ world }) => {
    captureLogs()
    rewriteJson(world.fakes.liFi, (body) => {
      delete (body as List).tokens['8453']
      return body
    })
    expect(await refreshTokens(world)).toMatchObject({ keptChains: ['base-mainnet'], lagSeconds: 7 * 24 * 3600 })
  })
})

describe('The list of all coins', () => {
  const ids = async (cache: { get: SharedCache['get'] }) =>
    (await cache.get({ COIN_IDS: COIN_IDS_KEY })).COIN_IDS?.value

  test('is stored with every coin once', async ({ world, cache }) => {
    await refreshTokens(world)
    const cachedIds = await ids(cache)
    expect(new Set(cachedIds).size).toBe(cachedIds?.length)
    expect(cachedIds).toEqual(expect.arrayContaining(['bitcoin', 'made-up-coin-290']))
  })

  test.for<[string, (coins: unknown[]) => unknown[]]>([
    ['is empty', () => []],
    ['shrinks to less than half', (coins) => coins.slice(0, coins.length / 2 - 1)],
  ])('that %s makes the run fail, and ids stay as they were', async ([, change], { world, cache, readStoredIds }) => {
    captureLogs()
    await refreshTokens(world)
    const before = [await ids(cache), await readStoredIds()]
    rewriteJson(world.fakes.coinGecko, (body) => change(body as unknown[]))
    expect(await refreshTokens(world)).toMatchObject({ areIdsNew: false, withId: LISTED })
    expect([await ids(cache), await readStoredIds()]).toEqual(before)
  })
})

describe.for(SOURCE_FAILURES)('When a source %s,', ([, fail]) => {
  test('tokens without new ids keep the old ones', async ({ world, readStoredIds }) => {
    world.fakes.coinGecko.rewrite = fail
    expect(await refreshTokens(world)).toMatchObject({ areIdsNew: false, keptChains: [] })
    const wellKnownTokens = WELL_KNOWN_TOKENS.filter(({ chain }) => chain === 'base-mainnet')
    const first = await readStoredIds()
    expect(first).toContainEqual([
      USDC.address,
      wellKnownTokens.find(({ address }) => address === USDC.address)?.coinGeckoId,
    ])
    expect(first).toContainEqual(['native', 'ethereum'])

    world.fakes.coinGecko.rewrite = undefined
    await refreshTokens(world)
    const second = await readStoredIds()
    world.fakes.coinGecko.rewrite = fail
    expect(await refreshTokens(world)).toMatchObject({ areIdsNew: false })
    expect(await readStoredIds()).toEqual(second)
  })

  test('a run without a list fails, and every chain keeps its old list', async ({ world, readStoredIds }) => {
    await refreshTokens(world)
    const before = await readStoredIds()
    world.fakes.liFi.rewrite = fail
    await expect(refreshTokens(world)).rejects.toMatchObject({ code: expect.stringMatching(/^upstream_/) })
    expect(await readStoredIds()).toEqual(before)
  })
})
