import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { addElements, all, any, type Condition, exists, is, missing, remove, set, sizeIs } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { AppError } from '../core/errors.ts'
import { MAX_WEBHOOKS, Webhook, type WebhookKey } from './webhook.ts'

const TRIES = 10

const LatestItem = z.object({ clients: z.set(z.string()) })
const Item = z.object({ webhooks: z.record(z.string(), Webhook) })

/**
 * Store of the clients' webhooks, one item per client. Reads are consistent. Methods throw if the table cannot be reached or an item does
 * not parse.
 */
export function webhooksStore(table: Table) {
  const reserveTests = (clientId: string, until: number, when: Condition) =>
    table.update(testKey(clientId), { changes: [set('testingUntil', until)], when })

  const list = async (clientId: string): Promise<Webhook[]> => {
    return sorted(await table.get(Item, webhooksKey(clientId)))
  }

  const find = async ({ clientId, webhookId }: WebhookKey): Promise<Webhook | undefined> =>
    (await list(clientId)).find(({ id }) => id === webhookId)

  /** Replaces a webhook and returns it as written; undefined if another request has changed the webhook since it was read. */
  async function replace(clientId: string, before: Webhook, changed: Webhook): Promise<Webhook | undefined> {
    const webhook = { ...changed, version: randomUUID() }
    const isReplaced = await table.update(webhooksKey(clientId), {
      changes: [set(['webhooks', before.id], Webhook.encode(webhook))],
      when: is(['webhooks', before.id, 'version'], '=', before.version),
    })
    return isReplaced ? webhook : undefined
  }

  return {
    /** Lists a client's webhooks, oldest first. */
    list,

    /** Lists the webhooks of these clients, by client id. */
    async listOf(clientIds: readonly string[]): Promise<Map<string, Webhook[]>> {
      const items = await table.getMany(Item, clientIds.map(webhooksKey))
      return new Map(clientIds.map((clientId, index) => [clientId, sorted(items[index])]))
    },

    /** Lists the clients that have ever registered a webhook for events that are not final yet. */
    listLatestClients: async (): Promise<ReadonlySet<string>> =>
      (await table.get(LatestItem, LATEST_KEY))?.clients ?? new Set(),

    /** Adds a webhook. Returns false if the client already has one with its id, or the maximum number. */
    async add(clientId: string, webhook: Webhook): Promise<boolean> {
      // The client is added to the list of `latest` clients before its webhook, so that no such client is missing. Clients are never
      // removed from the list, because another webhook may be added meanwhile.
      if (webhook.finality === 'latest') await table.write(LATEST_KEY, [addElements('clients', clientId)])
      const key = webhooksKey(clientId)
      if (await table.add(Item, key, { webhooks: { [webhook.id]: webhook } })) return true
      return table.update(key, {
        changes: [set(['webhooks', webhook.id], Webhook.encode(webhook))],
        when: all(missing(['webhooks', webhook.id]), sizeIs('webhooks', '<', MAX_WEBHOOKS)),
      })
    },

    /** Removes a client's webhook and its delivery attempts; returns false if no webhook has this id. */
    async remove(clientId: string, id: string): Promise<boolean> {
      const isRemoved = await table.update(webhooksKey(clientId), {
        changes: [remove(['webhooks', id])],
        when: exists(['webhooks', id]),
      })
      if (isRemoved) await table.delete(attemptsKey({ clientId, webhookId: id }))
      return isRemoved
    },

    get: find,
    replace,

    /**
     * Replaces a webhook by the result of `to`, which gets the stored webhook. `read` is the stored webhook if the
     * caller has just read it. Calls `to` again if another request changes the webhook meanwhile. Returns the new
     * webhook; undefined if no webhook has this key. Throws `service_unavailable` if other requests keep changing it.
     */
    async change(key: WebhookKey, to: (webhook: Webhook) => Webhook, read?: Webhook): Promise<Webhook | undefined> {
      let before = read ?? (await find(key))
      for (let tries = 0; tries < TRIES && before; tries += 1) {
        const changed = to(before)
        if (changed === before) return before
        const replaced = await replace(key.clientId, before, changed)
        if (replaced) return replaced
        before = await find(key)
      }
      if (before) throw new AppError('service_unavailable')
      return undefined
    },

    /**
     * Reserves a client's test deliveries until a time in epoch milliseconds; returns false while another call has
     * reserved them. `endTest` changes the end of the caller's own reservation.
     */
    beginTest(clientId: string, { now, until }: { readonly now: number; readonly until: number }) {
      return reserveTests(clientId, until, any(missing('testingUntil'), is('testingUntil', '<=', now)))
    },
    async endTest(clientId: string, { begun, until }: { readonly begun: number; readonly until: number }) {
      await reserveTests(clientId, until, is('testingUntil', '=', begun))
    },
  }
}
export type WebhooksStore = ReturnType<typeof webhooksStore>

/** Key of the item that lists clients with webhooks for events that are not final. The item has room for 25,000 clients (400 KB). */
const LATEST_KEY = { pk: 'LATEST', sk: 'CLIENTS' }

/** Returns the partition key of a client's webhooks and events. */
export function clientPartition(clientId: string): string {
  return `CLIENT#${clientId}`
}

/** Returns the key of the item with a webhook's delivery attempts. */
export function attemptsKey({ clientId, webhookId }: WebhookKey) {
  return { pk: clientPartition(clientId), sk: `ATTEMPTS#${webhookId}` }
}

function testKey(clientId: string) {
  return { pk: clientPartition(clientId), sk: 'TEST' }
}

function webhooksKey(clientId: string) {
  return { pk: clientPartition(clientId), sk: 'WEBHOOKS' }
}

function sorted(item: z.output<typeof Item> | undefined): Webhook[] {
  return Object.values(item?.webhooks ?? {}).sort((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
}
