import { sha256 } from '../sha256.ts'

/**
 * The id of a client's event, by the key of its notice. Nobody can tell from it which events other clients have.
 * `webhook-id` and the log have it.
 */
export function buildEventId(clientId: string, key: string): string {
  return `evt_${sha256(`${clientId} ${key}`).slice(0, 32)}`
}

/** The id of a client's webhook at this URL: the same whenever it is registered, and for one client alone. */
export function buildWebhookId(clientId: string, url: string): string {
  return `wh_${sha256(`${clientId} ${url}`).slice(0, 24)}`
}
