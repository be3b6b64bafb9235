import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { getItems, updateItem } from '../aws/dynamo.ts'
import { EpochSeconds } from '../codecs.ts'
import { DAY_MS } from '../time.ts'
import { DeliveryState, Resumption } from './delivery-state.ts'
import { deliveryKey, webhookIdOf } from './store.ts'
import type { WebhookKey } from './webhook.ts'

/** Who may send to a webhook now, and for how long: a word that nobody else has, and moments in epoch milliseconds. */
type Lease = { readonly id: string; readonly now: number; readonly until: number }

const Item = z.object({ sk: z.string(), state: DeliveryState.optional(), resumption: Resumption.optional() })

/** How far a webhook has been told, undefined where it was told nothing yet; and what was asked for meanwhile. */
type Kept = Pick<z.output<typeof Item>, 'state' | 'resumption'>

/**
 * After so long without a change a state is forgotten: longer than the log has an event, so that there was none in it for the
 * webhook, and its beginning is as good.
 */
const KEPT_MS = 40 * DAY_MS

/**
 * How far webhooks have been told, an item each, with the lease of who is telling it. What is read is read consistently.
 * Every method throws when the table cannot be reached or an item does not parse.
 */
export function deliveryStore(client: DynamoDBDocumentClient, tableName: string) {
  const update = (change: Change) => updateItem(client, tableName, change)

  /** What is changed where a state is written by who has the lease. */
  const written = (webhook: WebhookKey, state: DeliveryState, { id, now }: Held) => ({
    key: deliveryKey(webhook),
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
      const keys = webhookIds.map((webhookId) => deliveryKey({ clientId, webhookId }))
      const items = z.array(Item).parse(await getItems(client, tableName, keys))
      return new Map(items.flatMap(({ sk, state }) => (state ? [[webhookIdOf(sk), state] as const] : [])))
    },

    /** How far a webhook has been told, and what was asked for. */
    async get(webhook: WebhookKey): Promise<Kept> {
      const command = new GetCommand({ TableName: tableName, Key: deliveryKey(webhook), ConsistentRead: true })
      const { Item: item } = await client.send(command)
      return item ? Item.parse(item) : {}
    },

    /** Asks whoever has the lease next, or has it, to resume a webhook; less than was asked for before changes nothing. */
    async ask(webhook: WebhookKey, resumption: Resumption, now: number): Promise<void> {
      await update({
        key: deliveryKey(webhook),
        set: ['resumption = :resumption', 'expiresAt = :expiresAt'],
        condition: `attribute_not_exists(resumption)${resumption === 'all' ? ' OR resumption <> :resumption' : ''}`,
        ExpressionAttributeValues: {
          ':resumption': resumption,
          ':expiresAt': EpochSeconds.encode(new Date(now + KEPT_MS)),
        },
      })
    },

    /** Forgets what a webhook gave up; false while somebody has the lease, or where there is nothing. */
    async dropGivenUp(webhook: WebhookKey, now: number): Promise<boolean> {
      const dropped = await update({
        key: deliveryKey(webhook),
        set: ['#state.givenUp = :none', '#state.givenUpBefore = :zero'],
        // Who had it and is late writes nothing any more.
        remove: ['leaseId', 'leaseUntil'],
        condition: 'attribute_exists(#state) AND (attribute_not_exists(leaseUntil) OR leaseUntil <= :now)',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':none': [], ':zero': 0, ':now': now },
      })
      return dropped !== null
    },

    /**
     * Takes the lease, which nobody else has then until its end, and gives how far the webhook has been told; null where
     * somebody has it, who is told to look again before letting go.
     */
    async take(webhook: WebhookKey, { id, now, until }: Lease): Promise<Kept | null> {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const taken = await update({
          key: deliveryKey(webhook),
          set: ['leaseId = :id', 'leaseUntil = :until', 'expiresAt = :expiresAt'],
          remove: ['#again'],
          condition: 'attribute_not_exists(leaseUntil) OR leaseUntil <= :now',
          ExpressionAttributeNames: AGAIN,
          ExpressionAttributeValues: {
            ...{ ':id': id, ':until': until, ':now': now },
            ':expiresAt': EpochSeconds.encode(new Date(now + KEPT_MS)),
          },
          ReturnValues: 'ALL_NEW',
        })
        if (taken) return Item.parse(taken)
        const told = await update({
          key: deliveryKey(webhook),
          set: ['#again = :yes'],
          condition: 'leaseUntil > :now',
          ExpressionAttributeNames: AGAIN,
          ExpressionAttributeValues: { ':yes': true, ':now': now },
        })
        if (told) return null
      }
      throw new Error('The lease of a webhook is taken and let go all the time.')
    },

    /**
     * Writes how far a webhook has been told and goes on, and gives what was asked for meanwhile; null where the lease is another's
     * by now, who goes on from what was written before. Who `looksAgain` need not be told so any more, and who has `resumed` need
     * not be asked any more.
     */
    async save(
      webhook: WebhookKey,
      state: DeliveryState,
      { looksAgain = false, resumed = false, ...lease }: Held & { looksAgain?: boolean; resumed?: boolean },
    ): Promise<Pick<Kept, 'resumption'> | null> {
      const change = { ...written(webhook, state, lease), condition: 'leaseId = :id', ReturnValues: 'ALL_NEW' as const }
      const kept = await update({
        ...change,
        remove: [...(looksAgain ? ['#again'] : []), ...(resumed ? ['resumption'] : [])],
        ExpressionAttributeNames: { ...change.ExpressionAttributeNames, ...(looksAgain && AGAIN) },
      })
      return kept && Item.parse(kept)
    },

    /**
     * Writes the same and lets the lease go; false where it is another's by now, or where who has it was asked to resume the
     * webhook or, unless `isResting`, to look again.
     */
    release(
      webhook: WebhookKey,
      state: DeliveryState,
      { isResting, ...lease }: Held & { readonly isResting: boolean },
    ) {
      const unseen = isResting ? [] : ['attribute_not_exists(#again)']
      return letGo(webhook, state, lease, ['leaseId = :id', 'attribute_not_exists(resumption)', ...unseen])
    },

    /** Writes the same and lets the lease go, whatever was asked for: another message comes, or nothing is sent any more. */
    giveWay: (webhook: WebhookKey, state: DeliveryState, lease: Held) =>
      letGo(webhook, state, lease, ['leaseId = :id']),
  }

  async function letGo(webhook: WebhookKey, state: DeliveryState, lease: Held, conditions: readonly string[]) {
    const change = written(webhook, state, lease)
    const released = await update({
      ...change,
      remove: ['leaseId', 'leaseUntil', '#again'],
      condition: conditions.join(' AND '),
      ExpressionAttributeNames: { ...change.ExpressionAttributeNames, ...AGAIN },
    })
    return released !== null
  }
}
export type DeliveryStore = ReturnType<typeof deliveryStore>

/** How often the lease is tried for that somebody has each time and has let go when told so. */
const TRIES = 5

type Change = Parameters<typeof updateItem>[2]

/** Who writes by a lease, at a moment in epoch milliseconds. */
type Held = Pick<Lease, 'id' | 'now'>

const AGAIN = { '#again': 'again' }
