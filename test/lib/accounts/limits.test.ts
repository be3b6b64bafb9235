import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { limiter } from '../../../lib/accounts/limits.ts'

/** The keys that are counted for a request from this address. */
async function keysFor(sourceIp: string): Promise<string[]> {
  const keys: string[] = []
  const users = { countTry: async (key: string) => keys.push(key) > 0, takeTryBack: async () => {} }
  const limitTries = limiter({ users, limits: { perNetwork: 1, perUser: 1, perSeed: 1 }, randomBytes, now: () => 0 })
  await limitTries('registration', { sourceIp })
  return keys
}

test.for([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
  ['2001:db8::1', '2001:0db8:0:0:5::'],
  ['fe80::1%eth0', 'fe80::2'],
  ['::1', '::2'],
])('%s and %s are of one network', async ([one = '', other = '']) => {
  expect(await keysFor(one)).toEqual(await keysFor(other))
})

test.for([
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['2001:db8::1', '2001:db9::1'],
  ['192.0.2.1', '192.0.2.2'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2'],
])('%s and %s are of two networks', async ([one = '', other = '']) => {
  expect(await keysFor(one)).not.toEqual(await keysFor(other))
})
