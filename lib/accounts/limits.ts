import type { RandomBytes } from '../clients/api-key.ts'
import { AppError } from '../errors.ts'
import { networkOf } from '../network.ts'
import { sha256 } from '../sha256.ts'
import { DAY_MS, MINUTE_MS } from '../time.ts'
import type { RateLimits } from './rate-limits.ts'
import type { UsersStore } from './store.ts'

const TEN_MINUTES_MS = 10 * MINUTE_MS
const THIRTY_DAYS_MS = 30 * DAY_MS

type Dependencies = {
  readonly users: Pick<UsersStore, 'countTry' | 'takeTryBack'>
  readonly limits: RateLimits
  readonly randomBytes: RandomBytes
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** What somebody tries: to begin a registration, or what can be guessed or asks a chain. */
type Tried = 'registration' | 'password' | 'code' | 'wallet signature'

/**
 * At whom a try counts, each where it is given: within ten minutes at a user of a client and at the network that it comes
 * from, within thirty days at the seed of a generator of codes. A seed that is null stands for none, with the same work.
 */
type Counted = {
  readonly clientId?: string
  readonly user?: string | undefined
  readonly sourceIp?: string
  readonly seed?: string | null
}

/**
 * Limits tries in fixed windows. They are counted before it is known what comes of them, so that many at once are
 * not more; gives a function that takes one back, which did not fail. No client's tries count at another client's users.
 * Throws `too_many_requests`.
 */
export function limiter({ users, limits, randomBytes, now }: Dependencies) {
  return async (tried: Tried, { clientId, user, sourceIp, seed }: Counted): Promise<() => Promise<void>> => {
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
      await Promise.all(counted.map((key) => users.takeTryBack(key, tryId)))
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

/** What `limiter` gives. */
export type LimitTries = ReturnType<typeof limiter>
