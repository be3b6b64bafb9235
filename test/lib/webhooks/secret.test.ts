import { expect, test } from 'vitest'
import { createSecretVersions, listWebhookSecrets, rotateSecret } from '../../../lib/webhooks/secret.ts'

const DAY = 86_400_000
const KEYS = ['k'.repeat(64)] as const
let count = 0
const randomBytes = (size: number) => {
  count += 1
  return Buffer.alloc(size, count)
}

const secretsOf = (
  secret: Parameters<typeof listWebhookSecrets>[2]['secret'],
  now: number,
  clientId = 'client',
  id = 'hook',
) => listWebhookSecrets(KEYS, clientId, { id, secret }, now)

test('The previous secret also signs for a day after a rotation', () => {
  const first = createSecretVersions(randomBytes)
  const [oldSecret] = secretsOf(first, 0)
  const second = rotateSecret(first, { randomBytes, now: 0 })
  const [newest, ...others] = secretsOf(second, DAY - 1)
  expect(newest).not.toBe(oldSecret)
  expect(others).toEqual([oldSecret])
  expect(secretsOf(second, DAY)).toEqual([newest])
})

test('After several rotations within a day the secret before the first one still signs', () => {
  const first = createSecretVersions(randomBytes)
  const second = rotateSecret(first, { randomBytes, now: 0 })
  const third = rotateSecret(second, { randomBytes, now: DAY - 1 })
  expect(secretsOf(third, DAY)).toContain(secretsOf(first, 0)[0])
  expect(secretsOf(third, DAY)).not.toContain(secretsOf(second, 0)[0])
  // One day after the first rotation, receivers know `second`. It then replaces `first` as the previous secret.
  const late = rotateSecret(second, { randomBytes, now: DAY })
  expect(secretsOf(late, DAY).slice(1)).toEqual([secretsOf(second, 0)[0]])
})

test('Each webhook of each client has its own secret for each version and key', () => {
  const secret = createSecretVersions(randomBytes)
  const all = [
    secretsOf(secret, 0),
    secretsOf(secret, 0, 'other client'),
    secretsOf(secret, 0, 'client', 'other hook'),
    secretsOf(createSecretVersions(randomBytes), 0),
    listWebhookSecrets(['o'.repeat(64)], 'client', { id: 'hook', secret }, 0),
  ].flat()
  expect(new Set(all).size).toBe(5)
  for (const text of all) expect(Buffer.from(text.replace('whsec_', ''), 'base64')).toHaveLength(32)
})
