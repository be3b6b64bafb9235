import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { describe, expect, onTestFinished, vi } from 'vitest'
import manifest from '../../client/package.json' with { type: 'json' }
import {
  type Client,
  deleteUser,
  type Failure,
  getCoin,
  getDepositStatus,
  getHealth,
  items,
  linkWallet,
  listDeposits,
  listSessions,
  listVaults,
  orThrow,
  poll,
  prepareDeposit,
  waitForDeposit,
} from '../../client/src/index.ts'
import { messageForUser } from '../../client/src/messages.ts'
import { query, queryAnswer } from '../../client/src/query.ts'
import { extractGuide } from '../support/guides.ts'
import { test as serviceTest, USERS } from '../support/service.ts'
import { openLagoonVault } from '../support/vaults.ts'

const [ALICE] = USERS

const test = serviceTest.extend('client', ({ service }): Client => ({ url: service.baseUrl, key: service.apiKey }))

/** Creates an API client that gets these responses in order; the last one repeats. `requests` lists the client's requests. */
function createScriptedClient(...answers: (() => Response | Promise<Response>)[]) {
  const requests: { url: string; init: RequestInit }[] = []
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)]
    requests.push({ url: String(url), init })
    init.signal?.throwIfAborted()
    return await (answer?.() ?? new Promise<Response>((_, reject) => init.signal?.addEventListener('abort', reject)))
  }
  return { requests, client: { url: 'https://api.example/', key: 'jk', fetch } }
}
const ok =
  (data: unknown, headers = {}) =>
  () =>
    Response.json(data, { headers })
const refuse =
  (status: number, code: string, headers = {}) =>
  () =>
    Response.json(
      { success: false, code, message: 'Do that.' },
      { status, headers: { 'x-request-id': 'r-1', ...headers } },
    )

describe('A program', () => {
  test('deposits into an asynchronous vault with the code of client/README.md, until it has shares', async ({
    service,
    onTestFinished,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5', asset: 'USDC', chainId: 8453 })
    await vault.mint(ALICE.address, vault.units('50'))
    const { folder } = await extractGuide('client/README.md', {})
    vi.stubEnv('VAULTLINE_URL', service.baseUrl)
    vi.stubEnv('VAULTLINE_KEY', vault.key)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { deposit } = await import(join(folder, 'deposit-and-claim.ts'))

    // The vault settles while the client polls the deposit's status. The test changes the response's poll delay to 1
    // ms.
    const { fetch } = globalThis
    onTestFinished(() => {
      globalThis.fetch = fetch
    })
    globalThis.fetch = async (...request) => {
      const response = await fetch(...request)
      const text = await response.text()
      if (text.includes('"status":"pending"')) await vault.settle()
      return new Response(text.replace(/("nextPollAfterMs":)\d+/, '$11'), response)
    }
    const account = privateKeyToAccount(ALICE.privateKey)
    await deposit(
      createClient({ account, chain: base, transport: http(vault.chain.rpcUrl), pollingInterval: 20 }),
      vault.address,
      `${vault.units('50')}`,
    )
    expect(await vault.read('balanceOf', ALICE.address)).toBeGreaterThan(0n)
  })

  test('reads all pages of a history', async ({ service, client }) => {
    const vault = await openLagoonVault(service, { generation: '0.5', asset: 'USDC', chainId: 8453 })
    const mine = { ...client, key: vault.key }
    for (const amount of ['1', '2', '3']) await vault.request(ALICE.address, vault.units(amount))
    const depositedAssets: string[] = []
    for await (const { amounts } of items(listDeposits, mine, { userAddress: ALICE.address, limit: 2 })) {
      depositedAssets.push(amounts.depositedAssets)
    }
    expect(depositedAssets).toEqual(['3', '2', '1'].map((amount) => `${vault.units(amount)}`))
  })

  test('reads all pages of the list of vaults', async ({ client }) => {
    const whole = orThrow(await listVaults(client)).data.map(({ poolId }) => poolId)
    const poolIds: string[] = []
    for await (const { poolId } of items(listVaults, client, { limit: 3 })) poolIds.push(poolId)
    expect(poolIds).toEqual(whole)
  })
})

describe('An error', () => {
  test('has the code that the API returns', async ({ service, client }) => {
    const wrong = await listVaults({ ...client, key: 'jk_wrong' })
    expect(wrong).toMatchObject({ ok: false, error: { code: 'invalid_api_key', status: 401, retryAfterMs: undefined } })
    const none = await listSessions(client)
    expect(none.ok ? undefined : none.error.code).toBe('missing_session')
    const input = await prepareDeposit(client, { vaultAddress: '0x1', userAddress: ALICE.address, amount: '0' })
    expect(input.ok ? [] : input.error.details.map(({ field }) => field)).toEqual(['vaultAddress', 'amount'])
    expect(() => orThrow(wrong)).toThrow('invalid_api_key: The API key was not recognised')
    expect(service.baseUrl).toBe(client.url)
  })

  test('has a code of the client if the API sent no response', async () => {
    const unreachable = createScriptedClient(() => Promise.reject(new TypeError('fetch failed')))
    expect(await linkWallet(unreachable.client, { message: '', signature: '' })).toMatchObject({
      error: { code: 'network', status: 0, message: 'The API cannot be reached: fetch failed' },
    })
    const proxy = createScriptedClient(() => new Response('<html>', { status: 403 }))
    expect(await listVaults(proxy.client)).toMatchObject({ error: { code: 'unexpected', status: 403 } })
    const page = createScriptedClient(() => new Response('<html>', { status: 200 }))
    expect(await listVaults(page.client)).toMatchObject({ error: { code: 'unexpected', status: 200 } })
    const gateway = createScriptedClient(() => Response.json({ message: 'Too Many Requests' }, { status: 429 }))
    expect(await linkWallet(gateway.client, { message: '', signature: '' })).toMatchObject({
      error: { code: 'throttled', status: 429 },
    })
  })

  test('has the code "unexpected" if the body is missing or is not an object', async () => {
    for (const body of ['', 'null', '1']) {
      const { client } = createScriptedClient(() => new Response(body))
      expect(await listVaults(client), body).toMatchObject({ error: { code: 'unexpected', status: 200 } })
      await expect(query(listVaults, client, undefined).queryFn()).rejects.toThrow(/^unexpected: (?!.*jk)/)
    }
    const empty = createScriptedClient(() => new Response(null, { status: 204 }))
    expect(await deleteUser(empty.client)).toMatchObject({ ok: true, data: undefined })
    expect(await deleteUser(createScriptedClient(ok({})).client)).toMatchObject({ error: { code: 'unexpected' } })
  })

  test.for<[unknown, object]>([
    [{ details: null }, { details: [] }],
    [{ details: {} }, { details: [] }],
    [
      { details: [null, 1, { field: 1 }, { field: 'amount', issue: 'x', calls: [] }] },
      { details: [{ field: 'amount', issue: 'x' }] },
    ],
    [
      { details: [{ field: 'amount', issue: 'x', atLeast: 'abc', atMost: 5 }] },
      { details: [{ field: 'amount', issue: 'x' }] },
    ],
    [
      { details: [{ field: 'amount', issue: 'x', atLeast: '5' }] },
      { details: [{ field: 'amount', issue: 'x', atLeast: '5' }] },
    ],
    [{ message: { a: 1 } }, { message: '' }],
    [{ message: 'one\ntwo\u202E' }, { message: 'onetwo' }],
    [{ code: 'a code\n' }, { code: 'unexpected' }],
  ])('has valid fields, whatever the response contains: %j', async ([body, expected]) => {
    const broken = () => Response.json({ success: false, code: 'x', message: 'm', ...Object(body) }, { status: 400 })
    const result = await listVaults(createScriptedClient(broken).client)
    expect(result.ok ? {} : result.error).toMatchObject(expected)
    expect(result.ok ? '' : messageForUser(result.error, { amount: { symbol: 'USDC', decimals: 6 } })).toBeTruthy()
    expect(JSON.stringify(result)).not.toContain('calls')
  })

  test('ends a call that its caller aborts or that exceeds its timeout', async () => {
    const silent = createScriptedClient()
    expect(await listVaults({ ...silent.client, timeoutMs: 1 })).toMatchObject({ error: { code: 'timeout' } })
    const result = await listVaults(silent.client, undefined, { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ error: { code: 'aborted' } })
  })
})

describe('A call', () => {
  test('has path and query parameters in its URL, and the rest in its body', async () => {
    const { client, requests } = createScriptedClient(ok({}))
    await getCoin({ ...client, session: () => 'token' }, { id: 'a/b', currency: 'eur' })
    await prepareDeposit(client, { vaultAddress: '0x1', userAddress: '0x2', amount: '5' })
    expect(requests.map(({ url }) => url)).toEqual([
      'https://api.example/portfolio-indexor/markets/coins/a%2Fb?currency=eur',
      'https://api.example/defi-vaults/v1/defi/vault/deposit',
    ])
    expect(requests[0]?.init.headers).toEqual({ 'x-join-key': 'jk', authorization: 'Bearer token' })
    expect(JSON.parse(String(requests[1]?.init.body))).toEqual({ vaultAddress: '0x1', userAddress: '0x2', amount: '5' })
  })

  test('stays at its route, whatever a path parameter contains', async () => {
    const { client, requests } = createScriptedClient(ok({}))
    for (const id of ['.', '..', '../..', '...']) await getCoin(client, { id })
    const paths = requests.map(({ url }) => new URL(url).pathname.replace('/portfolio-indexor/markets/coins/', ''))
    expect(paths).toEqual(['%252E', '%252E%252E', '..%2F..', '...'])
  })

  test('reports the age of its response', async () => {
    const { client } = createScriptedClient(ok([], { age: '12', 'x-stale': 'true', 'x-request-id': 'r-2' }))
    expect(await listVaults(client)).toMatchObject({ ok: true, ageMs: 12_000, isStale: true, requestId: 'r-2' })
  })

  test('that reads is retried as the response says, one that writes never is', async () => {
    const later = refuse(503, 'upstream_unavailable', { 'retry-after': '0' })
    const reading = createScriptedClient(later, later, ok([]))
    expect((await listVaults(reading.client)).ok).toBe(true)
    expect(reading.requests).toHaveLength(3)
    const acting = createScriptedClient(later)
    expect(await linkWallet(acting.client, { message: '', signature: '' })).toMatchObject({
      error: { code: 'upstream_unavailable', requestId: 'r-1', retryAfterMs: 0 },
    })
    expect(acting.requests).toHaveLength(1)
    const patient = createScriptedClient(refuse(429, 'too_many_requests', { 'retry-after': '600' }))
    expect(await listVaults(patient.client)).toMatchObject({ error: { retryAfterMs: 600_000 } })
    expect(patient.requests).toHaveLength(1)
  })

  test('is polled until no further poll is due, an error persists or the caller aborts', async () => {
    const of = { vaultAddress: '0x1', userAddress: '0x2' } as const
    const pending = ok({ status: 'pending', nextPollAfterMs: 1 })
    const later = refuse(503, 'upstream_unavailable', { 'retry-after': '0' })
    const until = async (...answers: Parameters<typeof createScriptedClient>) => {
      const { client } = createScriptedClient(...answers)
      const outcomes: string[] = []
      for await (const result of poll(getDepositStatus, client, of)) {
        outcomes.push(result.ok ? result.data.status : result.error.code)
      }
      return outcomes
    }
    const claimable = ok({ status: 'claimable', nextPollAfterMs: null })
    expect(await until(pending, pending, claimable)).toEqual(['pending', 'pending', 'claimable'])
    expect(await until(pending, later, later, later, later, claimable)).toEqual([
      'pending',
      'upstream_unavailable',
      'claimable',
    ])
    expect(await until(pending, refuse(404, 'vault_not_found'))).toEqual(['pending', 'vault_not_found'])
    const controller = new AbortController()
    const { client } = createScriptedClient(ok({ status: 'pending', nextPollAfterMs: 60_000 }))
    const waiting = waitForDeposit(client, of, { signal: controller.signal, onAnswer: () => controller.abort() })
    expect(await waiting).toMatchObject({ ok: true, data: { status: 'pending' } })
  })
})

describe('A pause between polls', () => {
  test.for([0, -5, 2 ** 31, 1e300])('is at least 250 ms, even if the response says %d ms', async (nextPollAfterMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const { client, requests } = createScriptedClient(ok({ status: 'pending', nextPollAfterMs }))
    const controller = new AbortController()
    const place = { vaultAddress: '0x1', userAddress: '0x2' } as const
    const waiting = waitForDeposit(client, place, { signal: controller.signal })
    await vi.advanceTimersByTimeAsync(249)
    expect(requests).toHaveLength(1)
    controller.abort()
    await waiting
  })

  test('leaves an infinite timeout infinite', async () => {
    const { client } = createScriptedClient(ok({ status: 'pending', nextPollAfterMs: null }))
    const slow: Client = {
      ...client,
      timeoutMs: Number.POSITIVE_INFINITY,
      fetch: async (url, init) => {
        await setTimeout(20)
        if (init?.signal?.aborted) throw init.signal.reason
        return (client.fetch ?? fetch)(url, init)
      },
    }
    expect(await getDepositStatus(slow, { vaultAddress: '0x1', userAddress: '0x2' })).toMatchObject({ ok: true })
  })
})

describe('A query', () => {
  test('has a key per user and input, and is repeated after the delay in its response', async () => {
    const of = { vaultAddress: '0x1', userAddress: '0x2' } as const
    const { client } = createScriptedClient(
      ok({ status: 'pending', nextPollAfterMs: 5 }),
      refuse(404, 'vault_not_found'),
    )
    const { queryKey, queryFn, refetchInterval } = query(getDepositStatus, { ...client, session: () => 'token' }, of)
    const route = 'GET /defi-vaults/v1/defi/vault/{vaultAddress}/deposit-status'
    expect(queryKey).toEqual(['https://api.example/', 'jk', expect.any(Number), route, of, 'data'])
    expect(query(getDepositStatus, { ...client, session: 'other' }, of).queryKey).not.toEqual(queryKey)
    const data = await queryFn()
    expect(refetchInterval({ state: { data } })).toBe(5)
    expect(refetchInterval({ state: { data: { ...data, nextPollAfterMs: null } } })).toBe(false)
    expect(refetchInterval({ state: {} })).toBe(false)
    for (const [nextPollAfterMs, pause] of [
      [0, 250],
      [-1, 250],
      [1e12, 2 ** 31 - 1],
    ]) {
      expect(refetchInterval({ state: { data: { ...data, nextPollAfterMs: nextPollAfterMs ?? 0 } } })).toBe(pause)
    }
    await expect(queryFn()).rejects.toMatchObject({ name: 'CallFailure', error: { code: 'vault_not_found' } })
  })

  test('can return the age of its response', async () => {
    const old = () =>
      new Response('{"status":"ok"}', { headers: { 'x-stale': 'true', age: '9', 'x-request-id': 'r1' } })
    const { client } = createScriptedClient(old)
    const { queryFn } = queryAnswer(getHealth, client, undefined)
    expect(await queryFn()).toEqual({ ok: true, data: { status: 'ok' }, isStale: true, ageMs: 9000, requestId: 'r1' })
  })
})

describe('A message for the user', () => {
  const refusal = { message: '', details: [], requestId: 'r1', retryAfterMs: undefined } as const

  test('has the text of docs/errors.md and says how long to wait', () => {
    expect(messageForUser({ ...refusal, code: 'vault_is_paused', status: 409 })).toBe(
      'This vault is paused by its manager. Your money stays where it is.',
    )
    expect(messageForUser({ ...refusal, code: 'too_many_requests', status: 429, retryAfterMs: 61_000 })).toBe(
      'Too many attempts. Please wait 2 minutes.',
    )
    expect(messageForUser({ ...refusal, code: 'too_many_requests', status: 429 })).toBe(
      'Too many attempts. Please wait a while.',
    )
  })

  const USDC = { symbol: 'USDC', decimals: 6 }
  const WETH = { symbol: 'WETH', decimals: 18 }
  const SHARES = { symbol: 'vUSDC', decimals: 18 }
  test.for([
    {
      code: 'amount_too_low_for_bridge',
      detail: { field: 'amount', atLeast: '1443000' },
      says: ' Send at least 1.45 USDC.',
    },
    { code: 'amount_exceeds_balance', detail: { field: 'amount', atMost: '423456787' }, says: ' At most 423.45 USDC.' },
    {
      code: 'vault_cap_reached',
      detail: { field: 'amount', atMost: '1234567890000' },
      says: ' At most 1,234,567.89 USDC.',
    },
    { code: 'vault_cap_reached', detail: { field: 'amount', atMost: '1' }, says: ' At most 0.000001 USDC.' },
    { code: 'vault_cap_reached', detail: { field: 'amount', atMost: '2000000' }, says: ' At most 2 USDC.' },
    {
      code: 'amount_too_low_for_bridge',
      detail: { field: 'amount', atLeast: '1234567890123456' },
      says: ' Send at least 0.00124 WETH.',
      amount: WETH,
    },
    {
      code: 'not_enough_liquidity',
      detail: { field: 'shares', atMost: '99999999999999999999' },
      says: ' At most 99.99 vUSDC.',
    },
    { code: 'amount_too_low_for_bridge', detail: { field: 'dstChainId', atLeast: '1443000' }, says: '' },
    { code: 'amount_exceeds_balance', detail: { field: 'amount' }, says: '' },
  ])('adds an amount in tokens that works: "$says" for $detail', ({ code, detail, says, amount = USDC }) => {
    // The cast restores the type of the API's error codes, which the compiler widens to string.
    const error = { ...refusal, code, status: 400, details: [{ issue: 'is wrong', ...detail }] } as Failure['error']
    const plain = messageForUser(error)
    expect(messageForUser(error, { amount, shares: SHARES })).toBe(`${plain}${says}`)
    expect(messageForUser(error, {})).toBe(plain)
  })

  test('names the request id for a mistake of the program and for an unknown code', () => {
    for (const code of ['invalid_json', 'constructor', '__proto__'] as const) {
      expect(messageForUser({ ...refusal, code: code as 'invalid_json', status: 400 })).toBe(
        'Something went wrong. (r1)',
      )
    }
  })

  test('asks the user to check the clock if a response is out of its time', async () => {
    const late = Object.assign(new Error('late'), { name: 'UnverifiedAnswer', reason: 'not_in_time' })
    const result = await listVaults(createScriptedClient(() => Promise.reject(late)).client)
    expect(result.ok ? '' : messageForUser(result.error)).toBe(
      'We could not verify that this response is genuine. Check the date and time of your device.',
    )
  })
})

describe('The package', () => {
  const gzipped = async (contents: string) => {
    const stdin = { contents, resolveDir: 'client/src', loader: 'ts' as const }
    const { outputFiles } = await build({
      stdin,
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
      external: ['react'],
    })
    return gzipSync(outputFiles[0]?.contents ?? '').length
  }

  const rows = readFileSync('client/README.md', 'utf8').matchAll(
    /^\| (?:`(\w+)` of |all calls of )?`@vaultline\/client\/?(\w*)` +\| ([\d.]+) kB +\|$/gm,
  )
  const sizes = [...rows].map(([, name = '*', entry = '', size]) => ({ name, entry, size: Number(size) * 1000 }))

  test('lists the size of each entry for pages in its README', () => {
    // The MCP server is left out, because it runs in a process of its own, not in web pages.
    const entries = Object.keys(manifest.exports).flatMap((entry) =>
      entry === './mcp' ? [] : entry.replace(/^\.\/?/, ''),
    )
    expect(new Set(sizes.map(({ entry }) => entry))).toEqual(new Set(entries))
  })

  test.for(sizes)('takes at most $size bytes for $name of its entry "$entry", and not much less', async (row) => {
    const { name, entry, size } = row
    const file = manifest.exports[`./${entry}`.replace(/\/$/, '') as keyof typeof manifest.exports]['@vaultline/source']
    const taken = await gzipped(`export ${name === '*' ? name : `{ ${name} }`} from '.${file.replace('./src', '')}'`)
    expect(taken).toBeLessThanOrEqual(size)
    expect(taken).toBeGreaterThan(size - 300)
  })

  test('is at most 4 kB with all its calls, and 10 kB with any entry', () => {
    expect(sizes.find(({ name, entry }) => name === '*' && entry === '')?.size).toBeLessThanOrEqual(4000)
    expect(sizes.filter(({ size }) => size > 10_000)).toEqual([])
  })
})
