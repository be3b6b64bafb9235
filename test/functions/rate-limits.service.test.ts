import { describe, expect, onTestFinished, vi } from 'vitest'
import { remove } from '../../lib/aws/conditions.ts'
import { parseApiKey } from '../../lib/clients/api-key.ts'
import { DEFAULT_LIMITS, type KeyLimits, Scope } from '../../lib/clients/key-limits.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import { EDGE_HEADER, EDGE_VARIABLE } from '../../lib/frame/edge.ts'
import { createSession } from '../support/accounts.ts'
import { someClient, someKey } from '../support/clients.ts'
import { expectError } from '../support/errors.ts'
import { chainlessTest, type HttpReply, type Service, startNewContainers } from '../support/service.ts'

const COINS = '/portfolio-indexor/markets'
const SEARCH = '/portfolio-indexor/markets/coins/search'
const EDGE_KEY = 'k'.repeat(43)
const LOGIN = '/auth/login/init'
const WALLETS = '/auth/wallets'

/**
 * Limits of an API key for servers. All requests of a server come from one network, so that network may use the whole
 * limit.
 */
const ON_SERVER: KeyLimits = { ...DEFAULT_LIMITS, scopes: Scope.options }

const readRateHeaders = ({ headers }: HttpReply) => ({
  policy: headers.get('ratelimit-policy'),
  ...(/^"key";r=(?<left>\d+);t=(?<seconds>\d+)$/.exec(headers.get('ratelimit') ?? '')?.groups ?? {}),
})

/** Lists the table requests for quota leases of API keys since the last call of `table.reset()`. */
const leases = ({ table }: Service) => table.tries.filter(({ body }) => body.includes('rate#requests#key#'))

const test = chainlessTest
  .extend('issue', ({ service }) => async (limits: Partial<KeyLimits>) => {
    const { clients } = service.backends.admin
    const client = someClient()
    const { text, key } = someKey(client.clientId, { limits: { ...ON_SERVER, ...limits } })
    await clients.create(client)
    await clients.putKey(client.clientId, key)
    return { text, clientId: client.clientId, keyId: key.keyId }
  })
  /** Two containers of each function, started at the beginning of a rate window of 60 s. */
  .extend('containers', async ({ service, clock }, { onCleanup }) => {
    const both = [
      await startNewContainers(service, { isWhole: true }),
      await startNewContainers(service, { isWhole: true }),
    ] as const
    clock.pass(60 - ((Date.now() / 1000) % 60))
    onCleanup(async () => {
      await Promise.all(both.map(({ stop }) => stop()))
    })
    return [both[0].service, both[1].service] as const
  })

describe('A key', () => {
  test('gets its remaining requests with every response: success, error, and HEAD', async ({
    containers: [service],
    issue,
  }) => {
    const { text: key } = await issue({ rate: { requests: 100, seconds: 60 } })
    const replies = [
      await service.call('POST', LOGIN, { key, body: {} }),
      await service.call('POST', LOGIN, { key, body: { email: 1 } }),
      await service.call('POST', LOGIN, { key, body: 'not JSON' }),
      await service.call('GET', WALLETS, { key }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 400, 401])
    expect(replies.map(readRateHeaders)).toEqual(
      ['99', '98', '97', '96'].map((left) => ({
        policy: '"key";q=100;w=60',
        left,
        seconds: expect.stringMatching(/^(5\d|60)$/),
      })),
    )
    const { headers } = await service.call('HEAD', COINS, { key })
    expect(headers.get('ratelimit')).toMatch(/^"key";r=95;t=\d+$/)
  })

  test('in two containers never exceeds its limit, and is refused with the time to wait', async ({
    containers,
    issue,
    clock,
  }) => {
    const { text: key } = await issue({ rate: { requests: 30, seconds: 60 } })
    const asks = Array.from({ length: 50 }, (_, index) => containers[index % 2]?.call('POST', LOGIN, { key, body: {} }))
    const replies = (await Promise.all(asks)).flatMap((reply) => reply ?? [])
    const refused = replies.filter(({ status }) => status !== 200)
    expect(replies.length - refused.length).toBe(30)
    for (const reply of refused) {
      expectError(reply, 'rate_limit_exceeded')
      const { seconds, left, policy } = readRateHeaders(reply) as Record<string, string>
      expect([policy, left]).toEqual(['"key";q=30;w=60', '0'])
      expect(reply.headers.get('retry-after')).toBe(seconds)
    }
    clock.pass(Number(refused[0]?.headers.get('retry-after')))
    expect((await containers[0].call('POST', LOGIN, { key, body: {} })).status).toBe(200)
  })

  test('over its limit is refused without the table, and delays no other key', async ({
    containers: [service],
    issue,
  }) => {
    const [loud, quiet] = [await issue({ rate: { requests: 1, seconds: 60 } }), await issue({})]
    await service.call('POST', LOGIN, { key: loud.text, body: {} })
    await service.call('POST', LOGIN, { key: quiet.text, body: {} })
    service.table.reset()
    const flood = Array.from({ length: 200 }, () => service.call('POST', LOGIN, { key: loud.text, body: {} }))
    const answer = await service.call('POST', LOGIN, { key: quiet.text, body: {} })
    expect(answer.status).toBe(200)
    for (const reply of await Promise.all(flood)) expectError(reply, 'rate_limit_exceeded')
    expect(leases(service)).toEqual([])
  })

  test('that is known to have no requests left causes no table request', async ({ containers: [service], issue }) => {
    const { text: key } = await issue({ rate: { requests: 1, seconds: 60 } })
    const search = () => service.call('POST', SEARCH, { key, body: { search: 'ether' } })
    expect((await search()).status).toBe(200)
    expectError(await search(), 'rate_limit_exceeded')
    service.table.reset()
    for (let time = 0; time < 5; time += 1) expectError(await search(), 'rate_limit_exceeded')
    expect(service.table.tries).toEqual([])
  })

  test('that is unknown or has a wrong checksum is not counted', async ({ containers: [service], issue }) => {
    const { clientId, text } = await issue({})
    service.table.reset()
    for (const key of [someKey(clientId).text, someKey('AbCdE01234').text, `${text}x`, null]) {
      const reply = await service.call('POST', LOGIN, { key, body: {} })
      expect(reply.status).toBe(401)
      expect(readRateHeaders(reply)).toEqual({ policy: null })
    }
    expect(leases(service)).toEqual([])
  })

  test('has a new limit within a minute after an operator changed it', async ({
    containers: [service],
    issue,
    clock,
  }) => {
    const { text: key, clientId, keyId } = await issue({ rate: { requests: 1000, seconds: 60 } })
    expect(readRateHeaders(await service.call('POST', LOGIN, { key, body: {} })).policy).toBe('"key";q=1000;w=60')
    const limits = { ...DEFAULT_LIMITS, rate: { requests: 2, seconds: 120 } }
    await service.backends.admin.clients.putLimits(clientId, keyId, limits)
    clock.pass(61)
    const statuses = []
    for (let ask = 0; ask < 3; ask += 1) {
      statuses.push((await service.call('POST', LOGIN, { key, body: {} })).status)
    }
    expect(statuses).toEqual([200, 200, 429])
  })

  test('issued before limits existed has 6,000 requests a minute', async ({ service, issue }) => {
    const { text, clientId, keyId } = await issue({})
    await service.tables.clients.write({ pk: `CLIENT#${clientId}`, sk: `KEY#${keyId}` }, [remove('limits')])
    const reply = await service.call('POST', LOGIN, { key: text, body: {} })
    expect([reply.status, readRateHeaders(reply).policy]).toEqual([200, '"key";q=6000;w=60'])
  })
})

describe('A session', () => {
  test('that has used its tenth leaves the rest of the key to others', async ({ service, clock, issue: _ }) => {
    const session = await createSession(service)
    const other = await createSession(service)
    clock.pass(60 - ((Date.now() / 1000) % 60))
    const { clientId = '' } = parseApiKey(service.apiKey) ?? {}
    const { text: key, key: stored } = someKey(clientId, {
      limits: { ...ON_SERVER, rate: { requests: 100, seconds: 60 } },
    })
    await service.backends.admin.clients.putKey(clientId, stored)
    const list = ({ headers }: typeof session) => service.call('GET', WALLETS, { key, headers })
    const replies = []
    for (let ask = 0; ask < 120; ask += 1) replies.push(await list(session))
    const refused = replies.filter(({ status }) => status !== 200)
    expect(replies.length - refused.length).toBe(1 + 10)
    for (const reply of refused) expectError(reply, 'too_many_requests', ['authorization'])
    expect((await list(other)).status).toBe(200)
  })
})

describe('A network', () => {
  test('may use a tenth of the requests of a key, plus withdrawals; others may use the rest', async ({
    service,
    issue,
    clock,
  }) => {
    vi.stubEnv(EDGE_VARIABLE, JSON.stringify({ keys: [sha256(EDGE_KEY)], isOnlyWay: false }))
    const anew = await startNewContainers(service, { isWhole: true })
    onTestFinished(async () => {
      vi.unstubAllEnvs()
      await anew.stop()
    })
    clock.pass(60 - ((Date.now() / 1000) % 60))
    const { scopes } = DEFAULT_LIMITS
    const { text: key } = await issue({ scopes, rate: { requests: 300, seconds: 60 } })
    const from = (address: string) => ({ key, headers: { [EDGE_HEADER]: EDGE_KEY, 'x-forwarded-for': address } })
    const login = (address: string) => anew.service.call('POST', LOGIN, { ...from(address), body: {} })
    const flood = await Promise.all(Array.from({ length: 100 }, () => login('203.0.113.1')))
    const refused = flood.filter(({ status }) => status !== 200)
    // One network address may use a tenth of the key's 300 requests. A container also admits one request per address
    // without counting it.
    expect(flood.length - refused.length).toBe(1 + 30)
    for (const reply of refused) {
      expectError(reply, 'too_many_requests', ['address'])
      expect(reply.body.details[0].issue).toContain('requests')
    }
    expect((await login('203.0.113.2')).status).toBe(200)
    const withdrawal = await anew.service.call('POST', '/defi-vaults/v1/defi/vault/withdraw', {
      ...from('203.0.113.1'),
      body: {},
    })
    expect([withdrawal.status, readRateHeaders(withdrawal).policy]).toEqual([400, '"key";q=150;w=60'])
  })
})

describe('A lease', () => {
  test('delays only irreversible work; all other work runs in parallel', async ({ containers: [service], issue }) => {
    const { text: key } = await issue({ rate: { requests: 1, seconds: 60 } })
    const { promise, resolve } = Promise.withResolvers<void>()
    service.table.hold = ({ body }) => (body.includes('"LEASES"') ? promise : undefined)
    const login = service.call('POST', LOGIN, { key, body: {} })
    const search = service.call('POST', SEARCH, { key, body: { search: 'bitcoin' } })
    const others = () => service.table.tries.filter((request) => !leases(service).includes(request))
    await expect.poll(() => leases(service).length).toBe(2)
    // Both requests have now identified their client, and the search has read the list of coins.
    await expect.poll(() => others().map(({ action }) => action)).toContain('GetItem')
    const ofUsers = others().filter(({ table }) => table.endsWith('users'))
    expect(ofUsers.map(({ action }) => action)).not.toContain('PutItem')
    resolve()
    // The window has one request left, so one of the two requests is refused.
    const statuses = (await Promise.all([login, search])).map(({ status }) => status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  })
})
