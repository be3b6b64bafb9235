import * as z from 'zod'
import { EpochSeconds, Timestamp } from '../codecs.ts'
import { AppError } from '../errors.ts'
import { sha256 } from '../sha256.ts'

/** A user's login, from which it ends by itself after 30 days. */
export const Session = z.object({
  /** What its user knows it by. */
  id: z.string(),
  /** The SHA-256 of its token, which finds it. */
  hash: z.string(),
  clientId: z.string(),
  user: z.object({ id: z.string(), email: z.string() }),
  createdAt: Timestamp,
  expiresAt: EpochSeconds,
})
export type Session = z.output<typeof Session>

type Dependencies = {
  readonly get: (hash: string) => Promise<Session | null>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Returns a function that finds the session that an Authorization header carries, and throws `missing_session` or `invalid_session`. */
export function identifySession({ get, now }: Dependencies) {
  return async (authorization: string | undefined, clientId: string): Promise<Session> => {
    const token = bearerToken(authorization)
    if (!token) throw new AppError('missing_session')
    const session = await get(sha256(token))
    if (session?.clientId !== clientId || session.expiresAt.getTime() <= now()) throw new AppError('invalid_session')
    return session
  }
}

/** The token of an Authorization header of the scheme Bearer; undefined when it has none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

/** How old a session may be, in milliseconds, for what nobody shall do who merely found a device open. */
const FRESH_MS = 10 * 60 * 1000

/** Throws `fresh_login_required` unless the session is of a login a moment ago; `now` is in epoch milliseconds. */
export function assertFresh({ createdAt }: Session, now: number): void {
  if (now - createdAt.getTime() > FRESH_MS) throw new AppError('fresh_login_required')
}
