import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import type { DepositData, WebhookEvent } from '../../client/src/index.ts'
import { type Delivery, unwrap, type VerificationReason, WebhookVerificationError } from '../../client/src/webhooks.ts'
import { buildSignatureHeaders } from '../../lib/webhooks/signature.ts'

const [SECRET, PREVIOUS, OTHER] = ['a', 'b', 'c'].map(
  (letter) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`,
) as [string, string, string]
const EVENT = {
  id: 'evt_1',
  type: 'webhook.test',
  timestamp: '2026-11-01T00:00:00.000Z',
  data: { webhookId: 'für alle' },
}
const BODY = JSON.stringify(EVENT)

function deliver({ body = BODY, secrets = [SECRET], now = Date.now(), id = 'evt_1' } = {}) {
  return { headers: buildSignatureHeaders({ id, now, body }, secrets), body }
}

async function reasonOf(secrets: string | readonly string[], delivery: Delivery) {
  try {
    await unwrap(secrets, delivery)
    return undefined
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return error.reason
  }
}

describe('A delivery of the service', () => {
  test('becomes the event, in each form that servers give it', async () => {
    const { headers, body } = deliver()
    const cased = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    const forms: Delivery[] = [
      new Request('https://wallet.example', { method: 'POST', headers, body }),
      { headers, body },
      { headers: new Headers(headers), body: new TextEncoder().encode(body) },
      { headers: cased, body: Buffer.from(body) },
    ]
    for (const form of forms) expect(await unwrap(SECRET, form)).toEqual(EVENT)
  })

  test('is accepted by any of several secrets and any of several signatures', async () => {
    const rotating = deliver({ secrets: [SECRET, PREVIOUS] })
    expect(await unwrap(SECRET, rotating)).toEqual(EVENT)
    expect(await unwrap(PREVIOUS, rotating)).toEqual(EVENT)
    expect(await unwrap([OTHER, SECRET], deliver())).toEqual(EVENT)
    const ofOthers = rotating.headers['webhook-signature']?.replace('v1,', 'v1a,AAAA v2,x v1, v1,not-base64 v1,')
    expect(
      await unwrap(SECRET, { ...rotating, headers: { ...rotating.headers, 'webhook-signature': ofOthers } }),
    ).toEqual(EVENT)
  })

  test("of a new type passes, and known types narrow the event's data", async () => {
    const fresh = { ...EVENT, type: 'deposit.blessed' }
    const event = await unwrap(SECRET, deliver({ body: JSON.stringify(fresh) }))
    expect(event).toEqual(fresh)
    if (event.type === 'deposit.completed') expectTypeOf(event.data).toEqualTypeOf<DepositData>()
    expectTypeOf<Exclude<WebhookEvent['type'], (typeof event)['type']>>().toEqualTypeOf<never>()
  })
})

describe('According to Standard Webhooks', () => {
  test('the test vector has the right signature', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1614265330_000 })
    onTestFinished(() => void vi.useRealTimers())
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    // The test vector has a valid signature. Only the body is rejected, because it is no webhook event of the service.
    expect(await reasonOf(secret, { headers, body: '{"test": 2432232314}' })).toBe('bad_body')
    expect(await reasonOf(secret, { headers, body: '{"test": 2432232315}' })).toBe('bad_signature')
  })

  test('a signature of the reference library is accepted for any key and text', async () => {
    const sent = fc.record({
      key: fc.uint8Array({ minLength: 24, maxLength: 64 }),
      text: fc.string({ unit: 'binary' }),
    })
    await fc.assert(
      fc.asyncProperty(sent, async ({ key, text }) => {
        const secret = `whsec_${Buffer.from(key).toString('base64')}`
        const event = { ...EVENT, data: { text } }
        const [body, sentAt] = [JSON.stringify(event), new Date()]
        const headers = {
          'webhook-id': 'evt_1',
          'webhook-timestamp': `${Math.floor(sentAt.getTime() / 1000)}`,
          'webhook-signature': new Webhook(secret).sign('evt_1', sentAt, body),
        }
        expect(await unwrap(secret, { headers, body })).toEqual(event)
      }),
    )
  })
})

describe('A delivery is refused', () => {
  const now = 1_800_000_000_000
  const { headers, body } = deliver({ now })
  const withHeaders = (overrides: Record<string, string | undefined>) => ({
    headers: { ...headers, ...overrides },
    body,
  })
  const cases: readonly [string, VerificationReason | undefined, Delivery, (string | readonly string[])?][] = [
    ['never, if nothing is wrong with it', undefined, { headers, body }],
    ['by another secret', 'bad_signature', { headers, body }, OTHER],
    ['with a body that is cut', 'bad_signature', { headers, body: body.slice(0, -1) }],
    ['with no body', 'bad_signature', { headers, body: '' }],
    [
      'with JSON that was serialized again',
      'bad_signature',
      { headers, body: JSON.stringify(JSON.parse(body), null, 1) },
    ],
    ['with the id of another', 'bad_signature', withHeaders({ 'webhook-id': 'evt_2' })],
    ['with a time that was not signed', 'bad_signature', withHeaders({ 'webhook-timestamp': `${now / 1000 + 1}` })],
    ['without an id', 'missing_header', withHeaders({ 'webhook-id': undefined })],
    ['without a time', 'missing_header', withHeaders({ 'webhook-timestamp': '' })],
    ['without a signature', 'missing_header', withHeaders({ 'webhook-signature': undefined })],
    ['with an invalid time', 'bad_timestamp', withHeaders({ 'webhook-timestamp': `${now / 1000}.0` })],
    ['with its time twice', 'bad_timestamp', withHeaders({ 'Webhook-Timestamp': `${now / 1000}` })],
    ['with its id twice', 'bad_signature', withHeaders({ 'Webhook-Id': 'evt_1' })],
    [
      'with a signature that is not base64',
      'bad_signature',
      withHeaders({ 'webhook-signature': `v1,${'!'.repeat(44)}` }),
    ],
    ['with an empty signature', 'bad_signature', withHeaders({ 'webhook-signature': 'v1,' })],
    ['with signatures of other kinds', 'bad_signature', withHeaders({ 'webhook-signature': `v1a,${'A'.repeat(88)}` })],
    [
      'with a very long header',
      'bad_signature',
      withHeaders({ 'webhook-signature': `v1,${'A'.repeat(43)}= `.repeat(1e5) }),
    ],
    ['with a body that is not an event', 'bad_body', deliver({ now, body: '[]' })],
    ['with a body that is null', 'bad_body', deliver({ now, body: 'null' })],
    ['with a body that is not JSON', 'bad_body', deliver({ now, body: 'event' })],
    ['with an event without a type', 'bad_body', deliver({ now, body: '{"id":"evt_1"}' })],
    ['by an empty secret', 'bad_secret', { headers, body }, ''],
    ['by a secret without a key', 'bad_secret', { headers, body }, 'whsec_'],
    ['by a short secret', 'bad_secret', { headers, body }, 'whsec_AAAA'],
    ['by a secret that is not base64', 'bad_secret', { headers, body }, `whsec_${'ä'.repeat(40)}`],
    ['if one of several secrets is empty', 'bad_secret', { headers, body }, [SECRET, '']],
    ['by no secret', 'bad_secret', { headers, body }, []],
  ]
  test.for(cases)('%s', async ([, reason, delivery, secrets = SECRET]) => {
    vi.useFakeTimers({ toFake: ['Date'], now })
    onTestFinished(() => void vi.useRealTimers())
    expect(await reasonOf(secrets, delivery)).toBe(reason)
  })

  test('more than five minutes early or late', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now })
    onTestFinished(() => void vi.useRealTimers())
    const after = (seconds: number) => reasonOf(SECRET, deliver({ now: now + seconds * 1000 }))
    expect(await Promise.all([-300, 300].map(after))).toEqual([undefined, undefined])
    expect(await Promise.all([-301, 301, 1e9].map(after))).toEqual(['bad_timestamp', 'bad_timestamp', 'bad_timestamp'])
  })

  test('if its body cannot be read, or was read before', async () => {
    const request = new Request('https://wallet.example', { method: 'POST', ...deliver() })
    expect(await reasonOf(SECRET, request)).toBeUndefined()
    expect(await reasonOf(SECRET, request)).toBe('bad_body')
  })

  test('if any byte of its body is changed', async () => {
    const delivery = deliver()
    const bytes = new TextEncoder().encode(BODY)
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }))
    await fc.assert(
      fc.asyncProperty(change, async ([index, difference]) => {
        const changed = bytes.map((byte, at) => (at === index ? byte ^ difference : byte))
        expect(await reasonOf(SECRET, { ...delivery, body: changed })).toBe('bad_signature')
      }),
    )
  })
})

test('The entry point is at most 1.3 kB, with nothing beside it', async () => {
  const { outputFiles } = await build({
    entryPoints: ['client/src/webhooks.ts'],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
  })
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(1300)
})
