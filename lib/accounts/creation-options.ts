import * as z from 'zod'
import { field } from '../field.ts'

const CODE = 'missing_or_invalid_temporary_authentication_token'

/** With what new credentials are handed over: the token that came with the options for making them. */
export const TemporaryToken = field(z.string().min(1).max(200), CODE).describe(
  'The temporaryAuthenticationToken that came with the options',
)

/** The header that can carry the same token. */
export const TemporaryTokenHeader = field(z.string(), CODE).describe(
  'Bearer and the temporaryAuthenticationToken, in place of the field',
)

/** What a credential is. */
export const CredentialKind = z.enum(['Fido2', 'Key', 'Password', 'Totp', 'RecoveryKey', 'PasswordProtectedKey'])

/** What names a key or a passkey to a client (WebAuthn's credential descriptor). */
export const CredentialDescriptor = z
  .object({
    type: z.literal('public-key'),
    id: z.string().describe('What the client calls the credential, in base64url'),
  })
  .meta({ id: 'CredentialDescriptor', description: 'What names a key or a passkey to its client' })

/** For whom passkeys are (WebAuthn's PublicKeyCredentialRpEntity). */
export const RelyingPartyEntity = z
  .object({ id: z.string().describe('A domain'), name: z.string().describe('What people call it') })
  .meta({ id: 'RelyingPartyEntity', description: 'For whom passkeys are' })

/** What a client makes new credentials by. */
export const CreationOptions = z
  .object({
    attestation: z.literal('none'),
    authenticatorSelection: z
      .object({
        requireResidentKey: z.literal(true),
        residentKey: z.literal('required'),
        userVerification: z.literal('required'),
      })
      .describe('What a passkey has to be'),
    challenge: z.string().describe('base64url of 32 random bytes'),
    excludeCredentials: z.array(CredentialDescriptor).describe('Passkeys that the user has already'),
    otpUrl: z.string().describe('The secret of one-time codes as an otpauth URL'),
    pubKeyCredParams: z
      .array(z.object({ type: z.literal('public-key'), alg: z.number().describe('By its COSE number') }))
      .describe('Which signatures are taken, the first one best'),
    rp: RelyingPartyEntity,
    supportedCredentialKinds: z
      .object({
        firstFactor: z.array(CredentialKind).describe('Of which one is needed'),
        secondFactor: z.array(CredentialKind).describe('Which a password needs besides'),
      })
      .describe('What credentials can be'),
    temporaryAuthenticationToken: z.string().describe('Hands the new credentials over; good once, within ten minutes'),
    user: z
      .object({
        displayName: z.string().describe('What the authenticator shows beside the passkey'),
        id: z.string().describe('base64url of 32 bytes'),
        name: z.string().describe('The e-mail address in lower case'),
      })
      .describe('Under what the authenticator keeps a passkey'),
  })
  .describe('What new credentials are made by, in the words of WebAuthn')
export type CreationOptions = z.output<typeof CreationOptions>
