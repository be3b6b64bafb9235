import { isDeepStrictEqual } from 'node:util'
import { changeAccess } from '../../../lib/accounts/access.ts'
import { createAssertionVerifier } from '../../../lib/accounts/authentication.ts'
import { addSeconds } from '../../../lib/accounts/challenges.ts'
import type { Assertion } from '../../../lib/accounts/credential.ts'
import { listAllOrigins } from '../../../lib/accounts/relying-party.ts'
import type { Session } from '../../../lib/accounts/session.ts'
import { randomId, randomToken } from '../../../lib/accounts/token.ts'
import { MAX_SESSIONS, type User } from '../../../lib/accounts/user.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { toResult } from '../../../lib/core/result.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { DAY } from '../../../lib/core/time.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, limitTries, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const SESSION_SECONDS = 30 * DAY

/**
 * Completes a login and returns the token of a new session of 30 days. The login challenge can be used only once, even
 * if the login fails. A user with more than MAX_SESSIONS sessions loses the oldest ones. Throws `login_failed` for
 * every reason, or `too_many_requests`. A login for an unknown user does the same work, so its duration does not reveal
 * that the user is unknown.
 */
export const handler = endpoint(
  contract,
  { users, limitTries, relyingParty, identityKeys, randomBytes, now },
  ({ users, limitTries, relyingParty, identityKeys, randomBytes, now }) => {
    const authenticate = createAssertionVerifier({ identityKeys, limitTries, now })
    const origins = listAllOrigins(relyingParty)
    return async (request) => {
      const { clientId } = request.client
      const { challengeIdentifier, ...assertions } = request.body
      const at = new Date(now())
      const started = await users.loginChallenges.take(sha256(challengeIdentifier), at)
      if (started?.clientId !== clientId) throw new AppError('login_failed')

      const { email, challenge } = started
      const expected = { challenge, origins, rpId: relyingParty.id }
      // The limit on guesses counts per e-mail address. Without an e-mail address nothing limits guesses, so only a
      // passkey may log in.
      if (email === undefined && assertions.firstFactor.kind !== 'Fido2') throw new AppError('login_failed')
      const claimant = { clientId, email, sourceIp: request.requestContext.http.sourceIp }
      const verify = async (user: User | null) => {
        const result = await toResult(authenticate(user, assertions, expected, claimant))
        if (!('error' in result)) return result.value
        if (result.error.code !== 'invalid_credential') throw result.error
        throw new AppError('login_failed', { cause: result.error })
      }
      const user = await (email === undefined
        ? users.find(clientId, credentialIdOf(assertions.firstFactor))
        : users.get({ clientId, email }))
      const credentials = await verify(user)
      if (!user) throw new AppError('login_failed')

      const token = randomToken(randomBytes)
      const session: Session = {
        id: randomId(randomBytes),
        hash: sha256(token),
        clientId,
        user: { id: user.userId, email: user.email },
        createdAt: at,
        expiresAt: addSeconds(now(), SESSION_SECONDS),
      }
      const { platform } = request.headers
      // The session is stored before it is added to the user's list of sessions. A concurrent request that ends all
      // sessions then deletes it too.
      await users.sessions.put(session.hash, session)
      await changeAccess(users, user, async (current) => ({
        // Verifying a password takes half a second. If the user's credentials change in that time, they are verified again.
        credentials: isDeepStrictEqual(current.credentials, user.credentials) ? credentials : await verify(current),
        sessions: withSession(current.sessions, session, platform),
      })).catch(async (error: unknown) => {
        await users.sessions.delete(session.hash)
        // This error means that the user was deleted during the login.
        const isGone = error instanceof AppError && error.code === 'invalid_session'
        throw isGone ? new AppError('login_failed', { cause: error }) : error
      })
      return { token, expiresAt: session.expiresAt, user: session.user }
    }
  },
)

/** Adds a session. Drops sessions that have expired, and the oldest sessions if there are more than MAX_SESSIONS. */
function withSession(
  sessions: User['sessions'],
  { id, hash, createdAt, expiresAt }: Session,
  platform: User['sessions'][string]['platform'],
): User['sessions'] {
  const live = Object.entries(sessions).filter((session) => session[1].expiresAt > createdAt)
  const newest = live.toSorted(([, left], [, right]) => right.createdAt.getTime() - left.createdAt.getTime())
  return {
    ...Object.fromEntries(newest.slice(0, MAX_SESSIONS - 1)),
    [id]: { hash, platform, createdAt, expiresAt },
  }
}

/** Returns the passkey id that identifies the user. Other kinds of credentials identify no user, so they get the placeholder `-`. */
function credentialIdOf(factor: Assertion): string {
  return factor.kind === 'Fido2' ? factor.credentialAssertion.credId : '-'
}
