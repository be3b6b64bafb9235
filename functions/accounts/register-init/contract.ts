import * as z from 'zod'
import { CreationOptions } from '../../../lib/accounts/creation-options.ts'
import { PlatformHeader } from '../../../lib/accounts/relying-party.ts'
import { Email } from '../../../lib/accounts/user.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/register/init',
  title: 'Start registration',
  summary: 'Returns the options for creating credentials, and a temporary token.',
  tag: 'Accounts',
  caller: 'anyone',
  uses: { users: ['UpdateItem', 'PutItem'], relyingParty: true, identity: true, rateLimits: true },
  request: {
    headers: z.object({ platform: PlatformHeader }),
    body: z.strictObject({ email: Email }),
  },
  response: z.object({
    publicKeyCredentialCreationOptions: CreationOptions.extend({
      excludeCredentials: z
        .array(z.object({ type: z.string().describe('Never present'), id: z.number().describe('Never present') }))
        .describe('Always empty'),
    }).describe('WebAuthn options for creating new credentials'),
    temporaryAuthenticationToken: z.string().describe('Valid once, within ten minutes'),
  }),
  errors: ['too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot start to register.',
} as const satisfies EndpointContract
