import type { RandomBytes } from '../clients/api-key.ts'
import { AppError, type ErrorCode } from '../core/errors.ts'
import type { KeysByAge } from '../core/keys-by-age.ts'
import { toResult, unwrap } from '../core/result.ts'
import { requireCheck } from './check.ts'
import type { ExpectedClientData } from './client-data.ts'
import type { Attestation, Credential } from './credential.ts'
import { verifyKeyAttestation } from './key.ts'
import { verifyPasskeyAttestation } from './passkey.ts'
import { hashPassword } from './password.ts'
import { parseBearerToken } from './session.ts'
import { randomId } from './token.ts'
import { findTotpStep } from './totp.ts'

/**
 * Values that the service issued to a user who creates new credentials: the challenge, and WebAuthn's user handle. The
 * secret of one-time codes is derived from the challenge.
 */
export type Enrolment = ExpectedClientData & { readonly userHandle: string }

const FACTORS = {
  firstFactorCredential: 'first',
  secondFactorCredential: 'second',
  recoveryCredential: 'recovery',
} as const

/** New credentials, by the field of the request body that contains each. */
export type Attestations = { readonly [Field in keyof typeof FACTORS]?: Attestation | undefined }

/** Error code for each required field of a request. If several fields are missing, the first one in this order is reported. */
const MISSING = {
  temporaryAuthenticationToken: 'missing_or_invalid_temporary_authentication_token',
  recovery: 'missing_or_invalid_recovery',
  newCredentials: 'missing_or_invalid_first_factor_credential',
  firstFactorCredential: 'missing_or_invalid_first_factor_credential',
  secondFactorCredential: 'missing_or_invalid_second_factor_credential',
  'newCredentials.secondFactorCredential': 'missing_or_invalid_second_factor_credential',
} as const satisfies Record<string, ErrorCode>

/**
 * Returns these fields if all of them are defined. Otherwise throws the error of the first missing field; the details
 * name every missing field.
 */
export function requireFields<Parts extends { readonly [Name in keyof typeof MISSING]?: unknown }>(
  parts: Parts,
): { readonly [Name in keyof Parts]: NonNullable<Parts[Name]> } {
  // The cast is safe: MISSING has only these keys.
  const missing = (Object.keys(MISSING) as (keyof typeof MISSING)[]).filter(
    (field) => field in parts && parts[field] === undefined,
  )
  const [first] = missing
  // The cast is safe: no field is undefined.
  if (!first) return parts as { [Name in keyof Parts]: NonNullable<Parts[Name]> }
  throw new AppError(MISSING[first], { details: missing.map((field) => ({ field, issue: 'is required' })) })
}

/** Returns the temporary authentication token from the request's body, or else from its Authorization header; undefined if both lack it. */
export function findTemporaryToken({ headers, body }: TokenRequest): string | undefined {
  return body.temporaryAuthenticationToken ?? body.tempAuthToken ?? parseBearerToken(headers.authorization)
}

type TokenRequest = {
  readonly headers: { readonly authorization?: string | undefined }
  readonly body: {
    readonly temporaryAuthenticationToken?: string | undefined
    readonly tempAuthToken?: string | undefined
  }
}

/** Returns true if the new credentials contain a password as first factor but no second factor. Such a password is refused. */
export function isPasswordOnly({ firstFactorCredential, secondFactorCredential }: Attestations): boolean {
  return firstFactorCredential?.credentialKind === 'Password' && !secondFactorCredential
}

/**
 * Returns a function that verifies a client's new credentials and returns them in their stored form. The function
 * throws `invalid_credential`; its details name every failed credential.
 */
export function createAttestationVerifier({
  identityKeys,
  randomBytes,
  now,
}: {
  readonly identityKeys: KeysByAge
  readonly randomBytes: RandomBytes
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}) {
  const attest = async (
    attestation: Attestation,
    factor: Credential['factor'],
    enrolment: Enrolment,
  ): Promise<Credential> => {
    const held = { factor, name: attestation.credentialName, createdAt: new Date(now()) }
    switch (attestation.credentialKind) {
      case 'Fido2': {
        const passkey = await verifyPasskeyAttestation(attestation.credentialInfo, enrolment)
        return { ...held, kind: 'Fido2', userHandle: enrolment.userHandle, ...passkey }
      }
      case 'Key':
        return { ...held, kind: 'Key', ...verifyKeyAttestation(attestation.credentialInfo, enrolment) }
      case 'PasswordProtectedKey':
      case 'RecoveryKey': {
        const { credentialKind: kind, encryptedPrivateKey } = attestation
        return { ...held, kind, ...verifyKeyAttestation(attestation.credentialInfo, enrolment), encryptedPrivateKey }
      }
      case 'Password':
        return {
          ...held,
          kind: 'Password',
          hash: await hashPassword(attestation.credentialInfo.password, randomBytes),
        }
      case 'Totp': {
        const seed = enrolment.challenge
        const lastStep = findTotpStep(identityKeys, seed, attestation.credentialInfo.otpCode, now())
        requireCheck(lastStep !== null, 'code')
        return { ...held, kind: 'Totp', seed, lastStep }
      }
    }
  }

  return async (attestations: Attestations, enrolment: Enrolment): Promise<Credential[]> => {
    // The cast is safe: FACTORS has only these keys.
    const fields = (Object.keys(FACTORS) as (keyof typeof FACTORS)[]).flatMap((field) => {
      const attestation = attestations[field]
      return attestation ? [{ field, attesting: toResult(attest(attestation, FACTORS[field], enrolment)) }] : []
    })
    const results = await Promise.all(fields.map(async ({ field, attesting }) => ({ field, result: await attesting })))
    const details = results.flatMap(({ field, result }) => {
      const cause = 'error' in result ? result.error.cause : undefined
      return cause instanceof Error ? [{ field, issue: cause.message }] : []
    })
    if (details.length > 0) throw new AppError('invalid_credential', { details })
    return results.map(({ result }) => unwrap(result))
  }
}

/** Creates a random id for each credential. Returns the credentials by these ids. */
export function assignIds(credentials: readonly Credential[], randomBytes: RandomBytes): Record<string, Credential> {
  return Object.fromEntries(credentials.map((credential) => [randomId(randomBytes), credential]))
}
