import { expect, test } from 'vitest'
import { buildSignatureHeaders } from '../../../lib/webhooks/signature.ts'
import { verifyDelivery } from '../../support/webhook-signatures.ts'

test("A delivery's headers are those of Standard Webhooks", () => {
  const delivery = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', now: 1614265330_999, body: '{"test": 2432232314}' }
  expect(buildSignatureHeaders(delivery, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('The standard’s library verifies a delivery with each of its secrets, and with no other', () => {
  const [first, second, other] = ['a', 'b', 'c'].map((letter) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`)
  const body = '{"type":"vault.paused","text":"für alle"}'
  const headers = buildSignatureHeaders({ id: 'evt_1', now: Date.now(), body }, [first ?? '', second ?? ''])
  for (const secret of [first, second])
    expect(verifyDelivery({ headers, body }, secret ?? '')).toEqual(JSON.parse(body))
  expect(() => verifyDelivery({ headers, body }, other ?? '')).toThrow()
  expect(() => verifyDelivery({ headers, body: `${body} ` }, first ?? '')).toThrow()
})
