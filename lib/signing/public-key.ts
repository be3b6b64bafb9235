import * as z from 'zod'

/** Public key as a JWK set publishes it (RFC 7517, RFC 8037). `kid` is its RFC 7638 thumbprint. */
export const PublicKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().describe('Public key, in base64url'),
  kid: z.string().describe('Key id in `signature-input`: its RFC 7638 thumbprint'),
  use: z.literal('sig'),
  alg: z.literal('EdDSA'),
})
export type PublicKey = z.output<typeof PublicKey>
