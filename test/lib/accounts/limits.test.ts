import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createAttemptLimiter } from '../../../lib/accounts/limits.ts'
import type { AttemptLimits } from '../../../lib/accounts/rate-limits.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/core/time.ts'

function startLimiter(limits: Partial<AttemptLimits>) {
  const clock = { now: 0 }
  const tries = new Map<string, Set<string>>()
  const users = {
    countTry: async (key: string, tryId: string, { max }: { max: number }) => {
      const counted = tries.get(key) ?? new Set()
      tries.set(key, counted)
      return counted.size < max && counted.add(tryId).size > 0
    },
    refundTry: async (key: string, tryId: string) => void tries.get(key)?.delete(tryId),
  }
  const limitTries = createAttemptLimiter({
    users,
    limits: { perNetwork: 100, perUser: 100, perSeed: 100, ...limits },
    randomBytes,
    now: () => clock.now,
  })
  return { clock, limitTries }
}

const REFUSED = expect.objectContaining({ code: 'too_many_requests' })
const ANN = { clientId: 'acme', user: 'ann', sourceIp: '192.0.2.1', seed: 'JBSWY3DP' }

describe('An attempt', () => {
  test.for<[other: string, kind: 'password' | 'code', by: object]>([
    ['kind', 'code', ANN],
    ['client', 'password', { ...ANN, clientId: 'other' }],
    ['user', 'password', { ...ANN, user: 'bob' }],
  ])('counts for its kind, client and user: one of another %s is free', async ([, kind, by]) => {
    const { limitTries } = startLimiter({ perUser: 1 })
    await limitTries('password', ANN)
    await expect(limitTries('password', ANN)).rejects.toEqual(REFUSED)
    await limitTries(kind, by)
  })

  test('of a new user counts against the network', async () => {
    const { limitTries } = startLimiter({ perNetwork: 1 })
    await limitTries('password', ANN)
    await expect(limitTries('password', { ...ANN, user: 'bob' })).rejects.toEqual(REFUSED)
    await limitTries('password', { ...ANN, user: 'bob', sourceIp: '192.0.2.2' })
  })

  test('counts against the /64 of an IPv6 address', async () => {
    const { limitTries } = startLimiter({ perNetwork: 1 })
    await limitTries('registration', { sourceIp: '2001:db8:1:2::1' })
    await expect(limitTries('registration', { sourceIp: '2001:db8:1:2::2' })).rejects.toEqual(REFUSED)
    await limitTries('registration', { sourceIp: '2001:db8:1:3::1' })
  })

  test('that one limit refuses counts against no other', async () => {
    const { limitTries } = startLimiter({ perUser: 2, perNetwork: 1 })
    await limitTries('password', ANN)
    await expect(limitTries('password', ANN)).rejects.toEqual(REFUSED)
    await limitTries('password', { ...ANN, sourceIp: '192.0.2.2' })
    await expect(limitTries('password', { ...ANN, sourceIp: '192.0.2.3' })).rejects.toEqual(REFUSED)
  })

  test('that is refunded does not count', async () => {
    const { limitTries } = startLimiter({ perUser: 1, perNetwork: 1, perSeed: 1 })
    for (let tried = 0; tried < 3; tried += 1) await (await limitTries('code', ANN))()
    await limitTries('code', ANN)
    await expect(limitTries('code', ANN)).rejects.toEqual(REFUSED)
  })

  test('counts for ten minutes against a user, and the refusal says when these end', async () => {
    const { limitTries, clock } = startLimiter({ perUser: 1 })
    await limitTries('password', ANN)
    clock.now = 10 * MINUTE_MS - 2_500
    await expect(limitTries('password', ANN)).rejects.toMatchObject({ headers: { 'retry-after': '3' } })
    clock.now = 10 * MINUTE_MS
    await limitTries('password', ANN)
  })

  test('of a code counts for thirty days against the seed of its generator', async () => {
    const { limitTries, clock } = startLimiter({ perSeed: 1 })
    await limitTries('code', ANN)
    for (const passed of [10 * MINUTE_MS, 30 * DAY_MS - 1]) {
      clock.now = passed
      await expect(limitTries('code', ANN)).rejects.toEqual(REFUSED)
    }
    clock.now = 30 * DAY_MS
    await limitTries('code', ANN)
  })
})
