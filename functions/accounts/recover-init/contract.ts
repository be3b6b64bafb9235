import * as z from 'zod'
import { CreationOptions } from '../../../lib/accounts/creation-options.ts'
import { KeyId } from '../../../lib/accounts/credential.ts'
import { PlatformHeader } from '../../../lib/accounts/relying-party.ts'
import { Email } from '../../../lib/accounts/user.ts'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

const AllowedRecoveryCredential = z.object({
  id: z.string().describe('The credentialId; without one a dummy'),
  encryptedRecoveryKey: z
    .string()
    .nullable()
    .describe(
      "The encryptedPrivateKey of the user's recovery key with the credentialId, else a dummy; null without one",
    ),
})

export const contract = {
  method: 'POST',
  path: '/auth/recover/init',
  title: 'Start recovery',
  summary: 'Starts a recovery: returns the options for creating new credentials, and a temporary token.',
  tag: 'Accounts',
  caller: 'client',
  uses: { users: ['PutItem', 'GetItem'], relyingParty: true, identity: true },
  request: {
    headers: z.object({ platform: PlatformHeader }),
    body: z.strictObject({
      email: Email,
      credentialId: field(KeyId, 'invalid_credential_id')
        .optional()
        .describe('The id of the recovery key, from the recovery kit: base64url of 32 bytes'),
    }),
  },
  response: z.object({
    publicKeyCredentialCreationOptions: CreationOptions.extend({
      excludeCredentials: CreationOptions.shape.excludeCredentials.describe('Always empty'),
      allowedRecoveryCredentials: z.array(AllowedRecoveryCredential).describe('One, whether the user is known or not'),
    }).describe('What new credentials are made by, in the words of WebAuthn'),
    temporaryAuthenticationToken: z.string().describe('Good once, within ten minutes'),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Nobody can start to recover an account.',
} as const satisfies EndpointContract
