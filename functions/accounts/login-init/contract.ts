import * as z from 'zod'
import { CredentialDescriptor, RelyingPartyEntity } from '../../../lib/accounts/creation-options.ts'
import { Email } from '../../../lib/accounts/user.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/login/init',
  title: 'Start login',
  summary: "Starts a login: returns a challenge for the user's credentials, or for any passkey when no user is named.",
  tag: 'Accounts',
  caller: 'client',
  uses: { users: ['PutItem', 'GetItem'], relyingParty: true, identity: true },
  request: {
    body: z.strictObject({ email: Email.optional().describe('Left out, a passkey tells who logs in') }),
  },
  response: z.object({
    challenge: z.string().describe('base64url of 32 random bytes'),
    challengeIdentifier: z.string().describe('Good for one try, within ten minutes'),
    rp: RelyingPartyEntity,
    userVerification: z.literal('required'),
    attestation: z.literal('none'),
    supportedCredentialKinds: z
      .array(
        z.object({
          kind: z.enum(['Fido2', 'Key', 'PasswordProtectedKey', 'Password', 'Totp']).describe('Of credentials'),
          factor: z.enum(['first', 'second', 'either']).describe('As which it can log in'),
          requiresSecondFactor: z.boolean().describe('Whether it takes another one besides'),
        }),
      )
      .describe('The same for every e-mail address'),
    allowCredentials: z
      .object({
        webauthn: z.array(CredentialDescriptor).describe('Always empty: passkeys are found without'),
        key: z.array(CredentialDescriptor).describe('Keys'),
        passwordProtectedKey: z.array(CredentialDescriptor).describe('Keys that a password opens'),
      })
      .describe('The same number of keys for every e-mail address, known or not; some are dummies'),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Nobody can start to log in.',
} as const satisfies EndpointContract
