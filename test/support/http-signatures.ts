import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'

// HTTP Message Signatures by the text of RFC 9421, with whatever components, order and parameters: it knows no form of
// ours, and shares nothing with the code under test.

/** A request, with its field names in lower case. */
type HttpRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A response, and the request that it answers. */
export type HttpExchange = {
  readonly request: HttpRequest
  readonly response: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
}

type Parameters = ReadonlyMap<string, string | number | boolean>
type Component = { readonly name: string; readonly parameters: Parameters }
/** One member of Signature-Input: what it covers, its parameters, and its own text. */
export type SignatureInput = {
  readonly components: readonly Component[]
  readonly parameters: Parameters
  readonly text: string
}

/** The members of a `Signature-Input` field by their labels (RFC 8941, dictionaries of inner lists). Throws when it is none. */
export function parseSignatureInput(field: string): ReadonlyMap<string, SignatureInput> {
  const members = new Map<string, SignatureInput>()
  let rest = field.trim()
  while (rest !== '') {
    const [head, label = ''] = take(rest, /^([a-z*][a-z0-9_.*-]*)=/)
    rest = rest.slice(head.length)
    const start = rest
    const components: Component[] = []
    rest = rest.slice(take(rest, /^\( */)[0].length)
    while (!rest.startsWith(')')) {
      const [item, name = ''] = take(rest, /^"([\x20-\x21\x23-\x5b\x5d-\x7e]*)"/)
      const [text, parameters] = parseParameters(rest.slice(item.length))
      components.push({ name, parameters })
      rest = rest.slice(item.length + text.length)
      rest = rest.slice(take(rest, /^(?: +|(?=\)))/)[0].length)
    }
    const [text, parameters] = parseParameters(rest.slice(1))
    rest = rest.slice(1 + text.length)
    members.set(label, { components, parameters, text: start.slice(0, start.length - rest.length) })
    if (rest !== '') rest = rest.slice(take(rest, /^[ \t]*,[ \t]*(?=.)/)[0].length)
  }
  return members
}

function parseParameters(text: string): [text: string, parameters: Parameters] {
  const parameters = new Map<string, string | number | boolean>()
  let rest = text
  for (;;) {
    const [found, name = '', quoted, number] =
      /^; *([a-z*][a-z0-9_.*-]*)(?:="((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"|=(-?\d{1,15})|(?![=]))/.exec(rest) ??
      []
    if (found === undefined) return [text.slice(0, text.length - rest.length), parameters]
    parameters.set(name, quoted ?? (number === undefined ? true : Number(number)))
    rest = rest.slice(found.length)
  }
}

function take(text: string, form: RegExp): RegExpExecArray {
  const found = form.exec(text)
  if (!found) throw new Error(`Not a structured field at: ${text}`)
  return found
}

/** The signature base of a response (RFC 9421, 2.5). Throws for a component that it does not know, or that is not there. */
export function signatureBase({ request, response }: HttpExchange, { components, text }: SignatureInput): string {
  const identifiers = components.map(({ name, parameters }) =>
    [`"${name}"`, ...[...parameters].map(([key, value]) => (value === true ? key : `${key}=${value}`))].join(';'),
  )
  if (new Set(identifiers).size < identifiers.length) throw new Error('A component is covered twice.')
  const lines = components.map(({ name, parameters }, index) => {
    const isOfRequest = parameters.get('req') === true
    const value = name.startsWith('@')
      ? derived(name, isOfRequest, request, response.status)
      : (isOfRequest ? request : response).headers[name]
    if (value === undefined) throw new Error(`There is no ${identifiers[index]}.`)
    return `${identifiers[index]}: ${value.trim()}`
  })
  return [...lines, `"@signature-params": ${text}`].join('\n')
}

/** A derived component (RFC 9421, 2.2). Those of a request are in a response's signature as `req` alone. */
function derived(name: string, isOfRequest: boolean, { method, url }: HttpRequest, status: number): string | undefined {
  if (name === '@status') return isOfRequest ? undefined : String(status)
  if (!isOfRequest) return undefined
  const { host, pathname, search } = new URL(url)
  switch (name) {
    case '@method':
      return method
    case '@authority':
      return host
    case '@path':
      return pathname
    case '@query':
      return search === '' ? '?' : search
    default:
      return undefined
  }
}

/** Whether the one signature of a response is by this Ed25519 key, and its body the one that was signed, if that is covered. */
export function isSignedBy(key: JsonWebKey, exchange: HttpExchange, body: string): boolean {
  const { headers } = exchange.response
  const [[label, input] = [], ...more] = parseSignatureInput(headers['signature-input'] ?? '')
  const signature = new RegExp(`^${label}=:([A-Za-z0-9+/=]+):$`).exec(headers['signature'] ?? '')?.[1]
  if (!input || more.length > 0 || signature === undefined) return false
  const isCovered = input.components.some(({ name, parameters }) => name === 'content-digest' && parameters.size === 0)
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
  if (isCovered && headers['content-digest'] !== digest) return false
  const base = Buffer.from(signatureBase(exchange, input))
  return verify(null, base, createPublicKey({ key, format: 'jwk' }), Buffer.from(signature, 'base64'))
}
