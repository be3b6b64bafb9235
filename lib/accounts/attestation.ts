import type { RandomBytes } from '../clients/api-key.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import type { KeysByAge } from '../keys-by-age.ts'
import { toResult, unwrap } from '../result.ts'
import { assert } from './check.ts'
import type { Expected } from './client-data.ts'
import type { Attestation, Credential } from './credential.ts'
import { attestKey } from './key.ts'
import { attestPasskey } from './passkey.ts'
import { hashPassword } from './password.ts'
import { bearerToken } from './session.ts'
import { randomId } from './token.ts'
import { findTotpStep } from './totp.ts'

type Dependencies = {
  readonly identityKeys: KeysByAge
  readonly randomBytes: RandomBytes
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** What was given out for new credentials: the challenge, from which one-time codes follow too, and WebAuthn's user handle. */
export type Enrolment = Expected & { readonly userHandle: string }

const FACTORS = {
  firstFactorCredential: 'first',
  secondFactorCredential: 'second',
  recoveryCredential: 'recovery',
} as const

/** New credentials, by the fields that clients hand them over in. */
export type Attestations = { readonly [Field in keyof typeof FACTORS]?: Attestation | undefined }

/** What a request that hands credentials over cannot do without, in the order in which it is told. */
const MISSING = {
  temporaryAuthenticationToken: 'missing_or_invalid_temporary_authentication_token',
  recovery: 'missing_or_invalid_recovery',
  newCredentials: 'missing_or_invalid_first_factor_credential',
  firstFactorCredential: 'missing_or_invalid_first_factor_credential',
  secondFactorCredential: 'missing_or_invalid_second_factor_credential',
  'newCredentials.secondFactorCredential': 'missing_or_invalid_second_factor_credential',
} as const satisfies Record<string, ErrorCode>

/** The parts that a request hands over, by their fields. Throws for the first that is missing, and names all. */
export function requireParts<Parts extends { readonly [Name in keyof typeof MISSING]?: unknown }>(
  parts: Parts,
): { readonly [Name in keyof Parts]: NonNullable<Parts[Name]> } {
  // These parts have no other names.
  const missing = (Object.keys(MISSING) as (keyof typeof MISSING)[]).filter(
    (field) => field in parts && parts[field] === undefined,
  )
  const [first] = missing
  // None is missing.
  if (!first) return parts as { [Name in keyof Parts]: NonNullable<Parts[Name]> }
  throw new AppError(MISSING[first], { details: missing.map((field) => ({ field, issue: 'is required' })) })
}

/** The token that a request hands credentials over with, wherever it stands; undefined where it has none. */
export function handOverToken({ headers, body }: Handed): string | undefined {
  return body.temporaryAuthenticationToken ?? body.tempAuthToken ?? bearerToken(headers.authorization)
}

type Handed = {
  readonly headers: { readonly authorization?: string | undefined }
  readonly body: {
    readonly temporaryAuthenticationToken?: string | undefined
    readonly tempAuthToken?: string | undefined
  }
}

/** Whether these are a password without the second factor that it needs. */
export function isPasswordAlone({ firstFactorCredential, secondFactorCredential }: Attestations): boolean {
  return firstFactorCredential?.credentialKind === 'Password' && !secondFactorCredential
}

/**
 * Returns a function that verifies new credentials and gives them as they are stored. It throws `invalid_credential`, which
 * tells what is wrong with each of them.
 */
export function attestor({ identityKeys, randomBytes, now }: Dependencies) {
  const attest = async (
    attestation: Attestation,
    factor: Credential['factor'],
    enrolment: Enrolment,
  ): Promise<Credential> => {
    const held = { factor, name: attestation.credentialName, createdAt: new Date(now()) }
    switch (attestation.credentialKind) {
      case 'Fido2': {
        const passkey = await attestPasskey(attestation.credentialInfo, enrolment)
        return { ...held, kind: 'Fido2', userHandle: enrolment.userHandle, ...passkey }
      }
      case 'Key':
        return { ...held, kind: 'Key', ...attestKey(attestation.credentialInfo, enrolment) }
      case 'PasswordProtectedKey':
      case 'RecoveryKey': {
        const { credentialKind: kind, encryptedPrivateKey } = attestation
        return { ...held, kind, ...attestKey(attestation.credentialInfo, enrolment), encryptedPrivateKey }
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
        assert(lastStep !== null, 'code')
        return { ...held, kind: 'Totp', seed, lastStep }
      }
    }
  }

  return async (attestations: Attestations, enrolment: Enrolment): Promise<Credential[]> => {
    // The attestations have no other fields.
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

/** Credentials by new ids that name each. */
export function nameEach(credentials: readonly Credential[], randomBytes: RandomBytes): Record<string, Credential> {
  return Object.fromEntries(credentials.map((credential) => [randomId(randomBytes), credential]))
}
