import * as z from 'zod'
import { FirstAssertion, SecondAssertion } from '../../../lib/accounts/credential.ts'
import { PlatformHeader } from '../../../lib/accounts/relying-party.ts'
import { Timestamp } from '../../../lib/core/codecs.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/login',
  title: 'Complete login',
  summary:
    'Completes a login with the signed challenge and returns a session for 30 days. A user has at most 20 sessions: another login ends the oldest.',
  tag: 'Accounts',
  caller: 'client',
  uses: {
    users: ['DeleteItem', 'GetItem', 'UpdateItem', 'PutItem'],
    relyingParty: true,
    identity: true,
    rateLimits: true,
  },
  request: {
    headers: z.object({ platform: PlatformHeader.optional() }),
    body: z.strictObject({
      challengeIdentifier: field(z.string().min(1).max(200), 'missing_or_invalid_challenge_identifier').describe(
        'The challengeIdentifier of POST /auth/login/init',
      ),
      firstFactor: FirstAssertion,
      secondFactor: SecondAssertion.optional().describe('Required if the user has a second factor'),
    }),
  },
  response: z.object({
    token: z.string().describe('Session token; send it as Authorization: Bearer <token>'),
    expiresAt: Timestamp,
    user: z
      .object({
        id: z.string().describe('User id; never changes'),
        email: z.string().describe('E-mail address in lower case'),
      })
      .describe('User of the session'),
  }),
  errors: ['login_failed', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot log in.',
} as const satisfies EndpointContract
