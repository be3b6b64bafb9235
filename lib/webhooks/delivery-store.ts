import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { updateItem } from '../aws/dynamo.ts'
import { EpochSeconds } from '../codecs.ts'
import { DeliveryState } from './delivery-state.ts'
import { deliveryKey } from './store.ts'

/** Which webhook of whom. */
export type WebhookKey = { readonly clientId: string; readonly webhookId: string }

/** Who may send to a webhook now, and for how long: a word that nobody else has, and moments in epoch milliseconds. */
type Lease = { readonly id: string; readonly now: number; readonly until: number }

const Item = z.object({ state: DeliveryState.optional() })

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
  const update = (change: Parameters<typeof updateItem>[2]) => updateItem(client, tableName, change)

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

    /** Writes how far a webhook has been told; false where the lease is another's by now, who goes on from what was written before. */
    async save(webhook: WebhookKey, state: DeliveryState, lease: Pick<Lease, 'id' | 'now'>): Promise<boolean> {
      return (await update({ ...written(webhook, state, lease), condition: 'leaseId = :id' })) !== null
    },

    /** The same by who is about to look again, and need not be told so any more. */
    async saveAndLookAgain(
      webhook: WebhookKey,
      state: DeliveryState,
      lease: Pick<Lease, 'id' | 'now'>,
    ): Promise<boolean> {
      const again = { remove: ['#again'], ExpressionAttributeNames: { '#state': 'state', '#again': 'again' } }
      return (await update({ ...written(webhook, state, lease), ...again, condition: 'leaseId = :id' })) !== null
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
      const released = await update({
        ...written(webhook, state, lease),
        ExpressionAttributeNames: { '#state': 'state', '#again': 'again' },
        remove: ['leaseId', 'leaseUntil', '#again'],
        condition: anyway ? 'leaseId = :id' : 'leaseId = :id AND attribute_not_exists(#again)',
      })
      return released !== null
    },

    /** Has a webhook that took nothing tried at once, of whatever it was not told. */
    async recover(webhook: WebhookKey): Promise<void> {
      await update({
        key: keyOf(webhook),
        set: ['#state.failures = :one'],
        remove: ['#state.failingSince', '#state.lastFailure', '#state.restUntil'],
        condition: 'attribute_exists(#state.failingSince)',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':one': 1 },
      })
    },
  }
}
export type DeliveryStore = ReturnType<typeof deliveryStore>

/** How often the lease is tried for that somebody has each time and has let go when told so. */
const TRIES = 5

function keyOf({ clientId, webhookId }: WebhookKey) {
  return deliveryKey(clientId, webhookId)
}
