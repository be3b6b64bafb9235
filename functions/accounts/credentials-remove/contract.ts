import * as z from 'zod'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/credentials/{id}',
  title: 'Remove credential',
  summary: 'Removes a credential; takes a login of the last ten minutes.',
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'UpdateItem', 'DeleteItem'] },
  request: {
    path: z.object({
      id: field(z.string().regex(/^[\w-]{22}$/), 'credential_not_found').describe('As the list names it'),
    }),
  },
  response: z.undefined(),
  status: 204,
  errors: ['fresh_login_required', 'last_first_factor', 'last_second_factor', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot remove credentials that they have lost.',
} as const satisfies EndpointContract
