import type { WebhooksStore } from './store.ts'

/**
 * Returns the clients that want events before they are final. Calls `listClientIds` only if any client of the service
 * has ever registered such a webhook.
 */
export async function findLatestEventClients(
  { webhooks }: { readonly webhooks: Pick<WebhooksStore, 'listLatestClients' | 'listOf'> },
  listClientIds: () => Promise<readonly string[]>,
): Promise<ReadonlySet<string>> {
  const candidates = await webhooks.listLatestClients()
  if (candidates.size === 0) return new Set()
  const wanting = new Set(await listClientIds()).intersection(candidates)
  const registered = await webhooks.listOf([...wanting])
  const wantsLatest = (id: string) => registered.get(id)?.some(({ finality }) => finality === 'latest') === true
  return new Set([...wanting].filter(wantsLatest))
}
