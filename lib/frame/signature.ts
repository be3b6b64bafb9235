import { createHash, sign } from 'node:crypto'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { AppError } from '../core/errors.ts'
import type { Signer } from '../signing/keys.ts'

const VALIDITY_SECONDS = 300
/** Paths that API Gateway forwards unchanged. It decodes all other paths, and cuts them at a decoded `?`. */
const UNCHANGED_PATH = /^[A-Za-z0-9/._~-]*$/

type SignedRequest = Pick<APIGatewayProxyEventV2, 'rawPath' | 'rawQueryString' | 'requestContext' | 'headers'>

type Answer = { readonly status: number; readonly contentType: string; readonly body: string }

/** Returns the value of a Content-Digest header for these bytes (RFC 9530). */
export function contentDigest(bytes: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
}

/** Throws `invalid_content_digest` if the header Content-Digest of a request does not match its body. */
export function verifyContentDigest({
  headers,
  body = '',
  isBase64Encoded,
}: Pick<APIGatewayProxyEventV2, 'headers' | 'body' | 'isBase64Encoded'>): void {
  const claimed = headers['content-digest']
  if (claimed === undefined) return
  const actual = contentDigest(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'))
  if (claimed !== actual) throw new AppError('invalid_content_digest')
}

/**
 * Throws `invalid_path` if API Gateway may have changed the requested path. The caller could not verify a signature
 * over a changed path.
 */
export function requireSignablePath({ rawPath }: Pick<SignedRequest, 'rawPath'>): void {
  if (!UNCHANGED_PATH.test(rawPath)) throw new AppError('invalid_path')
}

/** Returns the headers that sign a response (RFC 9421), as described in docs/guides/verify-answers.md. */
export function signatureHeaders(
  { rawPath, rawQueryString, requestContext: { http }, headers }: SignedRequest,
  { status, contentType, body }: Answer,
  { keyId, key }: Signer,
  /** Time of signing in epoch milliseconds. */
  now: number,
): Record<'content-digest' | 'signature-input' | 'signature', string> {
  const digest = contentDigest(Buffer.from(body))
  const digestOfRequest = headers['content-digest']
  const covered: readonly (readonly [component: string, value: string | number])[] = [
    ['"@status"', status],
    ['"content-digest"', digest],
    ['"content-type"', contentType],
    ['"@method";req', http.method],
    ['"@path";req', rawPath],
    ['"@query";req', `?${rawQueryString}`],
    ...(digestOfRequest === undefined ? [] : [['"content-digest";req', digestOfRequest] as const]),
  ]
  const created = Math.floor(now / 1000)
  const components = covered.map(([component]) => component).join(' ')
  const parameters = `(${components});created=${created};expires=${created + VALIDITY_SECONDS};keyid="${keyId}";alg="ed25519";tag="vaultline"`
  const lines = [...covered, ['"@signature-params"', parameters]].map(([name, value]) => `${name}: ${value}`)
  const signature = sign(null, Buffer.from(lines.join('\n')), key).toString('base64')
  return { 'content-digest': digest, 'signature-input': `sig=${parameters}`, signature: `sig=:${signature}:` }
}
