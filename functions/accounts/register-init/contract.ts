import * as z from 'zod'
import { PlatformHeader } from '../../../lib/accounts/relying-party.ts'
import { Email } from '../../../lib/accounts/user.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

const Kind = z.enum(['Fido2', 'Key', 'Password', 'Totp', 'RecoveryKey', 'PasswordProtectedKey'])

export const contract = {
  method: 'POST',
  path: '/auth/register/init',
  summary: 'Starts a registration: returns the options for creating credentials, and a temporary token.',
  tag: 'Accounts',
  caller: 'anyone',
  uses: { users: ['UpdateItem', 'PutItem'], relyingParty: true, identity: true, rateLimits: true },
  request: {
    headers: z.object({ platform: PlatformHeader }),
    body: z.strictObject({ email: Email }),
  },
  response: z.object({
    publicKeyCredentialCreationOptions: z.object({
      attestation: z.literal('none'),
      authenticatorSelection: z.object({
        requireResidentKey: z.literal(true),
        residentKey: z.literal('required'),
        userVerification: z.literal('required'),
      }),
      challenge: z.string().describe('base64url of 32 random bytes'),
      excludeCredentials: z.array(z.object({ type: z.string(), id: z.number() })).describe('Always empty'),
      otpUrl: z.string().describe('The secret of one-time codes as an otpauth URL'),
      pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.number() })),
      rp: z.object({ id: z.string(), name: z.string() }),
      supportedCredentialKinds: z.object({ firstFactor: z.array(Kind), secondFactor: z.array(Kind) }),
      temporaryAuthenticationToken: z.string(),
      user: z.object({
        displayName: z.string(),
        id: z.string().describe('base64url of 32 random bytes'),
        name: z.string().describe('The e-mail address in lower case'),
      }),
    }),
    temporaryAuthenticationToken: z.string().describe('Good once, within ten minutes'),
  }),
  errors: ['too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Nobody can start to register.',
} as const satisfies EndpointContract
