import * as z from 'zod'
import { TemporaryToken, TemporaryTokenHeader } from '../../../lib/accounts/creation-options.ts'
import { NewCredentials, RecoveryAssertion } from '../../../lib/accounts/credential.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/recover',
  title: 'Complete recovery',
  summary: 'Completes a recovery: new credentials, signed by the recovery key, replace all others. All sessions end.',
  tag: 'Accounts',
  caller: 'client',
  uses: { users: ['DeleteItem', 'GetItem', 'UpdateItem', 'PutItem'], relyingParty: true, identity: true },
  request: {
    headers: z.object({ authorization: TemporaryTokenHeader.optional() }),
    body: z.strictObject({
      temporaryAuthenticationToken: TemporaryToken.optional(),
      tempAuthToken: TemporaryToken.optional().describe('Alias of temporaryAuthenticationToken'),
      recovery: RecoveryAssertion.optional().describe(
        "Required. Client data type: key.get. Challenge: base64url of newCredentials as JSON text, or the options' challenge",
      ),
      signedRecoveryPackage: RecoveryAssertion.optional().describe('Alias of recovery'),
      newCredentials: field(NewCredentials, 'missing_or_invalid_first_factor_credential')
        .optional()
        .describe('Required. Made as for a registration'),
    }),
  },
  response: z.undefined(),
  errors: ['invalid_credential', 'registration_expired_or_used', 'recovery_failed', 'credential_already_registered'],
  cacheControl: 'no-store',
  impact: 'Users cannot complete the recovery of an account.',
} as const satisfies EndpointContract
