import * as z from 'zod'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/sessions/{id}',
  title: 'End session',
  summary:
    "Ends one of the user's sessions: that of the request, or another where its login was in the last ten minutes.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'UpdateItem', 'DeleteItem'] },
  request: { path: z.object({ id: field(z.string().max(100), 'session_not_found').describe('As the list names it') }) },
  response: z.undefined(),
  status: 204,
  errors: ['fresh_login_required', 'session_not_found', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot end sessions on other devices.',
} as const satisfies EndpointContract
