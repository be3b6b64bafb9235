import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { component, isSignatureError, type ResponseDescriptor, verifySignature } from 'http-message-sig'

// A third-party library checks HTTP Message Signatures (RFC 9421), so the check shares no code with the service.

type HttpRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** HTTP response with the request that it answers. */
export type HttpExchange = {
  readonly request: HttpRequest
  readonly response: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
}

const OF_REQUEST = ['@method', '@path', '@query'].map((name) => component(name, { req: true }))
/** Components that every response signature must cover, and parameters that it must have. */
const REQUIRED = {
  algorithms: ['ed25519'],
  requiredComponents: ['@status', 'content-digest', 'content-type', ...OF_REQUEST],
  requiredParameters: ['created', 'expires', 'keyid', 'alg', 'tag'],
  maxAge: 300,
}

/**
 * Returns true if a response has one valid Ed25519 signature by `key` that covers `body`. `now` is in milliseconds since 1970.
 */
export async function isSignedBy(
  key: JsonWebKey,
  exchange: HttpExchange,
  body: string,
  now = Date.now(),
): Promise<boolean> {
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
  if (exchange.response.headers['content-digest'] !== digest) return false
  const publicKey = createPublicKey({ key, format: 'jwk' })
  const verifier = {
    algorithm: 'ed25519',
    verify: (data: Uint8Array, signature: Uint8Array) => verify(null, data, publicKey, signature),
  }
  const policy = { ...REQUIRED, now: Math.floor(now / 1000) }
  try {
    await verifySignature(describeExchange(exchange), { policy, resolveVerifier: () => verifier })
    return true
  } catch (error) {
    if (isSignatureError(error)) return false
    throw error
  }
}

/** Converts a response and its request to the format of the signature library. */
export function describeExchange({ request, response }: HttpExchange): ResponseDescriptor {
  const { method, url: targetUri, headers } = request
  return {
    kind: 'response',
    status: response.status,
    fields: fieldsOf(response.headers),
    request: { kind: 'request', method, targetUri, fields: fieldsOf(headers) },
  }
}

function fieldsOf(headers: Readonly<Record<string, string>>) {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}
