import * as z from 'zod'
import { FirstAttestation, RecoveryAttestation, SecondAttestation } from '../../../lib/accounts/credential.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { ClientsEnv, CredentialsEnv, UsersEnv } from '../../../lib/frame/env.ts'

const credentials = {
  firstFactorCredential: FirstAttestation.optional(),
  secondFactorCredential: SecondAttestation.optional(),
  recoveryCredential: RecoveryAttestation.optional(),
}

export const contract = {
  method: 'POST',
  path: '/auth/register',
  summary: 'Completes the registration of a user with the credentials that the client made for it.',
  tag: 'Accounts',
  caller: 'client',
  env: z.object({ ...ClientsEnv.shape, ...UsersEnv.shape, ...CredentialsEnv.shape }),
  request: {
    headers: z.object({
      authorization: z
        .string()
        .optional()
        .describe('Bearer and the temporaryAuthenticationToken, in place of the field'),
    }),
    body: z.strictObject({
      temporaryAuthenticationToken: z.string().min(1).max(200).optional(),
      ...credentials,
      signedChallenge: z.strictObject(credentials).optional().describe('The three credentials, in place of the fields'),
    }),
  },
  invalid: {
    authorization: 'missing_or_invalid_temporary_authentication_token',
    temporaryAuthenticationToken: 'missing_or_invalid_temporary_authentication_token',
    firstFactorCredential: 'missing_or_invalid_first_factor_credential',
    secondFactorCredential: 'missing_or_invalid_second_factor_credential',
    recoveryCredential: 'missing_or_invalid_recovery_credential',
    'signedChallenge.firstFactorCredential': 'missing_or_invalid_first_factor_credential',
    'signedChallenge.secondFactorCredential': 'missing_or_invalid_second_factor_credential',
    'signedChallenge.recoveryCredential': 'missing_or_invalid_recovery_credential',
    signedChallenge: 'missing_or_invalid_first_factor_credential',
  },
  response: z.undefined(),
  errors: [
    'invalid_credential',
    'registration_expired_or_used',
    'user_already_registered',
    'credential_already_registered',
  ],
  cacheControl: 'no-store',
  impact: 'Nobody can complete a registration.',
} as const satisfies EndpointContract
