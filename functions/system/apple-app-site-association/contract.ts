import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/.well-known/apple-app-site-association',
  title: 'Get Apple app association',
  summary: "Lists the applications that may use this domain's passkeys on Apple devices.",
  tag: 'System',
  caller: 'anyone',
  uses: { relyingParty: true },
  request: {},
  response: z.object({
    webcredentials: z
      .object({ apps: z.array(z.string()).describe('Team and bundle ids') })
      .describe('Applications that may use the passkeys'),
  }),
  errors: [],
  cacheControl: 'public, max-age=300',
  impact: 'New installations on Apple’s devices cannot use passkeys.',
} as const satisfies EndpointContract
