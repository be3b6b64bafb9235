import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { PublicKey } from '../../../lib/signing/public-key.ts'

export const contract = {
  method: 'GET',
  path: '/.well-known/jwks.json',
  title: 'List signing keys',
  summary: 'Lists the public keys that sign responses: the current key first, then the next or the previous one.',
  tag: 'System',
  caller: 'anyone',
  uses: { signing: true },
  request: {},
  response: z.object({ keys: z.array(PublicKey).describe('Empty until the operator has made a key') }),
  errors: [],
  cacheControl: 'public, max-age=300',
  impact: 'Callers who look keys up cannot verify signatures.',
} as const satisfies EndpointContract
