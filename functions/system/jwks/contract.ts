import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { PublicKey } from '../../../lib/signing/public-key.ts'

export const contract = {
  method: 'GET',
  path: '/.well-known/jwks.json',
  title: 'List signing keys',
  summary:
    'Lists the public keys of the signatures of answers: the one that signs first, then the next or the last one.',
  tag: 'System',
  caller: 'anyone',
  uses: { signing: true },
  request: {},
  response: z.object({ keys: z.array(PublicKey).describe('None before the operator has made one') }),
  errors: [],
  cacheControl: 'public, max-age=300',
  impact: 'Callers who look keys up cannot verify signatures.',
} as const satisfies EndpointContract
