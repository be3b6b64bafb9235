import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { jsonReply } from './replies.ts'

/** Minimum length of a body in characters from which it is compressed. */
const MIN_CHARACTERS = 1024
const CODINGS = {
  br: (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (text: string) => gzipSync(text),
}
type Coding = keyof typeof CODINGS
const NAMES = ['br', 'gzip'] as const satisfies readonly Coding[]

type RequestHeaders = Readonly<Record<string, string | undefined>>

type Body = { readonly text: string; tag?: string; readonly compressed: Map<Coding, string> }

/**
 * Returns a builder of unsigned JSON replies. It compresses a body if the caller accepts that. It answers 304 if the
 * caller already has the body. Encoded bodies are cached as long as their value objects exist.
 */
export function createReplyBuilder(encode: (value: unknown) => unknown) {
  const bodies = new WeakMap<object, Body>()
  const bodyOf = (value: object): Body => {
    const body = bodies.get(value) ?? { text: JSON.stringify(encode(value)), compressed: new Map() }
    bodies.set(value, body)
    return body
  }

  return (
    statusCode: number,
    value: unknown,
    headers: Record<string, string>,
    requestHeaders: RequestHeaders,
  ): APIGatewayProxyStructuredResultV2 => {
    if (typeof value !== 'object' || value === null) return jsonReply(statusCode, encode(value), headers)
    const body = bodyOf(value)
    const mayBeKept = headers['cache-control'] !== 'no-store'
    const tag = mayBeKept && tagOf(body)
    const cacheHeaders = {
      ...headers,
      vary: headers['vary'] === undefined ? 'accept-encoding' : `${headers['vary']}, accept-encoding`,
      ...(tag && { etag: tag }),
    }
    if (tag && isNamed(tag, requestHeaders['if-none-match'])) return { statusCode: 304, headers: cacheHeaders }
    const coding = body.text.length < MIN_CHARACTERS ? undefined : preferredCoding(requestHeaders['accept-encoding'])
    const typed = { 'content-type': 'application/json', ...cacheHeaders }
    if (!coding) return { statusCode, headers: typed, body: body.text }
    return {
      statusCode,
      headers: { ...typed, 'content-encoding': coding },
      body: compressed(body, coding),
      isBase64Encoded: true,
    }
  }
}

function compressed({ text, compressed: made }: Body, coding: Coding): string {
  const before = made.get(coding)
  if (before !== undefined) return before
  const base64 = CODINGS[coding](text).toString('base64')
  made.set(coding, base64)
  return base64
}

/** Returns the ETag of a body. It is a weak ETag, because the bytes differ by compression (RFC 9110, 8.8.3). */
function tagOf(body: Body): string {
  body.tag ??= `W/"${createHash('sha256').update(body.text).digest('base64url').slice(0, 22)}"`
  return body.tag
}

/** Returns true if the header If-None-Match contains the ETag `tag` (RFC 9110, 13.1.2). */
function isNamed(tag: string, named = ''): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, '')
  return named.split(',').some((one) => one.trim() === '*' || opaque(one) === opaque(tag))
}

/**
 * Returns the compression that the caller prefers, by Accept-Encoding (RFC 9110, 12.5.3). Returns undefined if the
 * caller prefers none. Brotli wins over gzip if their weights are equal.
 */
function preferredCoding(accepted = ''): Coding | undefined {
  const weights = new Map(accepted.split(',').map(weighted))
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const [best] = NAMES.toSorted((left, right) => weightOf(right) - weightOf(left))
  return best && weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

/** Parses one element of Accept-Encoding: a compression and its weight. The weight is 1 by default, and 0 if it is invalid. */
function weighted(part: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
  const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1'
  return [coding, Number(weight) || 0]
}
