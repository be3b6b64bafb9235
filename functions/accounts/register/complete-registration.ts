import { attestor, nameEach } from '../../../lib/accounts/attestation.ts'
import { listOrigins } from '../../../lib/accounts/relying-party.ts'
import { bearerToken } from '../../../lib/accounts/session.ts'
import { hashToken } from '../../../lib/accounts/token.ts'
import type { User } from '../../../lib/accounts/user.ts'
import { AppError, type ErrorCode } from '../../../lib/errors.ts'
import type { Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'users' | 'relyingParty' | 'identityKey' | 'randomBytes' | 'now'>

/**
 * Completes a registration with its token, which is used up whatever comes of it. Throws `registration_expired_or_used`,
 * `invalid_credential` with every check that failed, `credential_already_registered` or `user_already_registered`.
 */
export function completeRegistration({ users, relyingParty, identityKey, randomBytes, now }: Dependencies) {
  const attest = attestor({ identityKey, randomBytes, now })

  return async (request: Request<typeof contract>): Promise<undefined> => {
    const { clientId } = request.client
    const { token, credentials } = handedOver(request)
    const createdAt = new Date(now())
    const registration = await users.registrations.take(hashToken(token), createdAt)
    if (!registration) throw new AppError('registration_expired_or_used')

    const { email, platform, userId, challenge } = registration
    const origins = listOrigins(relyingParty, platform)
    const made = await attest(credentials, { challenge, origins, rpId: relyingParty.id, userHandle: userId })
    const user: User = {
      ...{ clientId, email, userId, createdAt },
      credentials: nameEach(made, randomBytes),
      ...{ sessions: {}, version: 0, wallets: {} },
    }

    const ids = made.flatMap((credential) => ('id' in credential ? [credential.id] : []))
    const claimed: string[] = []
    const claim = async (id: string) => {
      if (await users.claimCredential(id, user)) claimed.push(id)
    }
    await Promise.all(ids.map(claim))
    if (claimed.length === ids.length && (await users.create(user))) return undefined

    await Promise.all(claimed.map((id) => users.releaseCredential(id, userId)))
    throw new AppError(claimed.length < ids.length ? 'credential_already_registered' : 'user_already_registered')
  }
}

/** The token and the credentials, wherever the request has them. Throws for the first that is missing. */
function handedOver({ headers, body }: Request<typeof contract>) {
  const token = body.temporaryAuthenticationToken ?? bearerToken(headers.authorization)
  if (!token) throw missing('missing_or_invalid_temporary_authentication_token', 'temporaryAuthenticationToken')
  const { firstFactorCredential, secondFactorCredential, recoveryCredential } = body.signedChallenge ?? body
  if (!firstFactorCredential) {
    throw missing('missing_or_invalid_first_factor_credential', 'firstFactorCredential')
  }
  if (firstFactorCredential.credentialKind === 'Password' && !secondFactorCredential) {
    throw missing('missing_or_invalid_second_factor_credential', 'secondFactorCredential')
  }
  return { token, credentials: { firstFactorCredential, secondFactorCredential, recoveryCredential } }
}

function missing(code: ErrorCode, field: string): AppError {
  return new AppError(code, { details: [{ field, issue: 'is required' }] })
}
