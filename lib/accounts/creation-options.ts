import * as z from 'zod'
import { field } from '../core/field.ts'

const CODE = 'missing_or_invalid_temporary_authentication_token'

/** Temporary token that a client received with its creation options, and returns with the new credentials. */
export const TemporaryToken = field(z.string().min(1).max(200), CODE).describe(
  'The temporaryAuthenticationToken that came with the options',
)

/** Authorization header that can contain the temporary token in place of the body. */
export const TemporaryTokenHeader = field(z.string(), CODE).describe(
  'Bearer <temporaryAuthenticationToken>, as an alternative to the body field',
)

/** Kinds of credentials that the service supports. */
export const CredentialKind = z.enum(['Fido2', 'Key', 'Password', 'Totp', 'RecoveryKey', 'PasswordProtectedKey'])

/** Descriptor of a key or a passkey by its id (WebAuthn's PublicKeyCredentialDescriptor). */
export const CredentialDescriptor = z
  .object({
    type: z.literal('public-key'),
    id: z.string().describe("Client's id of the credential, in base64url"),
  })
  .meta({ id: 'CredentialDescriptor', description: 'WebAuthn descriptor of a key or a passkey' })

/** Relying party of the passkeys (WebAuthn's PublicKeyCredentialRpEntity). */
export const RelyingPartyEntity = z
  .object({ id: z.string().describe('Domain'), name: z.string().describe('Name shown to users') })
  .meta({ id: 'RelyingPartyEntity', description: 'Relying party of the passkeys' })

/** Options with which a client creates new credentials (WebAuthn's PublicKeyCredentialCreationOptions, with more fields). */
export const CreationOptions = z
  .object({
    attestation: z.literal('none'),
    authenticatorSelection: z
      .object({
        requireResidentKey: z.literal(true),
        residentKey: z.literal('required'),
        userVerification: z.literal('required'),
      })
      .describe('Requirements for a passkey'),
    challenge: z.string().describe('base64url of 32 random bytes'),
    excludeCredentials: z.array(CredentialDescriptor).describe('Passkeys that the user already has'),
    otpUrl: z.string().describe('Secret of one-time codes, as an otpauth URL'),
    pubKeyCredParams: z
      .array(z.object({ type: z.literal('public-key'), alg: z.number().describe('COSE number of the algorithm') }))
      .describe('Accepted signature algorithms, preferred first'),
    rp: RelyingPartyEntity,
    supportedCredentialKinds: z
      .object({
        firstFactor: z.array(CredentialKind).describe('Use one of these'),
        secondFactor: z.array(CredentialKind).describe('A password also needs one of these'),
      })
      .describe('Kinds of credentials'),
    temporaryAuthenticationToken: z
      .string()
      .describe('Token for sending the new credentials; valid once, within ten minutes'),
    user: z
      .object({
        displayName: z.string().describe('Name that the authenticator shows beside the passkey'),
        id: z.string().describe('base64url of 32 bytes'),
        name: z.string().describe('E-mail address in lower case'),
      })
      .describe('User entry under which the authenticator stores a passkey'),
  })
  .describe('WebAuthn options for creating new credentials')
export type CreationOptions = z.output<typeof CreationOptions>
