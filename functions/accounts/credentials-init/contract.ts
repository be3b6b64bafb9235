import * as z from 'zod'
import { CreationOptions, CredentialDescriptor, RelyingPartyEntity } from '../../../lib/accounts/creation-options.ts'
import { PlatformHeader } from '../../../lib/accounts/relying-party.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/credentials/init',
  title: 'Start adding credential',
  summary: 'Returns the options for a new credential and the challenge that an existing one signs to confirm it.',
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['PutItem', 'GetItem'], relyingParty: true, identity: true },
  request: { headers: z.object({ platform: PlatformHeader }) },
  response: z.object({
    publicKeyCredentialCreationOptions: CreationOptions,
    temporaryAuthenticationToken: z.string().describe('Valid once, within ten minutes, for this user'),
    confirmation: z
      .object({
        challenge: z.string().describe('The challenge of the options'),
        rp: RelyingPartyEntity,
        userVerification: z.literal('required'),
        allowCredentials: z
          .object({
            webauthn: z.array(CredentialDescriptor).describe('Passkeys'),
            key: z.array(CredentialDescriptor).describe('Keys'),
            passwordProtectedKey: z.array(CredentialDescriptor).describe('Keys encrypted with a password'),
          })
          .describe('Credentials of the user'),
      })
      .describe("Challenge for the user's existing credentials, as for a login"),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Users cannot start to add credentials.',
} as const satisfies EndpointContract
