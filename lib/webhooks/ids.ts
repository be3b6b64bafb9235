import { createHash } from 'node:crypto'

/**
 * The id of a client's event, by the key of its notice. Nobody can tell from it which events other clients have.
 * `webhook-id` and the log have it.
 */
export function buildEventId(clientId: string, key: string): string {
  return `evt_${hash(clientId, key).slice(0, 32)}`
}

/** The id of a client's webhook at this URL: the same whenever it is registered, and for one client alone. */
export function buildWebhookId(clientId: string, url: string): string {
  return `wh_${hash(clientId, url).slice(0, 24)}`
}

function hash(clientId: string, text: string): string {
  return createHash('sha256').update(`${clientId} ${text}`).digest('hex')
}
