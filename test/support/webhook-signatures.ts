import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** The headers of a delivery that is sent now, as the library of the standard signs it. */
export function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  const sentAt = new Date()
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(sentAt.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
  }
}

/** What a delivery says, by the library of the standard; throws where that does not take its signature. */
export function verifyDelivery(
  { headers, body }: { readonly headers: IncomingHttpHeaders; readonly body: string },
  secret: string,
): unknown {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return new Webhook(secret).verify(body, texts)
}
