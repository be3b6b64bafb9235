import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/user',
  title: 'Delete user',
  summary:
    "Deletes the user with all credentials, sessions and wallet links. The session's login must be at most ten minutes old.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'DeleteItem'] },
  request: {},
  response: z.undefined(),
  status: 204,
  errors: ['fresh_login_required', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot delete their accounts.',
} as const satisfies EndpointContract
