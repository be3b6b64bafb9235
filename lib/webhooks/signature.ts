import { createHmac } from 'node:crypto'

type Delivery = {
  readonly id: string
  /** Time of sending in epoch milliseconds. */
  readonly now: number
  readonly body: string
}

/** Builds the headers of a delivery (Standard Webhooks 1.0.0), with a signature by each secret (`whsec_` and base64). */
export function buildSignatureHeaders({ id, now, body }: Delivery, secrets: readonly string[]): Record<string, string> {
  const timestamp = Math.floor(now / 1000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}

const PREFIX = 'whsec_'
