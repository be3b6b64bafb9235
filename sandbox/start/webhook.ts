import type { Admin } from '../../admin/admin.ts'
import { issueKey } from '../../admin/operations/clients.ts'
import { sendHttpRequest } from '../exchange.ts'
import type { Receiver } from '../receiver.ts'

/** Webhook of the demo wallet's API client, as stored in .local/state.json. */
export type LocalWebhook = {
  readonly id: string
  readonly url: string
  readonly secret: string
  /** API key for a server, with the scopes `webhooks` and `vaults`. */
  readonly apiKey: string
  readonly receivedUrl: string
}

/**
 * Registers the local webhook receiver through the API, as an integrator does. The receiver gets events before and after they are final,
 * and verifies them with the webhook's secret. Throws if the API refuses.
 */
export async function registerReceiver(
  admin: Admin,
  receiver: Receiver,
  { clientId, baseUrl, receivedUrl }: { clientId: string; baseUrl: string; receivedUrl: string },
): Promise<LocalWebhook> {
  const { text: apiKey } = await issueKey(admin, {
    clientId,
    name: 'server',
    limits: { scopes: ['webhooks', 'vaults'] },
  })
  const { status, text } = await sendHttpRequest(`${baseUrl}/webhooks`, {
    headers: { 'x-join-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, finality: 'latest' }),
  })
  if (status !== 201) throw new Error(`The webhook was not registered: ${status} ${text}`)
  const { id, secret } = JSON.parse(text)
  receiver.trust(secret)
  return { id, url: receiver.url, secret, apiKey, receivedUrl }
}
