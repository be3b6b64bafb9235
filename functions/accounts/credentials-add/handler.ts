import { isDeepStrictEqual } from 'node:util'
import { changeAccess, getUser } from '../../../lib/accounts/access.ts'
import { createAttestationVerifier } from '../../../lib/accounts/attestation.ts'
import { createAssertionVerifier } from '../../../lib/accounts/authentication.ts'
import { requireDistinctIds, withClaimedId } from '../../../lib/accounts/claims.ts'
import type { Credential } from '../../../lib/accounts/credential.ts'
import { buildCredentialEntry } from '../../../lib/accounts/credential-entry.ts'
import { listOrigins } from '../../../lib/accounts/relying-party.ts'
import { randomId } from '../../../lib/accounts/token.ts'
import { lacksSecondFactor, MAX_CREDENTIALS, type User } from '../../../lib/accounts/user.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { toResult } from '../../../lib/core/result.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, limitTries, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/** Kinds of credentials of which a user has at most one. */
const SINGLE: readonly Credential['kind'][] = ['Password', 'Totp', 'RecoveryKey']

/**
 * Handles POST /auth/credentials: adds a new credential after one of the user's existing credentials has confirmed it.
 * The token of the request can be used only once, even if the attempt fails. Throws `challenge_expired_or_used`,
 * `too_many_requests` after too many guesses, and `confirmation_failed`. After the confirmation it throws
 * `invalid_credential`, `credential_already_registered`, `too_many_credentials`, or
 * `missing_or_invalid_second_factor_credential` for a password without a second factor.
 */
export const handler = endpoint(
  contract,
  { users, limitTries, relyingParty, identityKeys, randomBytes, now },
  ({ users, limitTries, relyingParty, identityKeys, randomBytes, now }) => {
    const attest = createAttestationVerifier({ identityKeys, randomBytes, now })
    const authenticate = createAssertionVerifier({ identityKeys, limitTries, now })
    return async ({ session, body, requestContext }) => {
      const { temporaryAuthenticationToken, confirmation, ...attestations } = body
      const started = await users.credentialChallenges.take(sha256(temporaryAuthenticationToken), new Date(now()))
      if (started?.userId !== session.user.id) throw new AppError('challenge_expired_or_used')
      const user = await getUser(users, session)

      const { userId: userHandle, platform, challenge } = started
      const origins = listOrigins(relyingParty, platform)
      const enrolment = { challenge, origins, rpId: relyingParty.id, userHandle }
      const claimant = { clientId: user.clientId, email: user.email, sourceIp: requestContext.http.sourceIp }
      const confirm = async (current: User) => {
        const confirmed = await toResult(authenticate(current, confirmation, enrolment, claimant))
        if ('error' in confirmed) throw unconfirmed(confirmed.error)
        return confirmed.value
      }
      const confirmed = await confirm(user)
      // The cast is safe: the schema requires exactly one credential in the body.
      const [credential] = (await attest(attestations, enrolment)) as [Credential]
      const id = randomId(randomBytes)
      const withIt = async (current: User) => {
        requireDistinctIds([...Object.values(current.credentials), credential])
        const isSame = isDeepStrictEqual(current.credentials, user.credentials)
        const own = isSame ? confirmed : await confirm(current)
        const credentials = { ...withoutSingle(own, credential.kind), [id]: credential }
        if (lacksSecondFactor(credentials)) throw secondFactorMissing()
        if (Object.keys(credentials).length > MAX_CREDENTIALS) throw new AppError('too_many_credentials')
        return { credentials, sessions: current.sessions }
      }
      const change = () => changeAccess(users, user, withIt, session)
      await withClaimedId(users, [credential], user, { now: now(), change })
      return buildCredentialEntry(id, credential)
    }
  },
)

function withoutSingle(credentials: User['credentials'], added: Credential['kind']): User['credentials'] {
  const kept = Object.entries(credentials).filter(([, { kind }]) => kind !== added || !SINGLE.includes(kind))
  return Object.fromEntries(kept)
}

function unconfirmed(error: AppError): AppError {
  return error.code === 'invalid_credential' ? new AppError('confirmation_failed', { cause: error }) : error
}

function secondFactorMissing(): AppError {
  const details = [{ field: 'secondFactorCredential', issue: 'is required before a password' }]
  return new AppError('missing_or_invalid_second_factor_credential', { details })
}
