import * as z from 'zod'
import { TemporaryToken } from '../../../lib/accounts/creation-options.ts'
import {
  FirstAssertion,
  FirstAttestation,
  RecoveryAttestation,
  SecondAssertion,
  SecondAttestation,
} from '../../../lib/accounts/credential.ts'
import { CredentialEntry } from '../../../lib/accounts/credential-entry.ts'
import { createFieldsCondition, field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

/** The request body must contain exactly one of these fields. */
const CREDENTIALS = ['firstFactorCredential', 'secondFactorCredential', 'recoveryCredential']

export const contract = {
  method: 'POST',
  path: '/auth/credentials',
  title: 'Add credential',
  summary:
    'Adds a credential, confirmed by an existing one. A new password, code generator or recovery key replaces the old one.',
  tag: 'Accounts',
  caller: 'user',
  uses: {
    users: ['GetItem', 'UpdateItem', 'PutItem', 'DeleteItem'],
    relyingParty: true,
    identity: true,
    rateLimits: true,
  },
  request: {
    body: z
      .strictObject({
        temporaryAuthenticationToken: TemporaryToken,
        firstFactorCredential: FirstAttestation.optional().describe('Exactly one of the three credentials is required'),
        secondFactorCredential: SecondAttestation.optional(),
        recoveryCredential: RecoveryAttestation.optional(),
        confirmation: field(
          z.strictObject({ firstFactor: FirstAssertion, secondFactor: SecondAssertion.optional() }),
          'missing_or_invalid_first_factor',
        ).describe('Signed as for a login, with a second factor if the user has one'),
      })
      .refine(
        ({ firstFactorCredential, secondFactorCredential, recoveryCredential }) =>
          [firstFactorCredential, secondFactorCredential, recoveryCredential].filter(Boolean).length === 1,
        {
          path: ['firstFactorCredential'],
          message:
            'must be given, unless secondFactorCredential or recoveryCredential is: send exactly one of the three',
          when: createFieldsCondition(...CREDENTIALS),
        },
      ),
  },
  response: CredentialEntry,
  status: 201,
  errors: [
    'challenge_expired_or_used',
    'invalid_credential',
    'confirmation_failed',
    'credential_already_registered',
    'too_many_credentials',
    'too_many_requests',
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot add credentials or change passwords.',
} as const satisfies EndpointContract
