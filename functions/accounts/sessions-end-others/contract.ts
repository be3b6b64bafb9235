import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/sessions',
  title: 'End other sessions',
  summary: "Ends all of the user's sessions but that of the request: to be offered where credentials have changed.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'UpdateItem', 'DeleteItem'] },
  request: {},
  response: z.undefined(),
  status: 204,
  errors: ['too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot end their sessions on other devices.',
} as const satisfies EndpointContract
