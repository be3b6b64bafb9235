import * as z from 'zod'
import { CreationOptions } from '../../../lib/accounts/creation-options.ts'
import { PlatformHeader } from '../../../lib/accounts/relying-party.ts'
import { Email } from '../../../lib/accounts/user.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/register/init',
  title: 'Start registration',
  summary: 'Starts a registration: returns the options for creating credentials, and a temporary token.',
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
        .array(z.object({ type: z.string().describe('Never'), id: z.number().describe('Never') }))
        .describe('Always empty'),
    }).describe('What new credentials are made by, in the words of WebAuthn'),
    temporaryAuthenticationToken: z.string().describe('Good once, within ten minutes'),
  }),
  errors: ['too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Nobody can start to register.',
} as const satisfies EndpointContract
