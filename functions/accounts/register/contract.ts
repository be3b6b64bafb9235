import * as z from 'zod'
import { TemporaryToken, TemporaryTokenHeader } from '../../../lib/accounts/creation-options.ts'
import {
  FirstAttestation,
  RecoveryAttestation,
  requireAtMostOnePasskey,
  SecondAttestation,
} from '../../../lib/accounts/credential.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

const credentials = {
  firstFactorCredential: FirstAttestation.optional().describe(
    'Required, here or in signedChallenge: a new credential to log in with',
  ),
  secondFactorCredential: SecondAttestation.optional().describe('A passkey only if the first factor is not one'),
  recoveryCredential: RecoveryAttestation.optional(),
}

export const contract = {
  method: 'POST',
  path: '/auth/register',
  title: 'Complete registration',
  summary: 'Completes a registration with the credentials created for it.',
  tag: 'Accounts',
  caller: 'client',
  uses: { users: ['GetItem', 'UpdateItem', 'PutItem', 'DeleteItem'], relyingParty: true, identity: true },
  request: {
    headers: z.object({ authorization: TemporaryTokenHeader.optional() }),
    body: z
      .strictObject({
        temporaryAuthenticationToken: TemporaryToken.optional(),
        tempAuthToken: TemporaryToken.optional().describe('Alias of temporaryAuthenticationToken'),
        appId: field(z.string(), 'unknown_field').optional().describe('Ignored; some clients send it'),
        ...credentials,
        signedChallenge: field(
          z.strictObject(credentials).check(requireAtMostOnePasskey),
          'missing_or_invalid_first_factor_credential',
        )
          .optional()
          .describe('The three credentials, as an alternative to the separate fields'),
      })
      .check(requireAtMostOnePasskey),
  },
  response: z.undefined(),
  errors: [
    'invalid_credential',
    'registration_expired_or_used',
    'user_already_registered',
    'credential_already_registered',
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot complete a registration.',
} as const satisfies EndpointContract
