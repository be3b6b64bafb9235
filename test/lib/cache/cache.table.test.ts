import { setImmediate } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { TableError } from '../../../lib/aws/requests.ts'
import { type CacheKey, type CacheNamespace, sharedCache } from '../../../lib/cache/cache.ts'
import { cacheStore } from '../../../lib/cache/store.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { Chart } from '../../../lib/markets/coin.ts'
import { test as base } from '../../support/dynamo.ts'
import { captureLogs } from '../../support/logs.ts'
import { UNLIMITED_BUDGET } from '../../support/upstream.ts'

const START = Date.parse('2026-11-21T12:00:00.000Z')

const WORD: CacheNamespace<string> = { name: 'word', schema: z.string(), freshSeconds: 60, keepSeconds: 3600 }
const QUESTION: CacheKey<string> = { namespace: WORD, key: 'greeting' }
const unavailable = (seconds?: number) =>
  new AppError('upstream_unavailable', seconds === undefined ? {} : { headers: { 'retry-after': `${seconds}` } })

const test = base
  .extend('table', ({ tables }) => cacheStore(tables.cache))
  /** A clock that only `pass` moves. Waits of `cache` also move the clock, so that tests need not wait. */
  .extend('clock', () => {
    let now = START
    return {
      now: () => now,
      pass: (seconds: number) => {
        now += seconds * 1000
      },
    }
  })
  .extend('cache', ({ table, clock }) => {
    const sleep = (milliseconds: number) => {
      clock.pass(milliseconds / 1000)
      return setImmediate()
    }
    return sharedCache({ table, now: clock.now, sleep })
  })
  /** A cache whose waits take real time. The test clock does not move meanwhile. */
  .extend('patientCache', ({ table, clock }) => sharedCache({ table, now: clock.now }))
  .extend('upstream', () => {
    const upstream = {
      requestCount: 0,
      say: (): string | Promise<string> => 'hello',
      ask: async () => {
        upstream.requestCount += 1
        return upstream.say()
      },
      fail: (error: unknown) => {
        upstream.say = () => {
          throw error
        }
      },
    }
    return upstream
  })

describe('A cached response', () => {
  test('is written with others in one request per 25, and ages like any other', async ({ cache, clock }) => {
    const keys = Array.from({ length: 30 }, (_, i): CacheKey<string> => ({ namespace: WORD, key: `${i}` }))
    await cache.putMany(keys.map((key, i) => [key, `word ${i}`] as const))
    const cached = await cache.get({ first: keys[0] ?? QUESTION, last: keys[29] ?? QUESTION })
    const asOf = new Date(START)
    expect(cached).toEqual({
      first: { value: 'word 0', asOf, isStale: false },
      last: { value: 'word 29', asOf, isStale: false },
    })
    clock.pass(60)
    expect((await cache.get({ question: keys[0] ?? QUESTION })).question?.isStale).toBe(true)
  })

  test('is fetched once and kept with its time', async ({ cache, upstream, clock }) => {
    const asOf = new Date(START)
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toEqual({
      value: 'hello',
      asOf,
      isStale: false,
    })
    clock.pass(59)
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toEqual({
      value: 'hello',
      asOf,
      isStale: false,
    })
    expect(upstream.requestCount).toBe(1)
  })

  test('is read in one request while it is fresh', async ({ cache, upstream, requests }) => {
    await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)
    requests.length = 0
    await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)
    expect(requests).toEqual(['GetItem'])
  })

  test('is fetched again once it is no longer fresh', async ({ cache, upstream, clock }) => {
    await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)
    clock.pass(60)
    upstream.say = () => 'goodbye'
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toEqual({
      value: 'goodbye',
      asOf: new Date(START + 60_000),
      isStale: false,
    })
  })

  test('belongs to one key only', async ({ cache, upstream }) => {
    await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)
    await cache.getOrFetch({ namespace: WORD, key: 'farewell' }, UNLIMITED_BUDGET, upstream.ask)
    await cache.getOrFetch(
      { namespace: { ...WORD, name: 'sentence' }, key: 'greeting' },
      UNLIMITED_BUDGET,
      upstream.ask,
    )
    expect(upstream.requestCount).toBe(3)
  })

  test('that no longer matches the schema counts as missing', async ({ cache, upstream }) => {
    const older: CacheNamespace<number> = { ...WORD, schema: z.number() }
    await cache.put({ namespace: older, key: 'greeting' }, 7)
    expect(await cache.get({ QUESTION })).toEqual({ QUESTION: undefined })
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toMatchObject({
      value: 'hello',
      isStale: false,
    })
    expect(upstream.requestCount).toBe(1)
  })

  test('in another compression counts as missing', async ({ cache, upstream, tables }) => {
    const json = brotliCompressSync('"older"')
    const answer = { json, asOf: new Date(START).toISOString(), freshUntil: START + 60_000 }
    await tables.cache.putMany([{ pk: 'word#greeting', sk: 'ANSWER', answer, expiresAt: START / 1000 + 3600 }])
    expect(await cache.get({ QUESTION })).toEqual({ QUESTION: undefined })
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toMatchObject({
      value: 'hello',
      isStale: false,
    })
  })

  test('may be null and is not fetched again', async ({ cache }) => {
    const nothing: CacheKey<string | null> = { namespace: { ...WORD, schema: z.string().nullable() }, key: 'nothing' }
    let requestCount = 0
    const ask = async () => {
      requestCount += 1
      return null
    }
    for (const _ of [1, 2])
      expect(await cache.getOrFetch(nothing, UNLIMITED_BUDGET, ask)).toMatchObject({ value: null, isStale: false })
    expect(requestCount).toBe(1)
  })

  test('is kept if the upstream now returns null, until it expires', async ({ cache, clock }) => {
    captureLogs()
    const something: CacheKey<string | null> = {
      namespace: { ...WORD, schema: z.string().nullable() },
      key: 'something',
    }
    const nothing = async () => null
    await cache.put(something, 'hello')
    clock.pass(3599)
    expect(await cache.getOrFetch(something, UNLIMITED_BUDGET, nothing)).toMatchObject({
      value: 'hello',
      isStale: true,
    })
    clock.pass(10)
    expect(await cache.getOrFetch(something, UNLIMITED_BUDGET, nothing)).toMatchObject({ value: null, isStale: false })
  })

  test('of 4,700 points fits', async ({ cache }) => {
    const question: CacheKey<Chart> = {
      namespace: { name: 'chart', schema: Chart, freshSeconds: 60, keepSeconds: 60 },
      key: 'bitcoin',
    }
    // The numbers have many different digits, like real prices, so that they compress as badly.
    const series = (scale: number) =>
      Array.from({ length: 4700 }, (_, day): [number, number] => [
        START - (4700 - day) * 86_400_000,
        Math.abs(Math.sin(day + 1)) * scale,
      ])
    const chart = { prices: series(1e5), marketCaps: series(1e12), volumes: series(1e10) }
    await cache.put(question, chart)
    expect((await cache.get({ question })).question?.value).toEqual(chart)
  })

  test('may be deleted only once it is too old to replace a failure', async ({ table, cache, memory }) => {
    await cache.put(QUESTION, 'hello')
    expect(memory.tries).toMatchObject([
      { action: 'PutItem', request: { item: { expiresAt: START / 1000 + WORD.keepSeconds } } },
    ])
    expect(await table.get('word#greeting')).toHaveProperty('answer')
  })
})

describe('Parallel requests', () => {
  test('lead to one fetch, and all get its response', async ({ patientCache, upstream, clock }) => {
    let finish = () => {}
    const begun = new Promise<void>((begin) => {
      upstream.say = async () => {
        begin()
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return 'hello'
      }
    })
    const all = Promise.all(
      Array.from({ length: 50 }, () => patientCache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)),
    )
    await begun
    finish()
    const answers = await all
    expect(answers).toHaveLength(50)
    for (const answer of answers)
      expect(answer).toEqual({ value: 'hello', asOf: new Date(clock.now()), isStale: false })
    expect(upstream.requestCount).toBe(1)
  })

  test('all get the failure of one fetch', async ({ patientCache, upstream }) => {
    upstream.fail(unavailable())
    const all = Array.from({ length: 20 }, () => patientCache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask))
    const outcomes = await Promise.allSettled(all)
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'upstream_unavailable' } })
    expect(upstream.requestCount).toBe(1)
  })

  test('get the stale response immediately while one fetches', async ({ cache, upstream, clock }) => {
    await cache.put(QUESTION, 'old')
    clock.pass(61)
    let finish = (_: string) => {}
    const begun = new Promise<void>((begin) => {
      upstream.say = () => {
        begin()
        return new Promise((resolve) => {
          finish = resolve
        })
      }
    })
    const first = cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)
    await begun
    const others = await Promise.all([1, 2, 3].map(() => cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)))
    for (const answer of others) expect(answer).toEqual({ value: 'old', asOf: new Date(START), isStale: true })
    finish('new')
    expect(await first).toMatchObject({ value: 'new', isStale: false })
    expect(upstream.requestCount).toBe(1)
  })
})

describe('An upstream that fails', () => {
  test('is replaced by the stale response, marked as such, until it expires', async ({ cache, upstream, clock }) => {
    const { lines } = captureLogs()
    await cache.put(QUESTION, 'old')
    upstream.fail(unavailable())
    clock.pass(61)
    const stale = { value: 'old', asOf: new Date(START), isStale: true }
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toEqual(stale)
    expect(lines).toMatchObject([{ level: 'WARN', namespace: 'word', code: 'upstream_unavailable' }])
    expect(await cache.get({ QUESTION })).toEqual({ QUESTION: stale })
    clock.pass(3600 - 61)
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toEqual(stale)
    clock.pass(1)
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toMatchObject({
      code: 'upstream_unavailable',
    })
    expect(await cache.get({ QUESTION })).toEqual({ QUESTION: undefined })
  })

  test('gets no requests for five seconds', async ({ cache, upstream, clock }) => {
    upstream.fail(new AppError('upstream_timeout'))
    const failure = { code: 'upstream_timeout', headers: {} }
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toMatchObject(failure)
    clock.pass(4.9)
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toMatchObject(failure)
    expect(upstream.requestCount).toBe(1)
    clock.pass(0.1)
    upstream.say = () => 'hello'
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toMatchObject({
      value: 'hello',
      isStale: false,
    })
    expect(upstream.requestCount).toBe(2)
  })

  test('gets no requests until its retry-after, which all callers get', async ({ cache, upstream, clock }) => {
    upstream.fail(unavailable(60))
    const failure = { code: 'upstream_unavailable', headers: { 'retry-after': '60' } }
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toMatchObject(failure)
    clock.pass(20.5)
    const later = { code: 'upstream_unavailable', headers: { 'retry-after': '40' } }
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toMatchObject(later)
    expect(upstream.requestCount).toBe(1)
    clock.pass(39.5)
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toMatchObject(failure)
    expect(upstream.requestCount).toBe(2)
  })

  test('gets no requests either while a stale response replaces it', async ({ cache, upstream, clock }) => {
    await cache.put(QUESTION, 'old')
    upstream.fail(unavailable())
    clock.pass(61)
    for (const _ of [1, 2, 3])
      expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toMatchObject({ isStale: true })
    expect(upstream.requestCount).toBe(1)
  })

  test('is never cached as a response', async ({ cache, upstream, table }) => {
    upstream.fail(new AppError('upstream_bad_answer'))
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toMatchObject({
      code: 'upstream_bad_answer',
    })
    expect(await cache.get({ QUESTION })).toEqual({ QUESTION: undefined })
    expect(await table.get('word#greeting')).not.toHaveProperty('answer')
  })

  test('leaves no trace of its failure after a success', async ({ cache, upstream, table, clock }) => {
    upstream.fail(unavailable())
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toThrow()
    clock.pass(5)
    upstream.say = () => 'hello'
    await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)
    expect(Object.keys(await table.get('word#greeting'))).toEqual(['answer'])
  })
})

describe('A bug', () => {
  test.for<[string, (upstream: { say: () => string; fail: (error: unknown) => void }) => void]>([
    ['in a fetch', ({ fail }) => fail(new TypeError('a mistake'))],
    [
      'in the value to cache',
      (upstream) => {
        // The cast lets the data source return a value of the wrong type.
        upstream.say = () => 7 as unknown as string
      },
    ],
  ])('%s is thrown unchanged, even if a stale response could hide it', async ([, make], { cache, upstream, clock }) => {
    await cache.put(QUESTION, 'old')
    clock.pass(61)
    make(upstream as { say: () => string; fail: (error: unknown) => void })
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.not.toBeInstanceOf(AppError)
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toMatchObject({
      value: 'old',
      isStale: true,
    })
    expect(upstream.requestCount).toBe(1)
  })
})

test('An error of the table during a fetch is not reported as a failure of the upstream', async ({
  cache,
  upstream,
}) => {
  const trouble = new TableError('no throughput is left')
  upstream.fail(trouble)
  await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toBe(trouble)
  const next = cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)
  await expect(next).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(upstream.requestCount).toBe(1)
})

test('A refresher fetches even if the table’s response was lost', async ({ cache, upstream, clock, loseAnswers }) => {
  loseAnswers()
  expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toMatchObject({ value: 'hello' })
  expect(clock.now()).toBe(START)
})

describe('A refresher that dies', () => {
  const died = async (table: ReturnType<typeof cacheStore>, now: number) =>
    expect(await table.takeLease('word#greeting', { seen: undefined, now, until: now + 10_000 })).toBe(true)

  test('makes no caller wait longer than 8.5 s', async ({ cache, upstream, table, clock }) => {
    await died(table, clock.now())
    await expect(cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
    expect(clock.now() - START).toBeGreaterThanOrEqual(8_000)
    expect(clock.now() - START).toBeLessThan(8_500)
    expect(upstream.requestCount).toBe(0)
  })

  test('leaves the key to the next one once its lease ends', async ({ cache, upstream, table, clock }) => {
    await died(table, clock.now())
    clock.pass(9)
    expect(await cache.getOrFetch(QUESTION, UNLIMITED_BUDGET, upstream.ask)).toMatchObject({ value: 'hello' })
    expect(clock.now() - START).toBeGreaterThanOrEqual(10_000)
    expect(upstream.requestCount).toBe(1)
  })

  test('that saw a stale response gets no lease if another has replaced it', async ({ cache, table, clock }) => {
    await cache.put(QUESTION, 'old')
    const stored = (await table.get('word#greeting')).answer
    clock.pass(61)
    await cache.put(QUESTION, 'new')
    const now = clock.now()
    expect(await table.takeLease('word#greeting', { seen: stored, now, until: now + 1 })).toBe(false)
  })
})

describe('Many keys', () => {
  test('are read in one request', async ({ cache, requests }) => {
    const questions: Record<string, CacheKey<string>> = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`q${i}`, { namespace: WORD, key: i.toString() }]),
    )
    for (const [name, question] of Object.entries(questions)) if (name !== 'q7') await cache.put(question, name)
    requests.length = 0
    const answers = await cache.get({ ...questions, again: { namespace: WORD, key: '3' } } as typeof questions)
    expect(requests).toEqual(['BatchGetItem'])
    expect(answers['q19']).toEqual({ value: 'q19', asOf: new Date(START), isStale: false })
    expect(answers['again']).toEqual(answers['q3'])
    expect(answers['q7']).toBeUndefined()
  })

  test('need no request if there are none', async ({ cache, requests }) => {
    expect(await cache.get({})).toEqual({})
    expect(requests).toEqual([])
  })
})

describe('A remembered response', () => {
  const COINS: CacheNamespace<string[]> = {
    name: 'coins',
    schema: z.array(z.string()),
    freshSeconds: 300,
    keepSeconds: 3600,
    rememberedSeconds: 60,
  }
  const coins: CacheKey<string[]> = { namespace: COINS, key: 'all' }
  const market: CacheKey<string[]> = { namespace: COINS, key: 'market' }
  const memoryTest = test
    .extend('other', ({ table, clock }) => sharedCache({ table, now: clock.now }))
    /** Makes the table throttle all requests while `isOn` is true. Counts the throttled requests. */
    .extend('failing', ({ memory }) => {
      const failing = { isOn: false, count: 0 }
      memory.throttles = () => {
        // The AWS SDK tries each request twice, so each try counts as half a request.
        if (failing.isOn) failing.count += 0.5
        return failing.isOn
      }
      return failing
    })

  memoryTest(
    'is read once in a minute and not parsed again, with its true age',
    async ({ cache, other, clock, requests }) => {
      await other.put(coins, ['bitcoin'])
      clock.pass(290)
      const first = await cache.recall({ coins })
      expect(first.coins).toEqual({ value: ['bitcoin'], asOf: new Date(START), isStale: false })
      await other.put(coins, ['bitcoin', 'ethereum'])
      requests.length = 0
      clock.pass(59.999)
      const later = await cache.recall({ coins })
      expect(later.coins?.value).toBe(first.coins?.value)
      expect(later.coins).toEqual({ value: ['bitcoin'], asOf: new Date(START), isStale: true })
      expect(requests).toEqual([])
      clock.pass(0.001)
      expect((await cache.recall({ coins })).coins).toMatchObject({ value: ['bitcoin', 'ethereum'], isStale: false })
      expect(requests).toEqual(['BatchGetItem'])
    },
  )

  memoryTest('is read once for fifty parallel requests', async ({ cache, other, requests }) => {
    await other.put(coins, ['bitcoin'])
    await other.put(market, ['ethereum'])
    requests.length = 0
    const all = await Promise.all(Array.from({ length: 50 }, () => cache.recall({ coins, market })))
    expect(requests).toEqual(['BatchGetItem'])
    for (const result of all) expect([result.coins?.value, result.market?.value]).toEqual([['bitcoin'], ['ethereum']])
  })

  memoryTest(
    'belongs to a fixed key: keys that requests choose are read each time',
    async ({ cache, other, requests }) => {
      const words = Object.fromEntries(['a', 'b'].map((key) => [key, { namespace: WORD, key }]))
      for (const [word, key] of Object.entries(words)) await other.put(key, word)
      await other.put(coins, ['bitcoin'])
      requests.length = 0
      for (const _ of [1, 2, 3]) expect(await cache.recall({ ...words, coins })).toMatchObject({ a: { value: 'a' } })
      expect(requests).toEqual(['BatchGetItem', 'BatchGetItem', 'BatchGetItem'])
      requests.length = 0
      await cache.recall({ coins })
      expect(requests).toEqual([])
    },
  )

  memoryTest('is the one that the container itself last put', async ({ cache, requests }) => {
    await cache.put(coins, ['bitcoin'])
    await cache.recall({ coins })
    await cache.put(coins, ['ethereum'])
    requests.length = 0
    expect((await cache.recall({ coins })).coins?.value).toEqual(['ethereum'])
    expect(requests).toEqual([])
  })

  memoryTest('is not kept if it was missing', async ({ cache, other }) => {
    expect(await cache.recall({ coins })).toEqual({ coins: undefined })
    await other.put(coins, ['bitcoin'])
    expect((await cache.recall({ coins })).coins?.value).toEqual(['bitcoin'])
  })

  memoryTest('is never a failure, which all parallel requests get', async ({ cache, other, failing }) => {
    await other.put(coins, ['bitcoin'])
    failing.isOn = true
    for (const _ of [1, 2]) {
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => cache.recall({ coins })))
      expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'))
    }
    failing.isOn = false
    expect((await cache.recall({ coins })).coins?.value).toEqual(['bitcoin'])
  })

  memoryTest(
    'is used with its true age while the table fails, until it expires',
    async ({ cache, other, clock, failing }) => {
      await other.put(coins, ['bitcoin'])
      await cache.recall({ coins })
      failing.isOn = true
      clock.pass(3600)
      for (const _ of [1, 2]) {
        const recalled = await cache.recall({ coins })
        expect(recalled.coins).toEqual({ value: ['bitcoin'], asOf: new Date(START), isStale: true })
      }
      expect(failing.count).toBe(1)
      clock.pass(0.001)
      expect(await cache.recall({ coins })).toEqual({ coins: undefined })
      failing.isOn = false
      await other.put(coins, ['ethereum'])
      clock.pass(60)
      expect((await cache.recall({ coins })).coins?.value).toEqual(['ethereum'])
    },
  )

  memoryTest('is not what the others are told, who ask the table', async ({ cache, other }) => {
    await other.put(coins, ['bitcoin'])
    await cache.recall({ coins })
    await other.put(coins, ['ethereum'])
    expect((await cache.get({ coins })).coins?.value).toEqual(['ethereum'])
  })
})
