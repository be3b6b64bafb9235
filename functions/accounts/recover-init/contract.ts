import * as z from 'zod'
import { CreationOptions } from '../../../lib/accounts/creation-options.ts'
import { KeyCredentialId } from '../../../lib/accounts/credential.ts'
import { PlatformHeader } from '../../../lib/accounts/relying-party.ts'
import { Email } from '../../../lib/accounts/user.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

const AllowedRecoveryCredential = z.object({
  id: z.string().describe('The credentialId of the request, or a dummy if it has none'),
  encryptedRecoveryKey: z
    .string()
    .nullable()
    .describe('Encrypted private key of that recovery key, or a dummy; null without a credentialId'),
})

export const contract = {
  method: 'POST',
  path: '/auth/recover/init',
  title: 'Start recovery',
  summary: 'Returns the options for new credentials after a loss, and a temporary token.',
  tag: 'Accounts',
  caller: 'client',
  uses: { users: ['PutItem', 'GetItem'], relyingParty: true, identity: true },
  request: {
    headers: z.object({ platform: PlatformHeader }),
    body: z.strictObject({
      email: Email,
      credentialId: field(KeyCredentialId, 'invalid_credential_id')
        .optional()
        .describe('Id of the recovery key, from the recovery kit: base64url of 32 bytes'),
    }),
  },
  response: z.object({
    publicKeyCredentialCreationOptions: CreationOptions.extend({
      excludeCredentials: CreationOptions.shape.excludeCredentials.describe('Always empty'),
      allowedRecoveryCredentials: z
        .array(AllowedRecoveryCredential)
        .describe('Always one entry, even if the user is unknown'),
    }).describe('WebAuthn options for creating new credentials'),
    temporaryAuthenticationToken: z.string().describe('Valid once, within ten minutes'),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Users cannot start to recover an account.',
} as const satisfies EndpointContract
