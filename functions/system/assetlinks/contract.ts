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
      relation: z.array(z.string()),
      target: z.object({
        namespace: z.literal('android_app'),
        package_name: z.string(),
        sha256_cert_fingerprints: z.array(z.string()),
      }),
    }),
  ),
  errors: [],
  cacheControl: 'public, max-age=300',
  impact: 'New installations on Android cannot use passkeys.',
} as const satisfies EndpointContract
