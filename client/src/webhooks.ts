import type { WebhookEvent, WebhookTestEvent } from './api.ts'

/** Delivery of a webhook: a web `Request`, or the headers and the raw body that a server received. */
export type Delivery =
  | Pick<Request, 'headers' | 'arrayBuffer'>
  | {
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
      readonly body: string | Uint8Array
    }

/** Event of a type that this version of the client does not know. Respond with 2xx to such an event too, or the service sends it again. */
export type UnknownEvent = {
  readonly id: string
  readonly type: UnknownType
  readonly timestamp: string
  readonly sequence: number
  readonly final: boolean
  readonly data: Readonly<Record<string, unknown>>
}

/** Text that equals no known event type, so a comparison with a known type narrows an event to that type. */
export type UnknownType = `${string}.${string}` & { readonly [UNKNOWN]: true }
declare const UNKNOWN: unique symbol

/**
 * Reason why a delivery is refused. `bad_secret`: one of the receiver's own secrets is malformed. `bad_timestamp`: the delivery's time
 * differs from this clock by more than five minutes.
 */
export type VerificationReason = 'bad_secret' | 'missing_header' | 'bad_timestamp' | 'bad_signature' | 'bad_body'

/** Error for a webhook delivery that was signed with none of the secrets, or that cannot be verified. */
export class WebhookVerificationError extends Error {
  readonly reason: VerificationReason
  constructor(reason: VerificationReason, message: string) {
    super(`${reason}: ${message}`)
    this.name = 'WebhookVerificationError'
    this.reason = reason
  }
}

const TOLERANCE_SECONDS = 300

/** Maximum number of signatures to check. The service sends at most two; checking many more would only cost time. */
const MAX_SIGNATURES = 10

/** Limits of a secret key's length in bytes, by the Standard Webhooks specification. */
const [MIN_KEY_BYTES, MAX_KEY_BYTES] = [24, 64]

/** Signature: a version tag, then 32 bytes in base64. */
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/

/**
 * Verifies a webhook delivery by the Standard Webhooks specification and returns its event. With several secrets, a signature by any of
 * them is enough. Pass the body as it arrived, not parsed and written again. Throws a WebhookVerificationError.
 */
export async function unwrap(
  secrets: string | readonly string[],
  delivery: Delivery,
): Promise<WebhookEvent | WebhookTestEvent | UnknownEvent> {
  const keys = await Promise.all([secrets].flat().map(importKey))
  if (keys.length === 0) throw new WebhookVerificationError('bad_secret', 'There is no secret.')
  const id = readHeader(delivery, 'webhook-id')
  const timestamp = readHeader(delivery, 'webhook-timestamp')
  const signatures = readHeader(delivery, 'webhook-signature')
    .split(' ')
    .flatMap((text) => SIGNATURE.exec(text)?.[1] ?? [])
    .slice(0, MAX_SIGNATURES)
  const now = Math.floor(Date.now() / 1000)
  if (!/^\d{1,11}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError('bad_timestamp', 'webhook-timestamp is not within five minutes of this clock.')
  }
  const body = await readBody(delivery)
  const signed = await new Blob([`${id}.${timestamp}.`, body]).arrayBuffer()
  for (const signature of signatures.map(decodeBase64)) {
    for (const key of keys) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return parseEvent(body)
    }
  }
  throw new WebhookVerificationError('bad_signature', 'No signature is by a given secret over this body.')
}

async function importKey(secret: string) {
  const bytes = decodeBase64(/^whsec_(.*)$/.exec(secret.trim())?.[1] ?? '')
  if (bytes.length < MIN_KEY_BYTES || bytes.length > MAX_KEY_BYTES) {
    throw new WebhookVerificationError('bad_secret', 'A secret is whsec_ and 24 to 64 bytes in base64.')
  }
  return await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

/** Reads a header, whatever the case of its name. Several values are joined as the class `Headers` does. */
function readHeader({ headers }: Delivery, name: string): string {
  // `instanceof Headers` is not used, because a platform may have another class of this name.
  const values =
    typeof headers.get === 'function'
      ? [headers.get(name)]
      : Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []))
  const text = values.filter((value) => typeof value === 'string').join(', ')
  if (text) return text
  throw new WebhookVerificationError('missing_header', `There is no ${name}.`)
}

async function readBody(delivery: Delivery): Promise<Uint8Array<ArrayBuffer>> {
  if (!('arrayBuffer' in delivery)) {
    const { body } = delivery
    return typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  }
  try {
    return new Uint8Array(await delivery.arrayBuffer())
  } catch (error) {
    throw new WebhookVerificationError('bad_body', `The body cannot be read: ${String(error)}`)
  }
}

function parseEvent(body: Uint8Array<ArrayBuffer>): WebhookEvent | WebhookTestEvent | UnknownEvent {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (typeof event.id === 'string' && typeof event.type === 'string') return event
  } catch {
    // The body is no JSON object, so the error below is thrown.
  }
  throw new WebhookVerificationError('bad_body', 'The signed body is no event.')
}
