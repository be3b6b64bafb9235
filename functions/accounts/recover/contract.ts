import * as z from 'zod'
import { TemporaryToken, TemporaryTokenHeader } from '../../../lib/accounts/creation-options.ts'
import { NewCredentials, RecoveryAssertion } from '../../../lib/accounts/credential.ts'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/recover',
  title: 'Complete recovery',
  summary:
    'Completes a recovery: new credentials that the recovery key signed replace all others, and all sessions end.',
  tag: 'Accounts',
  caller: 'client',
  uses: { users: ['DeleteItem', 'GetItem', 'UpdateItem', 'PutItem'], relyingParty: true, identity: true },
  request: {
    headers: z.object({ authorization: TemporaryTokenHeader.optional() }),
    body: z.strictObject({
      temporaryAuthenticationToken: TemporaryToken.optional(),
      tempAuthToken: TemporaryToken.optional().describe('The temporaryAuthenticationToken, in place of the field'),
      recovery: RecoveryAssertion.optional().describe(
        'Needed. Its client data is of the type key.get; its challenge is base64url of the JSON text of newCredentials, or the challenge of the options',
      ),
      signedRecoveryPackage: RecoveryAssertion.optional().describe('The recovery, in place of the field'),
      newCredentials: field(NewCredentials, 'missing_or_invalid_first_factor_credential')
        .optional()
        .describe('Needed. Made as for a registration'),
    }),
  },
  response: z.undefined(),
  errors: ['invalid_credential', 'registration_expired_or_used', 'recovery_failed', 'credential_already_registered'],
  cacheControl: 'no-store',
  impact: 'Nobody can complete the recovery of an account.',
} as const satisfies EndpointContract
