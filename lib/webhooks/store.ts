import * as z from 'zod'
import { add, all, any, type Condition, exists, is, missing, remove, set, sizeIs } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { Timestamp } from '../codecs.ts'
import { type DisabledReason, MOST_WEBHOOKS, SecretVersions, Webhook, type WebhookKey } from './webhook.ts'

const LatestItem = z.object({ clients: z.set(z.string()) })
const Item = z.object({ webhooks: z.record(z.string(), Webhook) })
const StoredItem = Item.extend({ pk: z.string() })

/**
 * The webhooks of clients: one item a client, with all of its webhooks. What is read is read consistently. Every method
 * throws when the table cannot be reached or an item does not parse.
 */
export function webhooksStore(table: Table) {
  const reserveTests = (clientId: string, until: number, when: Condition) =>
    table.update(testKey(clientId), { changes: [set('testingUntil', until)], when })

  return {
    /** A client's webhooks, oldest first. */
    async list(clientId: string): Promise<Webhook[]> {
      const item = await table.get(Item, webhooksKey(clientId))
      return item ? sorted(item) : []
    },

    /** The webhooks of each of these clients that has any, by client. */
    async listOf(clientIds: readonly string[]): Promise<Map<string, Webhook[]>> {
      const items = await table.getMany(StoredItem, clientIds.map(webhooksKey))
      return new Map(items.map((item) => [item.pk.slice(CLIENT.length), sorted(item)]))
    },

    /** Clients that may want events that are not final: all that have ever registered a webhook for them. */
    listLatestClients: async (): Promise<ReadonlySet<string>> =>
      (await table.get(LatestItem, LATEST_KEY))?.clients ?? new Set(),

    /** Adds a webhook; false where the client has one with its id, or as many as there can be. */
    async add(clientId: string, webhook: Webhook): Promise<boolean> {
      // Before it is there, so that no client with one is missing, and never taken back, as another may be added meanwhile.
      if (webhook.finality === 'latest') await table.write(LATEST_KEY, [add('clients', clientId)])
      const key = webhooksKey(clientId)
      if (await table.add(Item, key, { webhooks: { [webhook.id]: webhook } })) return true
      return table.update(key, {
        changes: [set(['webhooks', webhook.id], Webhook.encode(webhook))],
        when: all(missing(['webhooks', webhook.id]), sizeIs('webhooks', '<', MOST_WEBHOOKS)),
      })
    },

    /** Removes a webhook of a client, with the state of its deliveries; false where there is none with this id. */
    async remove(clientId: string, id: string): Promise<boolean> {
      const isRemoved = await table.update(webhooksKey(clientId), {
        changes: [remove(['webhooks', id])],
        when: exists(['webhooks', id]),
      })
      if (isRemoved) await table.delete(deliveryKey({ clientId, webhookId: id }))
      return isRemoved
    },

    /** Replaces the versions of a webhook's secrets; false where they were replaced since they were read, or it is removed. */
    replaceSecret(clientId: string, { id, secret }: Webhook, next: SecretVersions): Promise<boolean> {
      return table.update(webhooksKey(clientId), {
        changes: [set(['webhooks', id, 'secret'], SecretVersions.encode(next))],
        when: is(['webhooks', id, 'secret', 'version'], '=', secret.version),
      })
    },

    /** Has nothing sent to a webhook any more; false where that is so already, or it is removed or registered again. */
    disable(
      clientId: string,
      { id, createdAt }: Pick<Webhook, 'id' | 'createdAt'>,
      { at, reason }: { readonly at: Date; readonly reason: DisabledReason },
    ): Promise<boolean> {
      return table.update(webhooksKey(clientId), {
        changes: [
          set(['webhooks', id, 'disabledAt'], Timestamp.encode(at)),
          set(['webhooks', id, 'disabledReason'], reason),
        ],
        when: all(isSince(id, createdAt), missing(['webhooks', id, 'disabledAt'])),
      })
    },

    /**
     * Reserves the test deliveries of a client until a moment, in epoch milliseconds; false while another has them. Who has
     * reserved them ends that earlier by another moment.
     */
    beginTest(clientId: string, { now, until }: { readonly now: number; readonly until: number }) {
      return reserveTests(clientId, until, any(missing('testingUntil'), is('testingUntil', '<=', now)))
    },
    async endTest(clientId: string, { begun, until }: { readonly begun: number; readonly until: number }) {
      await reserveTests(clientId, until, is('testingUntil', '=', begun))
    },

    /** Has events sent to a webhook again; false where they are, or it is removed or registered again. */
    enable(clientId: string, { id, createdAt }: Pick<Webhook, 'id' | 'createdAt'>): Promise<boolean> {
      return table.update(webhooksKey(clientId), {
        changes: [remove(['webhooks', id, 'disabledAt']), remove(['webhooks', id, 'disabledReason'])],
        when: all(isSince(id, createdAt), exists(['webhooks', id, 'disabledAt'])),
      })
    },
  }
}
export type WebhooksStore = ReturnType<typeof webhooksStore>

/** The key of the one item with the ids of clients that may want to be told what is not final: 400 KB of 25,000 clients. */
const LATEST_KEY = { pk: 'LATEST', sk: 'CLIENTS' }

const CLIENT = 'CLIENT#'
const DELIVERY = 'DELIVERY#'

/** The partition of a client's webhooks and events. */
export function clientPartition(clientId: string): string {
  return `${CLIENT}${clientId}`
}

/** The key of the state of a webhook's deliveries. */
export function deliveryKey({ clientId, webhookId }: WebhookKey) {
  return { pk: clientPartition(clientId), sk: `${DELIVERY}${webhookId}` }
}

/** The webhook of which the item with this key says so. */
export function webhookIdOf(sk: string): string {
  return sk.slice(DELIVERY.length)
}

function testKey(clientId: string) {
  return { pk: clientPartition(clientId), sk: 'TEST' }
}

function webhooksKey(clientId: string) {
  return { pk: clientPartition(clientId), sk: 'WEBHOOKS' }
}

function sorted({ webhooks }: z.output<typeof Item>): Webhook[] {
  return Object.values(webhooks).sort((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
}

/** The webhook still has this registration time. */
function isSince(id: string, createdAt: Date): Condition {
  return is(['webhooks', id, 'createdAt'], '=', Timestamp.encode(createdAt))
}
