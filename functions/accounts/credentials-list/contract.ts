import * as z from 'zod'
import { CredentialEntry } from '../../../lib/accounts/credential-entry.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/auth/credentials',
  title: 'List credentials',
  summary: "Lists the user's credentials, oldest first.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem'] },
  request: {},
  response: z.object({ credentials: z.array(CredentialEntry) }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Users cannot see their credentials.',
} as const satisfies EndpointContract
