import * as z from 'zod'
import { EpochSeconds, Timestamp } from '../core/codecs.ts'
import { AppError } from '../core/errors.ts'
import { sha256 } from '../core/sha256.ts'

/** A user's session; it expires 30 days after the login. */
export const Session = z.object({
  /** Id of the session that the API shows to the user. Not secret. */
  id: z.string(),
  /** SHA-256 of the session's token. The session is stored under this hash. */
  hash: z.string(),
  clientId: z.string(),
  user: z.object({ id: z.string(), email: z.string() }),
  createdAt: Timestamp,
  expiresAt: EpochSeconds,
})
export type Session = z.output<typeof Session>

/** Returns a function that finds the session of an Authorization header. The function throws `missing_session` or `invalid_session`. */
export function createSessionLookup({
  get,
  now,
}: {
  readonly get: (hash: string) => Promise<Session | null>
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}) {
  return async (authorization: string | undefined, clientId: string): Promise<Session> => {
    const token = parseBearerToken(authorization)
    if (!token) throw new AppError('missing_session')
    const session = await get(sha256(token))
    if (session?.clientId !== clientId || session.expiresAt.getTime() <= now()) throw new AppError('invalid_session')
    return session
  }
}

/** Returns the Bearer token of an Authorization header; undefined if the header is missing or has another form. */
export function parseBearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

/** Maximum age of a login, in milliseconds, for sensitive actions. It keeps an attacker with an unlocked device from these actions. */
const FRESH_MS = 10 * 60 * 1000

/** Throws `fresh_login_required` if the login of a session is older than ten minutes. `now` is in epoch milliseconds. */
export function requireFreshLogin({ createdAt }: Session, now: number): void {
  if (now - createdAt.getTime() > FRESH_MS) throw new AppError('fresh_login_required')
}
