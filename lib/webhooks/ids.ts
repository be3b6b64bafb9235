import { sha256 } from '../core/sha256.ts'

/** Builds the id of a client's event, also its `webhook-id`. The id does not reveal the events of other clients. */
export function buildEventId(clientId: string, key: string): string {
  return `evt_${sha256(`${clientId} ${key}`).slice(0, 32)}`
}

/** Builds the id of a client's webhook: the same at each registration of the URL, different for each client. */
export function buildWebhookId(clientId: string, url: string): string {
  return `wh_${sha256(`${clientId} ${url}`).slice(0, 24)}`
}
