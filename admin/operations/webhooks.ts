import type { NewWebhook, WebhookResponse } from '../../lib/webhooks/responses.ts'
import { type Admin, AdminError } from '../admin.ts'
import type { GivenUpEvent, ResumeCounts } from '../webhooks.ts'
import { getClient } from './clients.ts'

/** Registers a webhook of a client. Returns the webhook with its secret, which is not stored. */
export async function addWebhook(admin: Admin, clientId: string, webhook: NewWebhook) {
  await getClient(admin, clientId)
  return await admin.webhooks.add(clientId, webhook)
}

/** Removes a webhook of a client. Throws an AdminError if there is no such webhook. */
export async function removeWebhook(admin: Admin, clientId: string, id: string): Promise<void> {
  if (await admin.webhooks.remove(clientId, id)) return
  throw new AdminError(`Client ${clientId} has no webhook ${id}. See list-webhooks.`)
}

/** Lists the webhooks of one client, or of all clients. */
export async function listWebhooks(
  admin: Admin,
  clientId: string | undefined,
): Promise<(WebhookResponse & { clientId: string })[]> {
  const webhooks: (WebhookResponse & { clientId: string })[] = []
  for (const id of await listClientIds(admin, clientId)) {
    webhooks.push(...(await admin.webhooks.list(id)).map((webhook) => ({ clientId: id, ...webhook })))
  }
  return webhooks
}

/** Lists the events that webhooks of one client, or of all clients, did not accept in ten attempts. */
export async function listGivenUpEvents(admin: Admin, clientId: string | undefined): Promise<GivenUpEvent[]> {
  const events: GivenUpEvent[] = []
  for (const id of await listClientIds(admin, clientId)) events.push(...(await admin.webhooks.listGivenUp(id)))
  return events
}

/** Sends undelivered events now, to the webhooks of one client or of all clients. Skips and counts disabled webhooks. */
export async function resumeWebhooks(admin: Admin, clientId: string | undefined): Promise<ResumeCounts> {
  const sum = { resumed: 0, disabled: 0 }
  for (const id of await listClientIds(admin, clientId)) {
    const { resumed, disabled } = await admin.webhooks.resume(id)
    sum.resumed += resumed
    sum.disabled += disabled
  }
  return sum
}

/**
 * Deletes the given-up events (not accepted in ten attempts) of one client, of one webhook, or of all clients. Returns the number of
 * events. Throws an AdminError without the operator's confirmation, or while the service sends events to one of the webhooks.
 */
export async function dropGivenUpEvents(
  admin: Admin,
  { clientId, webhookId }: { clientId: string | undefined; webhookId: string | undefined },
  { isConfirmed }: { isConfirmed: boolean },
): Promise<number> {
  const isMeant = (id: string) => webhookId === undefined || id === webhookId
  if (webhookId !== undefined && !(await listWebhooks(admin, clientId)).some(({ id }) => isMeant(id))) {
    throw new AdminError(`There is no webhook ${webhookId}. See list-webhooks.`)
  }
  const events = (await listGivenUpEvents(admin, clientId)).filter((event) => isMeant(event.webhookId))
  const webhooks = [...new Map(events.map((event) => [`${event.clientId} ${event.webhookId}`, event])).values()]
  if (!isConfirmed) {
    throw new AdminError(
      `Events that would never be sent again: ${events.length}, of webhooks: ${webhooks.length}. Add --yes to do it.`,
    )
  }
  for (const { clientId, webhookId } of webhooks) {
    if (await admin.webhooks.dropGivenUp({ clientId, webhookId })) continue
    throw new AdminError(`The service is sending to webhook ${webhookId} of client ${clientId}. Try again in a minute.`)
  }
  return events.length
}

async function listClientIds(admin: Admin, clientId: string | undefined): Promise<string[]> {
  if (clientId !== undefined) return [(await getClient(admin, clientId)).client.clientId]
  return (await admin.clients.list()).map((client) => client.clientId)
}
