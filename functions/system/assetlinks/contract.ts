import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/.well-known/assetlinks.json',
  title: 'Get Android asset links',
  summary: "Lists the applications that may use this domain's passkeys on Android.",
  tag: 'System',
  caller: 'anyone',
  uses: { relyingParty: true },
  request: {},
  response: z.array(
    z.object({
      relation: z.array(z.string()).describe('Permissions of the application'),
      target: z
        .object({
          namespace: z.literal('android_app'),
          package_name: z.string().describe('Package name of the application'),
          sha256_cert_fingerprints: z.array(z.string()).describe('Fingerprints of the keys that sign the application'),
        })
        .describe('An application'),
    }),
  ),
  errors: [],
  cacheControl: 'public, max-age=300',
  impact: 'New installations on Android cannot use passkeys.',
} as const satisfies EndpointContract
