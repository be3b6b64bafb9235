import { Refusal } from './refusal.ts'

/** Public Ed25519 key as a JWK, in the form of `GET /.well-known/jwks.json`. The operator's command prints keys in the same form. */
export type PublicKey = { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string; readonly kid: string }

/** Request as sent, and response as received. */
export type Exchange = {
  readonly request: { readonly method: string; readonly url: string; readonly body?: string | undefined }
  readonly answer: {
    readonly status: number
    readonly headers: Headers | Readonly<Record<string, string>>
    readonly body: string | Uint8Array<ArrayBuffer>
  }
}

/** Times between which a signature is valid, and the id of the key that made it. */
export type SignatureDetails = { readonly signedAt: Date; readonly expiresAt: Date; readonly keyId: string }

/** Tolerated error of the caller's clock when the times of a signature are checked. */
const CLOCK_TOLERANCE_MS = 120_000

/** Only accepted form of the header Signature-Input (RFC 9421). Any other form is refused, so no parser is needed. */
const FORM =
  /^sig=(\("@status" "content-digest" "content-type" "@method";req "@path";req "@query";req( "content-digest";req)?\);created=(\d{1,11});expires=(\d{1,11});keyid="([\w-]{43})";alg="ed25519";tag="vaultline")$/

/** Signature header with 64 bytes in base64. The last character carries only two bits, so each signature has exactly one text. */
const SIGNATURE = /^sig=:([A-Za-z0-9+/]{85}[AQgw]==):$/

/**
 * Verifies that one of these keys signed this response, with this body, for exactly this request. Checks that the signature is valid at
 * `now`; null skips this check for a saved response. Throws a Refusal if a check fails.
 */
export async function verifySignature(
  { request, answer }: Exchange,
  keys: readonly PublicKey[],
  now: Date | null,
): Promise<SignatureDetails> {
  const headers = new Headers(answer.headers)
  const read = (name: string) => headers.get(name) ?? ''
  const [, parameters = '', coversBody, created, expires, keyId = ''] = FORM.exec(read('signature-input')) ?? []
  const [, signature] = SIGNATURE.exec(read('signature')) ?? []
  if (signature === undefined || parameters === '')
    throw new Refusal('unsigned', 'The answer is not signed as required.')
  if (request.body !== undefined && coversBody === undefined) {
    throw new Refusal(
      'request_not_covered',
      'The signature does not cover the request: send Content-Digest along with it.',
    )
  }
  const key = keys.find(({ kid }) => kid === keyId)
  if (!key) throw new Refusal('unknown_key', `The key ${keyId} is not trusted.`)
  const [signedAt, expiresAt] = [created, expires].map((seconds) => new Date(Number(seconds) * 1000)) as [Date, Date]
  const isEarly = now !== null && signedAt.getTime() > now.getTime() + CLOCK_TOLERANCE_MS
  const isLate = now !== null && expiresAt.getTime() < now.getTime() - CLOCK_TOLERANCE_MS
  if (isEarly || isLate) {
    const time = `from ${signedAt.toISOString()} to ${expiresAt.toISOString()}`
    throw new Refusal('not_in_time', `The answer is good ${time}. Check the date and time of your device.`)
  }

  const digest = read('content-digest')
  if (digest !== (await contentDigest(answer.body))) {
    throw new Refusal('body_changed', 'The body is not the one that was signed.')
  }
  const { pathname, search } = new URL(request.url)
  const base = [
    `"@status": ${answer.status}`,
    `"content-digest": ${digest}`,
    `"content-type": ${read('content-type')}`,
    `"@method";req: ${request.method}`,
    `"@path";req: ${pathname}`,
    `"@query";req: ${search || '?'}`,
    ...(coversBody === undefined ? [] : [`"content-digest";req: ${await contentDigest(request.body ?? '')}`]),
    `"@signature-params": ${parameters}`,
  ].join('\n')
  const jwk = { kty: key.kty, crv: key.crv, x: key.x }
  const imported = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify'])
  const bytes = Uint8Array.from(atob(signature), (character) => character.charCodeAt(0))
  if (!(await crypto.subtle.verify('Ed25519', imported, bytes, new TextEncoder().encode(base)))) {
    throw new Refusal('wrong_signature', 'The signature does not fit this answer to this request.')
  }
  return { signedAt, expiresAt, keyId }
}

/**
 * Returns the `Content-Digest` of a body (RFC 9530). A request that has this header gets a response whose signature covers the request's
 * body.
 */
export async function contentDigest(body: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha-256=:${btoa(String.fromCharCode(...hash))}:`
}
