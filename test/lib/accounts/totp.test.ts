import { expect, test } from 'vitest'
import { deriveTotpSecret, otpUrl, totpStep } from '../../../lib/accounts/totp.ts'

const SECRET = Buffer.from('12345678901234567890')

// RFC 6238, appendix B, has codes of eight digits. These codes are their last six digits.
test.for([
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
] as const)('At second %s the code of RFC 6238 is right', ([seconds, code]) => {
  const step = Math.floor(seconds / 30)
  expect(totpStep(SECRET, code, seconds * 1000)).toBe(step)
  expect(totpStep(SECRET, code, (seconds + 30) * 1000)).toBe(step)
  expect(totpStep(SECRET, code, (seconds - 30) * 1000)).toBe(step)
  for (const later of [60, 90, 120, 150]) expect(totpStep(SECRET, code, (seconds + later) * 1000)).toBeNull()
  expect(totpStep(SECRET, code, seconds * 1000, step - 1)).toBe(step)
  expect(totpStep(SECRET, code, seconds * 1000, step)).toBeNull()
})

test('A secret depends on the user and on the service’s key', () => {
  const secrets = [
    deriveTotpSecret('key', 'alice'),
    deriveTotpSecret('key', 'bob'),
    deriveTotpSecret('other key', 'alice'),
  ]
  expect(new Set(secrets.map((secret) => Buffer.from(secret).toString('hex'))).size).toBe(3)
  expect(secrets.map(({ length }) => length)).toEqual([20, 20, 20])
  expect(deriveTotpSecret('key', 'alice')).toEqual(secrets[0])
})

test('A URL has all that authenticator apps need', () => {
  expect(otpUrl(SECRET, { issuer: 'A & B', account: 'alice@example.com' })).toBe(
    'otpauth://totp/A%20%26%20B:alice%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' +
      '&issuer=A%20%26%20B&algorithm=SHA1&digits=6&period=30',
  )
})
