import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/logout',
  title: 'Log out',
  summary: 'Ends the session of the request.',
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['DeleteItem', 'GetItem', 'UpdateItem'] },
  request: {},
  response: z.undefined(),
  status: 204,
  errors: ['too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot log out.',
} as const satisfies EndpointContract
