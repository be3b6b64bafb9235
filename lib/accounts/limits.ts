import type { RandomBytes } from '../clients/api-key.ts'
import { AppError } from '../core/errors.ts'
import { networkOf } from '../core/network.ts'
import { sha256 } from '../core/sha256.ts'
import { DAY_MS, MINUTE_MS } from '../core/time.ts'
import type { RateLimits } from './rate-limits.ts'
import type { UsersStore } from './store.ts'

const TEN_MINUTES_MS = 10 * MINUTE_MS
const THIRTY_DAYS_MS = 30 * DAY_MS

/** Kind of a limited attempt: the start of a registration, a guess of a secret, or a check that reads a chain. */
type AttemptKind = 'registration' | 'password' | 'code' | 'wallet signature'

/**
 * Subjects whose counters an attempt adds to: user and network (10 minutes), TOTP seed (30 days). A null seed means
 * that there is none; a counter of its own then makes the work the same.
 */
type AttemptSubjects = {
  readonly clientId?: string
  readonly user?: string | undefined
  readonly sourceIp?: string
  readonly seed?: string | null
}

/**
 * Returns a function that limits attempts in fixed windows. It counts an attempt before it runs, so parallel attempts
 * cannot exceed the limit. It returns a function that takes the count back after a success. Counters are separate for
 * each client. It throws `too_many_requests`.
 */
export function limiter({
  users,
  limits,
  randomBytes,
  now,
}: {
  readonly users: Pick<UsersStore, 'countTry' | 'refundTry'>
  readonly limits: RateLimits
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

/** Counts an attempt, and returns a function that takes the count back; built by `limiter`. */
export type LimitTries = ReturnType<typeof limiter>
