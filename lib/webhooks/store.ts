import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { getItems, putNew, updateItem } from '../aws/dynamo.ts'
import { Timestamp } from '../codecs.ts'
import { type DisabledReason, MOST_WEBHOOKS, SecretVersions, Webhook, type WebhookKey } from './webhook.ts'

const LatestItem = z.object({ clients: z.set(z.string()) })
const Item = z.object({ pk: z.string(), webhooks: z.record(z.string(), Webhook) })

/**
 * The webhooks of clients: one item a client, with all of its webhooks. What is read is read consistently. Every method
 * throws when the table cannot be reached or an item does not parse.
 */
export function webhooksStore(client: DynamoDBDocumentClient, tableName: string) {
  const update = async (change: Parameters<typeof updateItem>[2]) =>
    (await updateItem(client, tableName, change)) !== null
  const reserveTests = (clientId: string, until: number, condition: string, values: Readonly<Record<string, number>>) =>
    update({
      key: testKey(clientId),
      set: ['testingUntil = :until'],
      condition,
      ExpressionAttributeValues: { ':until': until, ...values },
    })

  return {
    /** A client's webhooks, oldest first. */
    async list(clientId: string): Promise<Webhook[]> {
      const command = new GetCommand({ TableName: tableName, Key: webhooksKey(clientId), ConsistentRead: true })
      const { Item: item } = await client.send(command)
      return item ? sorted(Item.parse(item)) : []
    },

    /** The webhooks of each of these clients that has any, by client. */
    async listOf(clientIds: readonly string[]): Promise<Map<string, Webhook[]>> {
      const items = z.array(Item).parse(await getItems(client, tableName, clientIds.map(webhooksKey)))
      return new Map(items.map((item) => [item.pk.slice(CLIENT.length), sorted(item)]))
    },

    /** Clients that may want to be told what is not final: all that have ever registered a webhook for it. */
    async listLatestClients(): Promise<ReadonlySet<string>> {
      const command = new GetCommand({ TableName: tableName, Key: LATEST_KEY, ConsistentRead: true })
      const { Item: item } = await client.send(command)
      return item ? LatestItem.parse(item).clients : new Set()
    },

    /** Adds a webhook; false where the client has one with its id, or as many as there can be. */
    async add(clientId: string, webhook: Webhook): Promise<boolean> {
      // Before it is there, so that no client with one is missing, and never taken back, as another may be added meanwhile.
      if (webhook.finality === 'latest') {
        await client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: LATEST_KEY,
            UpdateExpression: 'ADD clients :client',
            ExpressionAttributeValues: { ':client': new Set([clientId]) },
          }),
        )
      }
      const key = webhooksKey(clientId)
      const encoded = Webhook.encode(webhook)
      if (await putNew(client, tableName, { ...key, webhooks: { [webhook.id]: encoded } })) return true
      return update({
        key,
        set: ['webhooks.#id = :webhook'],
        condition: 'attribute_not_exists(webhooks.#id) AND size(webhooks) < :most',
        ExpressionAttributeNames: { '#id': webhook.id },
        ExpressionAttributeValues: { ':webhook': encoded, ':most': MOST_WEBHOOKS },
      })
    },

    /** Removes a webhook of a client, with the state of its deliveries; false where there is none with this id. */
    async remove(clientId: string, id: string): Promise<boolean> {
      const isRemoved = await update({
        key: webhooksKey(clientId),
        remove: ['webhooks.#id'],
        condition: 'attribute_exists(webhooks.#id)',
        ExpressionAttributeNames: { '#id': id },
      })
      if (isRemoved)
        await client.send(new DeleteCommand({ TableName: tableName, Key: deliveryKey({ clientId, webhookId: id }) }))
      return isRemoved
    },

    /** Replaces the versions of a webhook's secrets; false where others did since they were read, or it is removed. */
    replaceSecret(clientId: string, { id, secret }: Webhook, next: SecretVersions): Promise<boolean> {
      return update({
        key: webhooksKey(clientId),
        set: ['webhooks.#id.secret = :next'],
        condition: 'webhooks.#id.secret.version = :version',
        ExpressionAttributeNames: { '#id': id },
        ExpressionAttributeValues: { ':next': SecretVersions.encode(next), ':version': secret.version },
      })
    },

    /** Has nothing sent to a webhook any more; false where that is so already, or it is removed or registered again. */
    disable(
      clientId: string,
      { id, createdAt }: Pick<Webhook, 'id' | 'createdAt'>,
      { at, reason }: { readonly at: Date; readonly reason: DisabledReason },
    ): Promise<boolean> {
      return update({
        key: webhooksKey(clientId),
        set: ['webhooks.#id.disabledAt = :at', 'webhooks.#id.disabledReason = :reason'],
        condition: 'webhooks.#id.createdAt = :createdAt AND attribute_not_exists(webhooks.#id.disabledAt)',
        ExpressionAttributeNames: { '#id': id },
        ExpressionAttributeValues: {
          ':at': Timestamp.encode(at),
          ':reason': reason,
          ':createdAt': Timestamp.encode(createdAt),
        },
      })
    },

    /**
     * Reserves the test deliveries of a client until a moment, in epoch milliseconds; false while another has them. Who has
     * reserved them ends that earlier by another moment.
     */
    beginTest(clientId: string, { now, until }: { readonly now: number; readonly until: number }) {
      return reserveTests(clientId, until, 'attribute_not_exists(testingUntil) OR testingUntil <= :now', {
        ':now': now,
      })
    },
    async endTest(clientId: string, { begun, until }: { readonly begun: number; readonly until: number }) {
      await reserveTests(clientId, until, 'testingUntil = :begun', { ':begun': begun })
    },

    /** Has events sent to a webhook again; false where they are, or it is removed or registered again. */
    enable(clientId: string, { id, createdAt }: Pick<Webhook, 'id' | 'createdAt'>): Promise<boolean> {
      return update({
        key: webhooksKey(clientId),
        remove: ['webhooks.#id.disabledAt', 'webhooks.#id.disabledReason'],
        condition: 'webhooks.#id.createdAt = :createdAt AND attribute_exists(webhooks.#id.disabledAt)',
        ExpressionAttributeNames: { '#id': id },
        ExpressionAttributeValues: { ':createdAt': Timestamp.encode(createdAt) },
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
