import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/.well-known/assetlinks.json',
  title: 'Get Android asset links',
  summary: 'Tells Android which applications may use the passkeys of this domain.',
  tag: 'System',
  caller: 'anyone',
  uses: { relyingParty: true },
  request: {},
  response: z.array(
    z.object({
      relation: z.array(z.string()).describe('What the applications may do'),
      target: z
        .object({
          namespace: z.literal('android_app'),
          package_name: z.string().describe('Of the application'),
          sha256_cert_fingerprints: z.array(z.string()).describe('Of the keys that sign it'),
        })
        .describe('An application'),
    }),
  ),
  errors: [],
  cacheControl: 'public, max-age=300',
  impact: 'New installations on Android cannot use passkeys.',
} as const satisfies EndpointContract
