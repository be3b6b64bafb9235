import { describe, expect, onTestFinished, vi } from 'vitest'
import { consumers } from '../../../functions/contracts.ts'
import { parseApiKey } from '../../../lib/clients/api-key.ts'
import { DEFAULT_LIMITS } from '../../../lib/clients/key-limits.ts'
import type { ErrorCode } from '../../../lib/core/errors.ts'
import { webhooks } from '../../../lib/services.ts'
import { EventType } from '../../../lib/webhooks/event.ts'
import { buildEventId } from '../../../lib/webhooks/ids.ts'
import { attemptsKey } from '../../../lib/webhooks/store.ts'
import { someKey } from '../../support/clients.ts'
import { expectError } from '../../support/errors.ts'
import { chainlessTest, type Service, startNewContainers } from '../../support/service.ts'
import { scanTable } from '../../support/tables.ts'
import { listUndeclaredRequests } from '../../support/uses.ts'
import { publishAndDeliver, publishTo, someWebhookEvent } from '../../support/webhooks.ts'

const URL_OF = (name: string) => `http://localhost:8080/${name}`
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/
const HOUR = 3600

const test = chainlessTest
  .extend('own', async ({ service }) => {
    const key = await service.createClient([])
    return { key, clientId: parseApiKey(key)?.clientId as string }
  })
  .extend('ask', ({ service, own: { key } }) => askerOf(service, key))
  .extend('tell', ({ service, own }) => async (keys: readonly string[]) => {
    const notices = keys.map((key) => someWebhookEvent(key))
    await publishAndDeliver(service, own.clientId, notices)
  })

function askerOf(service: Service, key: string) {
  return (method: string, path: string, body?: unknown) => service.call(method, path, { key, body })
}

describe('A webhook', () => {
  test('is registered with a secret that is returned only once', async ({ ask }) => {
    const { status, headers, body } = await ask('POST', '/webhooks', { url: URL_OF('a') })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    const { secret, ...rest } = body
    expect(secret).toMatch(SECRET)
    expect(rest).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-f]{24}$/),
      url: URL_OF('a'),
      types: null,
      finality: 'final',
      createdAt: expect.stringMatching(/Z$/),
    })
    const list = await ask('GET', '/webhooks')
    expect(list.body.webhooks).toEqual([
      {
        ...{ ...rest, status: 'active', disabledAt: null, disabledReason: null, failingSince: null },
        delivery: {
          lastFailure: null,
          behindFrom: null,
          waiting: 0,
          nextAttemptAt: null,
          givenUp: [],
          givenUpBefore: 0,
        },
      },
    ])
    expect(JSON.stringify(list.body)).not.toContain('whsec_')
  })

  test('has the types and the finality that it was registered with', async ({ ask }) => {
    const webhook = {
      url: URL_OF('a'),
      types: ['deposit.completed', 'vault.paused', 'vault.paused'],
      finality: 'latest',
    }
    const { body } = await ask('POST', '/webhooks', webhook)
    expect(body).toMatchObject({ types: ['deposit.completed', 'vault.paused'], finality: 'latest' })
    expect((await ask('GET', '/webhooks')).body.webhooks).toMatchObject([{ types: body.types, finality: 'latest' }])
  })

  test('is unique for each URL of a client, however the URL is written', async ({ service, ask }) => {
    const first = await ask('POST', '/webhooks', { url: URL_OF('a') })
    for (const url of [URL_OF('a'), 'HTTP://LOCALHOST:8080/b/../a']) {
      expectError(await ask('POST', '/webhooks', { url }), 'webhook_already_registered')
    }
    const other = await service.call('POST', '/webhooks', {
      key: await service.createClient([]),
      body: { url: URL_OF('a') },
    })
    expect(other.status).toBe(201)
    expect(other.body.id).not.toBe(first.body.id)
    expect(other.body.secret).not.toBe(first.body.secret)
  })

  test('is one of at most ten of a client', async ({ ask }) => {
    const urls = Array.from({ length: 11 }, (_, index) => URL_OF(`${index}`))
    const replies = await Promise.all(urls.map((url) => ask('POST', '/webhooks', { url })))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10)
    for (const reply of replies.filter(({ status }) => status !== 201)) expectError(reply, 'too_many_webhooks')
    expect((await ask('GET', '/webhooks')).body.webhooks).toHaveLength(10)
  })

  test.for<[ErrorCode, string, string, object]>([
    ['missing_or_invalid_url', 'url', 'is missing', {}],
    ['missing_or_invalid_url', 'url', 'is none', { url: 'localhost' }],
    ['missing_or_invalid_url', 'url', 'is of another kind', { url: 'ftp://localhost/' }],
    ['missing_or_invalid_url', 'url', 'has a name', { url: 'http://user@localhost/' }],
    ['missing_or_invalid_url', 'url', 'has a password', { url: 'http://:password@localhost/' }],
    ['missing_or_invalid_url', 'url', 'has a fragment', { url: 'http://localhost/#fragment' }],
    ['missing_or_invalid_url', 'url', 'has an empty fragment', { url: 'http://localhost/#' }],
    ['missing_or_invalid_url', 'url', 'is too long', { url: `http://localhost/${'x'.repeat(2032)}` }],
    ['missing_or_invalid_url', 'url', 'is too long as it is sent', { url: `http://localhost/${'ü'.repeat(500)}` }],
    ['missing_or_invalid_url', 'url', 'leads from the local service elsewhere', { url: 'https://wallet.example/' }],
    ['missing_or_invalid_url', 'url', 'leads to a neighbour of it', { url: 'http://192.168.0.1/' }],
    ['invalid_types', 'types', 'has one that is unknown', { url: URL_OF('a'), types: ['deposit.lost'] }],
    ['invalid_finality', 'finality', 'is unknown', { url: URL_OF('a'), finality: 'safe' }],
    ['unknown_field', 'secret', 'is not for callers to choose', { url: URL_OF('a'), secret: 'mine' }],
  ])('is refused with %s if %s %s', async ([code, field, , body], { ask }) => {
    expectError(await ask('POST', '/webhooks', body), code, [field])
    expect((await ask('GET', '/webhooks')).body.webhooks).toEqual([])
  })

  test('with unknown types is refused with a short text of the unknown and the known types', async ({ ask }) => {
    const types = ['deposit.completed', 'deposit.lost', ...Array.from({ length: 90 }, () => 'x'.repeat(100))]
    const { body } = await ask('POST', '/webhooks', { url: URL_OF('a'), types })
    const [{ issue }] = body.details
    expect(issue).toContain('has unknown types, such as "deposit.lost", ')
    expect(issue).toContain(`known types are ${EventType.options.join(', ')}`)
    expect(issue.length).toBeLessThan(600)
  })

  test('without types is refused with the advice to name one, or to omit them for all', async ({ ask }) => {
    const refused = await ask('POST', '/webhooks', { url: URL_OF('a'), types: [] })
    expectError(refused, 'invalid_types', ['types'])
    expect(refused.body.details).toEqual([
      { field: 'types', issue: 'must name at least one type; leave it out for all types' },
    ])
  })

  test('is removed together with its delivery state, and no other webhook is', async ({ service, own, ask }) => {
    const [remaining, gone] = [
      (await ask('POST', '/webhooks', { url: URL_OF('kept') })).body,
      (await ask('POST', '/webhooks', { url: URL_OF('gone') })).body,
    ]
    const attempts = [remaining, gone].map(({ id }) => attemptsKey({ clientId: own.clientId, webhookId: id }))
    const failingSince = Date.parse('2026-11-01T00:00:00.000Z')
    await service.tables.webhooks.putMany(
      attempts.map((key, index) => ({
        ...key,
        version: 'one',
        attempts: {
          ...{ createdAt: (index === 0 ? remaining : gone).createdAt, downs: 0, untaken: 2, failingSince },
          ...{ waiting: {}, givenUp: [], givenUpBefore: 0 },
        },
      })),
    )
    expect((await ask('GET', '/webhooks')).body.webhooks).toMatchObject(
      [remaining, gone].map(({ id }) => ({ id, failingSince: '2026-11-01T00:00:00.000Z' })),
    )
    expect((await ask('DELETE', `/webhooks/${gone.id}`)).status).toBe(204)
    const items = await scanTable(service.tables.webhooks)
    expect(attempts.map(({ pk, sk }) => items.has(`${pk} ${sk}`))).toEqual([true, false])
    expect((await ask('GET', '/webhooks')).body.webhooks).toMatchObject([{ id: remaining.id }])
    expectError(await ask('DELETE', `/webhooks/${gone.id}`), 'webhook_not_found')
    const again = await ask('POST', '/webhooks', { url: URL_OF('gone') })
    expect(again.body.id).toBe(gone.id)
    expect(again.body.secret).not.toBe(gone.secret)
  })

  test('is registered, changed and removed although the first response to each write is lost', async ({
    service,
    ask,
  }) => {
    let writes = 0
    service.table.losesAnswer = ({ action }) => {
      if (!/^(Put|Update|Delete)Item$/.test(action)) return false
      writes += 1
      return writes % 2 === 1
    }
    const replies = [await ask('POST', '/webhooks', { url: URL_OF('a') })]
    replies.push(await ask('POST', '/webhooks', { url: URL_OF('b') }))
    replies.push(await ask('POST', `/webhooks/${replies[0]?.body.id}/secret`))
    replies.push(await ask('DELETE', `/webhooks/${replies[0]?.body.id}`))
    service.table.losesAnswer = undefined
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 200, 204])
    expect((await ask('GET', '/webhooks')).body.webhooks).toMatchObject([{ url: URL_OF('b') }])
  })

  test('is registered although the response is lost and another one is registered before the retry', async ({
    service,
    ask,
  }) => {
    let another: ReturnType<typeof ask> | undefined
    const writes = new Set<string>()
    service.table.losesAnswer = ({ action }) => action === 'PutItem' && writes.size === 1
    service.table.hold = ({ action, body }) => {
      if (action !== 'PutItem') return undefined
      if (!writes.has(body)) {
        writes.add(body)
        return undefined
      }
      another ??= ask('POST', '/webhooks', { url: URL_OF('b') })
      return another
    }
    expect((await ask('POST', '/webhooks', { url: URL_OF('a') })).status).toBe(201)
    expect((await another)?.status).toBe(201)
    expect((await ask('GET', '/webhooks')).body.webhooks).toHaveLength(2)
  })

  test('of another client does not exist', async ({ service, ask }) => {
    const { body } = await ask('POST', '/webhooks', { url: URL_OF('a') })
    const other = askerOf(service, await service.createClient([]))
    for (const [method, path] of [
      ['DELETE', `/webhooks/${body.id}`],
      ['POST', `/webhooks/${body.id}/secret`],
    ] as const)
      expectError(await other(method, path), 'webhook_not_found')
    expect((await other('GET', '/webhooks')).body.webhooks).toEqual([])
    expect((await ask('GET', '/webhooks')).body.webhooks).toHaveLength(1)
  })

  test('receives events from after its registration', async ({ own, ask, tell, service }) => {
    await tell(['one', 'two'])
    await ask('POST', '/webhooks', { url: URL_OF('a') })
    const [webhook] = await webhooks({ webhooks: service.backends.dynamo.tableNames.webhooks }).list(own.clientId)
    expect(webhook?.after).toBe(2)
  })
})

describe('A secret', () => {
  test('changes with each rotation, and the previous one in use signs for another day', async ({
    clock,
    service: _,
    coldService,
    own,
  }) => {
    const ask = askerOf(coldService, own.key)
    const { body: registered } = await ask('POST', '/webhooks', { url: URL_OF('a') })
    const rotate = async () => (await ask('POST', `/webhooks/${registered.id}/secret`)).body
    const inUse = async () => {
      const [webhook] = await webhooks({ webhooks: coldService.backends.dynamo.tableNames.webhooks }).list(own.clientId)
      return webhook?.secret
    }
    const before = await inUse()
    const first = await rotate()
    expect(first).toEqual({
      id: registered.id,
      secret: expect.stringMatching(SECRET),
      previousUntil: expect.stringMatching(/Z$/),
    })
    // The client may not have received the first new secret. A second rotation must therefore keep the secret that
    // receivers still use.
    clock.pass(12 * HOUR)
    const second = await rotate()
    expect((await inUse())?.before?.version).toBe(before?.version)
    expect(Date.parse(second.previousUntil) - Date.parse(first.previousUntil)).toBeGreaterThanOrEqual(12 * HOUR * 1000)
    clock.pass(24 * HOUR)
    const stored = await inUse()
    const third = await rotate()
    expect((await inUse())?.before?.version).toBe(stored?.version)
    expect(new Set([registered.secret, first.secret, second.secret, third.secret]).size).toBe(4)
  })

  test('is rotated by each of several parallel requests', async ({ ask }) => {
    const { body } = await ask('POST', '/webhooks', { url: URL_OF('a') })
    const replies = await Promise.all([1, 2, 3].map(() => ask('POST', `/webhooks/${body.id}/secret`)))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(replies.map((reply) => reply.body.secret)).size).toBe(3)
  })

  test('of no webhook is not found', async ({ ask }) => {
    expectError(await ask('POST', '/webhooks/wh_none/secret'), 'webhook_not_found')
  })
})

describe('The list of events', () => {
  test('returns all events after a given one, page by page', async ({ own, ask, tell }) => {
    const keys = Array.from({ length: 7 }, (_, index) => `key-${index}`)
    await tell(keys.slice(0, 3))
    await tell(keys.slice(3))
    const events: { id: string; sequence: number }[] = []
    for (let isOver = false; !isOver; ) {
      const { body } = await ask('GET', `/webhooks/events?limit=2&after=${events.at(-1)?.sequence ?? 0}`)
      events.push(...body.events)
      isOver = body.events.length === 0
    }
    expect(events.map(({ id, sequence }) => [id, sequence])).toEqual(
      keys.map((key, index) => [buildEventId(own.clientId, key), index + 1]),
    )
    expect((await ask('GET', '/webhooks/events')).body.events).toEqual(events)
    expect((await ask('GET', '/webhooks/events?after=5')).body.events).toEqual(events.slice(5))
    expect((await ask('GET', '/webhooks/events?after=999999999999')).body.events).toEqual([])
  })

  test("is delivered by a function that stays within its contract's access to the table", async ({
    service,
    own,
    ask,
  }) => {
    await ask('POST', '/webhooks', { url: URL_OF('a') })
    await publishTo(service, own.clientId, [someWebhookEvent('one')])
    service.table.reset()
    await service.consume()
    expect(service.table.tries.length).toBeGreaterThan(0)
    expect(listUndeclaredRequests(consumers['queues/deliver-events'], service.table.tries)).toEqual([])
    expect((await ask('GET', '/webhooks/events')).body.events).toHaveLength(1)
  })

  test('shows a client no events of another', async ({ service, tell }) => {
    await tell(['one'])
    const other = askerOf(service, await service.createClient([]))
    expect((await other('GET', '/webhooks/events')).body.events).toEqual([])
  })

  test('is empty after 30 days', async ({ clock, own, tell, service }) => {
    await tell(['one'])
    clock.pass(30 * 24 * HOUR)
    const anew = await startNewContainers(service)
    onTestFinished(anew.stop)
    expect((await askerOf(anew.service, own.key)('GET', '/webhooks/events')).body.events).toEqual([])
  })

  test.for([
    ['invalid_after', 'after', '-1'],
    ['invalid_after', 'after', '1000000000000'],
    ['invalid_limit', 'limit', '101'],
    ['invalid_limit', 'limit', '0'],
  ] as const)('is refused with %s for %s=%s', async ([code, field, value], { ask }) => {
    expectError(await ask('GET', `/webhooks/events?${field}=${value}`), code, [field])
  })
})

describe('A key', () => {
  test('without scopes has no access to webhooks', async ({ service, own }) => {
    const { text, key } = someKey(own.clientId, { limits: DEFAULT_LIMITS })
    await service.backends.admin.clients.putKey(own.clientId, key)
    const ask = askerOf(service, text)
    expectError(await ask('GET', '/webhooks/events'), 'insufficient_scope')
    expectError(await ask('POST', '/webhooks', { url: URL_OF('a') }), 'insufficient_scope')
  })
})

describe('A stage', () => {
  const URLS: [string, string | undefined][] = [
    ['https://wallet.example/hooks?of=vaults', undefined],
    ['https://wallet.example:443/', undefined],
    ['https://8.8.8.8/', undefined],
    ['http://wallet.example/', 'must be an https URL'],
    ['https://wallet.example:8443/', 'must be on port 443'],
    ...[
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '169.254.169.254',
      '172.31.255.255',
      '192.168.1.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:8.8.8.8]',
      '[64:ff9b::7f00:1]',
      '[fe80::1]',
      '[fd00::1]',
      '[2001:db8::1]',
      '[2002:7f00:1::]',
      '[2606:4700::1111]',
    ].map((host): [string, string] => [
      `https://${host}/`,
      host.startsWith('[') ? 'must have an IPv4 address' : 'must have a public address',
    ]),
  ]

  test('accepts webhooks only at public names and addresses', async ({ service, own }) => {
    vi.stubEnv('WEBHOOK_REACH', 'public')
    const anew = await startNewContainers(service)
    onTestFinished(async () => {
      vi.unstubAllEnvs()
      await anew.stop()
    })
    const ask = askerOf(anew.service, own.key)
    for (const [url, issue] of URLS) {
      const reply = await ask('POST', '/webhooks', { url })
      if (issue === undefined) expect(reply.status).toBe(201)
      else {
        expectError(reply, 'missing_or_invalid_url', ['url'])
        expect(reply.body.details).toEqual([{ field: 'url', issue }])
      }
    }
  })
})
