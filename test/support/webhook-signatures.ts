import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** Returns the headers of a webhook delivery that is sent now. The Standard Webhooks library signs the delivery. */
export function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  const sentAt = new Date()
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(sentAt.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
  }
}

/**
 * Verifies a webhook delivery with the Standard Webhooks library. Returns the parsed body, or throws if the signature is
 * invalid.
 */
export function verifyDelivery(
  { headers, body }: { readonly headers: IncomingHttpHeaders; readonly body: string },
  secret: string,
): unknown {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return new Webhook(secret).verify(body, texts)
}
