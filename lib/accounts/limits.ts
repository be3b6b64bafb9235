import type { RandomBytes } from '../clients/api-key.ts'
import { AppError } from '../core/errors.ts'
import { networkOf } from '../core/network.ts'
import { sha256 } from '../core/sha256.ts'
import { DAY_MS, MINUTE_MS } from '../core/time.ts'
import type { AttemptLimits } from './rate-limits.ts'
import type { UsersStore } from './store.ts'

const TEN_MINUTES_MS = 10 * MINUTE_MS
const THIRTY_DAYS_MS = 30 * DAY_MS

type AttemptKind = 'registration' | 'password' | 'code' | 'wallet signature'

/**
 * Subjects of an attempt, such as its user and its network. The attempt raises a counter of each. Counters of users and
 * networks last 10 minutes, counters of TOTP seeds 30 days. `seed` is null if no TOTP seed is known. The attempt then
 * raises a counter that limits nothing, so it takes the same work.
 */
type AttemptSubjects = {
  readonly clientId?: string
  readonly user?: string | undefined
  readonly sourceIp?: string
  readonly seed?: string | null
}

/**
 * Returns a function that limits attempts in fixed time windows. The function counts an attempt before it runs, so
 * parallel attempts cannot exceed the limit. It returns a second function, which cancels the count after a success.
 * Each client has its own counters. Throws `too_many_requests`.
 */
export function createAttemptLimiter({
  users,
  limits,
  randomBytes,
  now,
}: {
  readonly users: Pick<UsersStore, 'countTry' | 'refundTry'>
  readonly limits: AttemptLimits
  readonly randomBytes: RandomBytes
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}) {
  return async (
    tried: AttemptKind,
    { clientId, user, sourceIp, seed }: AttemptSubjects,
  ): Promise<() => Promise<void>> => {
    const tryId = Buffer.from(randomBytes(6)).toString('base64url')
    const counter = (kind: string, of: string, max: number, windowMs = TEN_MINUTES_MS) => {
      const endsAt = (Math.floor(now() / windowMs) + 1) * windowMs
      return { key: sha256(JSON.stringify([tried, clientId, kind, of, endsAt])), max, endsAt }
    }
    const counters = [
      ...(user === undefined ? [] : [counter('user', user, limits.perUser)]),
      ...(sourceIp === undefined ? [] : [counter('network', networkOf(sourceIp), limits.perNetwork)]),
      ...(seed === undefined
        ? []
        : [seed === null ? counter('no seed', tryId, 1) : counter('seed', seed, limits.perSeed, THIRTY_DAYS_MS)]),
    ]
    const counted: string[] = []
    const takeBack = async () => {
      await Promise.all(counted.map((key) => users.refundTry(key, tryId)))
    }
    for (const { key, max, endsAt } of counters) {
      if (await users.countTry(key, tryId, { max, until: new Date(endsAt) })) {
        counted.push(key)
        continue
      }
      await takeBack()
      const seconds = Math.max(1, Math.ceil((endsAt - now()) / 1000))
      throw new AppError('too_many_requests', {
        headers: { 'retry-after': seconds.toString() },
        cause: new Error(
          `${max} tries of a ${tried} before ${new Date(endsAt).toISOString()} at client ${clientId ?? 'any'}`,
        ),
      })
    }
    return takeBack
  }
}

/** Function that counts an attempt, and returns a function that cancels this count. Built by `createAttemptLimiter`. */
export type LimitAttempts = ReturnType<typeof createAttemptLimiter>
