import { describe, expect, vi } from 'vitest'
import { someEmail } from '../../support/accounts.ts'
import { expectError } from '../../support/errors.ts'
import { chainlessTest as base, type HttpReply, type Service, startAnew } from '../../support/service.ts'

const LIMITS = { perAddress: 8, perEmail: 3 }

/** Two containers with low limits and a clock of their own. */
const test = base
  .extend('containers', { scope: 'file' }, async ({ sharedService }, { onCleanup }) => {
    const { now } = Date
    let passed = 0
    Date.now = () => now() + passed
    vi.stubEnv('RATE_LIMITS', JSON.stringify(LIMITS))
    const [one, other] = [await startAnew(sharedService), await startAnew(sharedService)]
    onCleanup(async () => {
      Date.now = now
      vi.unstubAllEnvs()
      await Promise.all([one, other].map(({ stop }) => stop()))
    })
    const pass = (seconds: number) => {
      passed += seconds * 1000
    }
    return { services: [one.service, other.service] as const, pass }
  })
  .extend('pass', ({ containers }) => containers.pass)
  /** The containers, at the start of ten minutes that no other test has. */
  .extend('strict', ({ service: _, containers: { services }, pass }) => {
    pass(600 - (Math.floor(Date.now() / 1000) % 600))
    return services
  })

const CALLS: [string, (service: Service, email: string) => Promise<HttpReply>][] = [
  [
    'registrations',
    (service, email) =>
      service.call('POST', '/auth/register/init', { key: null, headers: { platform: 'web' }, body: { email } }),
  ],
  ['logins', (service, email) => service.call('POST', '/auth/login/init', { body: { email } })],
]

async function statuses(replies: readonly Promise<HttpReply>[]): Promise<number[]> {
  return (await Promise.all(replies)).map(({ status }) => status).sort()
}

describe('The starts of', () => {
  test.for(CALLS)(
    '%s are limited for an e-mail address, in whatever case, across containers',
    async ([, call], { strict }) => {
      const [one, other] = strict
      const email = someEmail()
      expect(await statuses([call(one, email), call(other, email.toUpperCase()), call(one, email)])).toEqual([
        200, 200, 200,
      ])
      for (const container of strict) expectError(await call(container, email), 'too_many_requests')
      expect((await call(one, someEmail())).status).toBe(200)
    },
  )

  test.for(CALLS)(
    '%s are limited for an address, across containers, also when all come at once',
    async ([, call], { strict }) => {
      const replies = Array.from({ length: 12 }, (_, i) => call(strict[i % 2 ? 0 : 1], someEmail()))
      expect(await statuses(replies)).toEqual([...Array(8).fill(200), ...Array(4).fill(429)])
    },
  )

  test.for(CALLS)('%s are allowed again as soon as Retry-After says', async ([, call], { strict: [service], pass }) => {
    const email = someEmail()
    for (let i = 0; i < LIMITS.perEmail; i += 1) await call(service, email)
    pass(100)
    const refused = await call(service, email)
    expectError(refused, 'too_many_requests')
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(500)
    pass(seconds)
    expect((await call(service, email)).status).toBe(200)
  })

  test('one kind do not count for another', async ({ strict: [service] }) => {
    const email = someEmail()
    for (const [, call] of CALLS) {
      for (let i = 0; i < LIMITS.perEmail; i += 1) expect((await call(service, email)).status).toBe(200)
    }
  })
})

describe('What is kept of a limit', () => {
  test('is neither the e-mail address nor the IP address', async ({ strict: [service], service: { table } }) => {
    const email = someEmail()
    await service.call('POST', '/auth/login/init', { body: { email } })
    const counted = table.bodies.filter((body) => body.includes('LIMIT#'))
    expect(counted).toHaveLength(2)
    for (const body of counted) {
      expect(body).not.toContain(email)
      expect(body).not.toContain('127.0.0.1')
    }
  })
})
