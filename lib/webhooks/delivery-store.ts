import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { getItems, updateItem } from '../aws/dynamo.ts'
import { EpochSeconds } from '../codecs.ts'
import { DeliveryState } from './delivery-state.ts'
import { deliveryKey, webhookIdOf } from './store.ts'

/** Which webhook of whom. */
export type WebhookKey = { readonly clientId: string; readonly webhookId: string }

/** Who may send to a webhook now, and for how long: a word that nobody else has, and moments in epoch milliseconds. */
type Lease = { readonly id: string; readonly now: number; readonly until: number }

const Item = z.object({ sk: z.string(), state: DeliveryState.optional() })

/**
 * After so long without a change a state is forgotten: longer than the log has an event, so that there was none in it for the
 * webhook, and its beginning is as good.
 */
const KEPT_MS = 40 * 86_400_000

/**
 * How far webhooks have been told, an item each, with the lease of who is telling it. What is read is read consistently.
 * Every method throws when the table cannot be reached or an item does not parse.
 */
export function deliveryStore(client: DynamoDBDocumentClient, tableName: string) {
  const update = (change: Change) => updateItem(client, tableName, change)

  /** What is changed where a state is written by who has the lease. */
  const written = (webhook: WebhookKey, state: DeliveryState, { id, now }: Pick<Lease, 'id' | 'now'>) => ({
    key: keyOf(webhook),
    set: ['#state = :state', 'expiresAt = :expiresAt'],
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':state': DeliveryState.encode(state),
      ':expiresAt': EpochSeconds.encode(new Date(now + KEPT_MS)),
      ':id': id,
    },
  })

  return {
    /** How far each of these webhooks of a client has been told, by its id; those that were told nothing yet are left out. */
    async list(clientId: string, webhookIds: readonly string[]): Promise<Map<string, DeliveryState>> {
      const keys = webhookIds.map((webhookId) => keyOf({ clientId, webhookId }))
      const items = z.array(Item).parse(await getItems(client, tableName, keys))
      return new Map(items.flatMap(({ sk, state }) => (state ? [[webhookIdOf(sk), state] as const] : [])))
    },

    /** How far a webhook has been told; undefined where it was told nothing yet. */
    async get(webhook: WebhookKey): Promise<DeliveryState | undefined> {
      const command = new GetCommand({ TableName: tableName, Key: keyOf(webhook), ConsistentRead: true })
      const { Item: item } = await client.send(command)
      return item && Item.parse(item).state
    },

    /**
     * Takes the lease, which nobody else has then until its end, and gives how far the webhook has been told; null where
     * somebody has it, who is told to look again before letting go.
     */
    async take(webhook: WebhookKey, { id, now, until }: Lease): Promise<{ state: DeliveryState | undefined } | null> {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const taken = await update({
          key: keyOf(webhook),
          set: ['leaseId = :id', 'leaseUntil = :until', 'expiresAt = :expiresAt'],
          remove: ['#again'],
          condition: 'attribute_not_exists(leaseUntil) OR leaseUntil <= :now',
          ExpressionAttributeNames: { '#again': 'again' },
          ExpressionAttributeValues: {
            ...{ ':id': id, ':until': until, ':now': now },
            ':expiresAt': EpochSeconds.encode(new Date(now + KEPT_MS)),
          },
          ReturnValues: 'ALL_NEW',
        })
        if (taken) return { state: Item.parse(taken).state }
        const told = await update({
          key: keyOf(webhook),
          set: ['#again = :yes'],
          condition: 'leaseUntil > :now',
          ExpressionAttributeNames: { '#again': 'again' },
          ExpressionAttributeValues: { ':yes': true, ':now': now },
        })
        if (told) return null
      }
      throw new Error('The lease of a webhook is taken and let go all the time.')
    },

    /**
     * Writes how far a webhook has been told; false where the lease is another's by now, who goes on from what was written before.
     * Who `looksAgain` need not be told so any more.
     */
    async save(
      webhook: WebhookKey,
      state: DeliveryState,
      { looksAgain, ...lease }: Pick<Lease, 'id' | 'now'> & { readonly looksAgain: boolean },
    ): Promise<boolean> {
      const change = { ...written(webhook, state, lease), condition: 'leaseId = :id' }
      return (await update(looksAgain ? withoutMark(change) : change)) !== null
    },

    /**
     * Writes the same and lets the lease go; false where it is another's by now, or where who has it was told to look again,
     * which `anyway` passes over.
     */
    async release(
      webhook: WebhookKey,
      state: DeliveryState,
      { anyway, ...lease }: Pick<Lease, 'id' | 'now'> & { readonly anyway: boolean },
    ): Promise<boolean> {
      const released = await update(
        withoutMark({
          ...written(webhook, state, lease),
          remove: ['leaseId', 'leaseUntil'],
          condition: anyway ? 'leaseId = :id' : 'leaseId = :id AND attribute_not_exists(#again)',
        }),
      )
      return released !== null
    },
  }
}
export type DeliveryStore = ReturnType<typeof deliveryStore>

/** How often the lease is tried for that somebody has each time and has let go when told so. */
const TRIES = 5

type Change = Parameters<typeof updateItem>[2]

/** The same change, after which nobody is told any more to look again. */
function withoutMark({ remove = [], ExpressionAttributeNames, ...change }: Change): Change {
  const names = { ...ExpressionAttributeNames, '#again': 'again' }
  return { ...change, remove: [...remove, '#again'], ExpressionAttributeNames: names }
}

function keyOf({ clientId, webhookId }: WebhookKey) {
  return deliveryKey(clientId, webhookId)
}
