import * as z from 'zod'
import { Platform } from '../../../lib/accounts/relying-party.ts'
import { Timestamp } from '../../../lib/core/codecs.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/auth/sessions',
  title: 'List sessions',
  summary: "Lists the user's sessions, newest login first.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem'] },
  request: {},
  response: z.object({
    sessions: z
      .array(
        z.object({
          id: z.string().describe('Session id, for DELETE /auth/sessions/{id}'),
          platform: Platform.nullable().describe('Platform of the login; null if the login did not name it'),
          createdAt: Timestamp,
          expiresAt: Timestamp,
          isCurrent: z.boolean().describe('True for the session of this request'),
        }),
      )
      .describe('No more than 20; another login ends the oldest'),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Users cannot see where they are logged in.',
} as const satisfies EndpointContract
