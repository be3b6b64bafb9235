import * as z from 'zod'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/credentials/{id}',
  title: 'Remove credential',
  summary: "Removes a credential. The session's login must be at most ten minutes old.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'UpdateItem', 'DeleteItem'] },
  request: {
    path: z.object({
      id: field(z.string().regex(/^[\w-]{22}$/), 'credential_not_found').describe('Credential id from the list'),
    }),
  },
  response: z.undefined(),
  status: 204,
  errors: ['fresh_login_required', 'last_first_factor', 'last_second_factor', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot remove lost credentials.',
} as const satisfies EndpointContract
