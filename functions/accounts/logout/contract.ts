import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { ClientsEnv, UsersEnv } from '../../../lib/frame/env.ts'

export const contract = {
  method: 'POST',
  path: '/auth/logout',
  summary: 'Ends the session that is sent along.',
  tag: 'Accounts',
  caller: 'user',
  env: z.object({ ...ClientsEnv.shape, ...UsersEnv.shape }),
  request: {},
  invalid: {},
  response: z.undefined(),
  status: 204,
  errors: [],
  cacheControl: 'no-store',
  impact: 'Nobody can log out.',
} as const satisfies EndpointContract
