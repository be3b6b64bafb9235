import * as z from 'zod'
import { CredentialDescriptor, RelyingPartyEntity } from '../../../lib/accounts/creation-options.ts'
import { Email } from '../../../lib/accounts/user.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/login/init',
  title: 'Start login',
  summary: "Returns a login challenge for the user's credentials, or for any passkey if you name no user.",
  tag: 'Accounts',
  caller: 'client',
  uses: { users: ['PutItem', 'GetItem'], relyingParty: true, identity: true },
  request: {
    body: z.strictObject({
      email: Email.optional().describe('E-mail address of the user; leave it out to log in by passkey'),
    }),
  },
  response: z.object({
    challenge: z.string().describe('base64url of 32 random bytes'),
    challengeIdentifier: z.string().describe('Valid for one try, within ten minutes'),
    rp: RelyingPartyEntity,
    userVerification: z.literal('required'),
    attestation: z.literal('none'),
    supportedCredentialKinds: z
      .array(
        z.object({
          kind: z.enum(['Fido2', 'Key', 'PasswordProtectedKey', 'Password', 'Totp']).describe('Kind of credential'),
          factor: z.enum(['first', 'second', 'either']).describe('Factor that it can be at a login'),
          requiresSecondFactor: z.boolean().describe('True if it needs a second factor'),
        }),
      )
      .describe('Kinds of credentials; the same for every e-mail address'),
    allowCredentials: z
      .object({
        webauthn: z.array(CredentialDescriptor).describe('Always empty: the client finds passkeys itself'),
        key: z.array(CredentialDescriptor).describe('Keys'),
        passwordProtectedKey: z.array(CredentialDescriptor).describe('Keys encrypted with a password'),
      })
      .describe('Keys to choose from, some of them dummies; equally many for every e-mail address'),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Users cannot start to log in.',
} as const satisfies EndpointContract
