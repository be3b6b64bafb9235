import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { jsonReply } from './replies.ts'

/** A smaller body is not worth it. */
const LEAST_CHARACTERS = 1024
/** How we compress, by what callers call it, the preferred one first. */
const CODINGS = {
  br: (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (text: string) => gzipSync(text),
}
type Coding = keyof typeof CODINGS
/** In their order, which is that of CODINGS. */
const NAMES = ['br', 'gzip'] as const satisfies readonly Coding[]

/** A header of a request, by its name in lower case. */
type Asked = Readonly<Record<string, string | undefined>>

/** A body with its tag, and what it is compressed to, in base64: each made when it is first asked for. */
type Body = { readonly text: string; tag?: string; readonly compressed: Map<Coding, string> }

/**
 * Makes the replies of answers that nobody signs, encoded as JSON: compressed where a caller takes that, and without a body
 * where it has the same answer. The work for an answer is done once, for as long as somebody holds the object that it is.
 */
export function openReplies(encode: (value: unknown) => unknown) {
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
    asked: Asked,
  ): APIGatewayProxyStructuredResultV2 => {
    if (typeof value !== 'object' || value === null) return jsonReply(statusCode, encode(value), headers)
    const body = bodyOf(value)
    const mayBeKept = headers['cache-control'] !== 'no-store'
    const tag = mayBeKept && tagOf(body)
    const told = {
      ...headers,
      vary: headers['vary'] === undefined ? 'accept-encoding' : `${headers['vary']}, accept-encoding`,
      ...(tag && { etag: tag }),
    }
    if (tag && isNamed(tag, asked['if-none-match'])) return { statusCode: 304, headers: told }
    const coding = body.text.length < LEAST_CHARACTERS ? undefined : preferredCoding(asked['accept-encoding'])
    const typed = { 'content-type': 'application/json', ...told }
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

/** Weak, for the bytes that leave differ by their coding (RFC 9110, 8.8.3). */
function tagOf(body: Body): string {
  body.tag ??= `W/"${createHash('sha256').update(body.text).digest('base64url').slice(0, 22)}"`
  return body.tag
}

/** Whether If-None-Match names an answer (RFC 9110, 13.1.2). */
function isNamed(tag: string, named = ''): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, '')
  return named.split(',').some((one) => one.trim() === '*' || opaque(one) === opaque(tag))
}

/** The coding that a caller would rather have than none (RFC 9110, 12.5.3): of those that it weighs the same the first of ours. */
function preferredCoding(accepted = ''): Coding | undefined {
  const weights = new Map(accepted.split(',').map(weighted))
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const [best] = NAMES.toSorted((left, right) => weightOf(right) - weightOf(left))
  return best && weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

/** A coding and its weight, 1 where none is told; one that is no number is none. */
function weighted(part: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
  const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1'
  return [coding, Number(weight) || 0]
}
