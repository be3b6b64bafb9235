import { assert } from '../../../lib/accounts/check.ts'
import type { Expected } from '../../../lib/accounts/client-data.ts'
import type { Attestation, Credential } from '../../../lib/accounts/credential.ts'
import { attestKey } from '../../../lib/accounts/key.ts'
import { attestPasskey } from '../../../lib/accounts/passkey.ts'
import { hashPassword } from '../../../lib/accounts/password.ts'
import { listOrigins } from '../../../lib/accounts/relying-party.ts'
import { bearerToken } from '../../../lib/accounts/session.ts'
import { hashToken } from '../../../lib/accounts/token.ts'
import { totpSecret, totpStep } from '../../../lib/accounts/totp.ts'
import type { User } from '../../../lib/accounts/user.ts'
import { AppError, type ErrorCode } from '../../../lib/errors.ts'
import type { Request } from '../../../lib/frame/contract.ts'
import { toResult, unwrap } from '../../../lib/result.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'users' | 'relyingParty' | 'identityKey' | 'randomBytes' | 'now'>

type Credentials = ReturnType<typeof handedOver>['credentials']

/**
 * Completes a registration with its token, which is used up whatever comes of it. Throws `registration_expired_or_used`,
 * `invalid_credential` with every check that failed, `credential_already_registered` or `user_already_registered`.
 */
export function completeRegistration({ users, relyingParty, identityKey, randomBytes, now }: Dependencies) {
  const verify = async (credential: Attestation, expected: Expected, userId: string): Promise<Credential> => {
    const name = credential.credentialName
    switch (credential.credentialKind) {
      case 'Fido2':
        return { kind: 'Fido2', name, ...(await attestPasskey(credential.credentialInfo, expected)) }
      case 'Key':
        return { kind: 'Key', name, ...attestKey(credential.credentialInfo, expected) }
      case 'PasswordProtectedKey':
      case 'RecoveryKey': {
        const { credentialKind: kind, encryptedPrivateKey } = credential
        return { kind, name, ...attestKey(credential.credentialInfo, expected), encryptedPrivateKey }
      }
      case 'Password':
        return { kind: 'Password', name, hash: await hashPassword(credential.credentialInfo.password, randomBytes) }
      case 'Totp': {
        const lastStep = totpStep(totpSecret(identityKey, userId), credential.credentialInfo.otpCode, now())
        assert(lastStep !== null, 'code')
        return { kind: 'Totp', name, lastStep }
      }
    }
  }

  return async (request: Request<typeof contract>): Promise<undefined> => {
    const { clientId } = request.client
    const { token, credentials } = handedOver(request)
    const createdAt = new Date(now())
    const registration = await users.registrations.take(hashToken(token), createdAt)
    if (!registration) throw new AppError('registration_expired_or_used')

    const { email, platform, userId, challenge } = registration
    const expected = { challenge, origins: listOrigins(relyingParty, platform), rpId: relyingParty.id }
    const [firstFactor, secondFactor, recovery] = await allVerified(credentials, (credential) =>
      verify(credential, expected, userId),
    )
    const user: User = { clientId, email, userId, createdAt, firstFactor, secondFactor, recovery, wallets: {} }

    const ids = [firstFactor, secondFactor, recovery].flatMap((made) => (made && 'id' in made ? [made.id] : []))
    const claimed: string[] = []
    const claim = async (id: string) => {
      if (await users.claimCredential(id, userId)) claimed.push(id)
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

/** The three credentials as they are stored; throws `invalid_credential` that tells what is wrong with each of them. */
async function allVerified(
  { firstFactorCredential, secondFactorCredential, recoveryCredential }: Credentials,
  verify: (credential: Attestation) => Promise<Credential>,
): Promise<[Credential, Credential | undefined, Credential | undefined]> {
  const [first, second, recovery] = await Promise.all([
    toResult(verify(firstFactorCredential)),
    secondFactorCredential && toResult(verify(secondFactorCredential)),
    recoveryCredential && toResult(verify(recoveryCredential)),
  ])
  const results = { firstFactorCredential: first, secondFactorCredential: second, recoveryCredential: recovery }
  const details = Object.entries(results).flatMap(([field, result]) =>
    result && 'error' in result && result.error.cause instanceof Error
      ? [{ field, issue: result.error.cause.message }]
      : [],
  )
  if (details.length > 0) throw new AppError('invalid_credential', { details })
  return [unwrap(first), second && unwrap(second), recovery && unwrap(recovery)]
}
