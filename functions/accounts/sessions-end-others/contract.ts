import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/sessions',
  title: 'End other sessions',
  summary:
    "Ends all sessions of the user except this one. The session's login must be at most ten minutes old. Offer it after credentials change.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'UpdateItem', 'DeleteItem'] },
  request: {},
  response: z.undefined(),
  status: 204,
  errors: ['fresh_login_required', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot end their sessions on other devices.',
} as const satisfies EndpointContract
