import * as z from 'zod'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/sessions/{id}',
  title: 'End session',
  summary: 'Ends a session of the user. To end another session, the login of this one must be at most ten minutes old.',
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'UpdateItem', 'DeleteItem'] },
  request: {
    path: z.object({ id: field(z.string().max(100), 'session_not_found').describe('Session id from the list') }),
  },
  response: z.undefined(),
  status: 204,
  errors: ['fresh_login_required', 'session_not_found', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot end sessions on other devices.',
} as const satisfies EndpointContract
