import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/sessions',
  title: 'End other sessions',
  summary:
    "Ends all of the user's sessions but that of the request, where its login was in the last ten minutes. Offer it where credentials have changed.",
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
