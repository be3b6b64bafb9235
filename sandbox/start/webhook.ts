import type { Admin } from '../../admin/admin.ts'
import { issueKey } from '../../admin/operations/clients.ts'
import { exchange } from '../exchange.ts'
import type { Receiver } from '../receiver.ts'

/** The webhook of the demo wallet's client, as the state file has it. */
export type LocalWebhook = {
  readonly id: string
  /** Where deliveries are sent to. */
  readonly url: string
  readonly secret: string
  /** A key of the client's with the scopes `webhooks` and `vaults`, which belongs on a server. */
  readonly apiKey: string
  /** What has arrived. */
  readonly receivedUrl: string
}

/**
 * Registers the receiver as an integrator does, by the API with a key for it, for all events before and after they are final,
 * and has it trust what is signed with the webhook's secret.
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
  const { status, text } = await exchange(`${baseUrl}/webhooks`, {
    headers: { 'x-join-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, finality: 'latest' }),
  })
  if (status !== 201) throw new Error(`The webhook was not registered: ${status} ${text}`)
  const { id, secret } = JSON.parse(text)
  receiver.trust(secret)
  return { id, url: receiver.url, secret, apiKey, receivedUrl }
}
