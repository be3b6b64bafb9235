import { sha256 } from '../core/sha256.ts'

/**
 * Builds the id of a client's event, which is also the header `webhook-id`. The id differs for each client, so it
 * reveals nothing about other clients' events.
 */
export function buildEventId(clientId: string, key: string): string {
  return `evt_${sha256(`${clientId} ${key}`).slice(0, 32)}`
}

/** Builds the id of a client's webhook. The id is the same at each registration of the URL, and different for each client. */
export function buildWebhookId(clientId: string, url: string): string {
  return `wh_${sha256(`${clientId} ${url}`).slice(0, 24)}`
}
