import * as z from 'zod'
import { field } from '../field.ts'

const CODE = 'missing_or_invalid_temporary_authentication_token'

/** With what new credentials are handed over: the token that came with the options for making them. */
export const TemporaryToken = field(z.string().min(1).max(200), CODE)

/** The header that can carry the same token. */
export const TemporaryTokenHeader = field(z.string(), CODE).describe(
  'Bearer and the temporaryAuthenticationToken, in place of the field',
)

/** What a credential is. */
export const CredentialKind = z.enum(['Fido2', 'Key', 'Password', 'Totp', 'RecoveryKey', 'PasswordProtectedKey'])

/** What names a key or a passkey to a client (WebAuthn's credential descriptor). */
export const CredentialDescriptor = z
  .object({ type: z.literal('public-key'), id: z.string() })
  .meta({ id: 'CredentialDescriptor' })

/** What a client makes new credentials by. */
export const CreationOptions = z.object({
  attestation: z.literal('none'),
  authenticatorSelection: z.object({
    requireResidentKey: z.literal(true),
    residentKey: z.literal('required'),
    userVerification: z.literal('required'),
  }),
  challenge: z.string().describe('base64url of 32 random bytes'),
  excludeCredentials: z.array(CredentialDescriptor).describe('Passkeys that the user has already'),
  otpUrl: z.string().describe('The secret of one-time codes as an otpauth URL'),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.number() })),
  rp: z.object({ id: z.string(), name: z.string() }),
  supportedCredentialKinds: z.object({
    firstFactor: z.array(CredentialKind),
    secondFactor: z.array(CredentialKind),
  }),
  temporaryAuthenticationToken: z.string(),
  user: z.object({
    displayName: z.string(),
    id: z.string().describe('base64url of 32 bytes'),
    name: z.string().describe('The e-mail address in lower case'),
  }),
})
export type CreationOptions = z.output<typeof CreationOptions>
