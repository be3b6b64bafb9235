import * as z from 'zod'
import { all, any, type Change, type Condition, exists, is, missing, remove, set } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
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
export function deliveryStore(table: Table) {
  /** The changes by which whoever has the lease writes a state. */
  const written = (state: DeliveryState, now: number): Change[] => [
    set('state', DeliveryState.encode(state)),
    keptFrom(now),
  ]

  return {
    /** How far each of these webhooks of a client has been told, by its id; those that were told nothing yet are left out. */
    async list(clientId: string, webhookIds: readonly string[]): Promise<Map<string, DeliveryState>> {
      const keys = webhookIds.map((webhookId) => deliveryKey({ clientId, webhookId }))
      const items = await table.getMany(Item, keys)
      return new Map(items.flatMap(({ sk, state }) => (state ? [[webhookIdOf(sk), state] as const] : [])))
    },

    /** How far a webhook has been told, and what was asked for. */
    get: async (webhook: WebhookKey): Promise<Kept> => (await table.get(Item, deliveryKey(webhook))) ?? {},

    /** Asks whoever has the lease next, or has it, to resume a webhook; less than was asked for before changes nothing. */
    async ask(webhook: WebhookKey, resumption: Resumption, now: number): Promise<void> {
      await table.update(deliveryKey(webhook), {
        changes: [set('resumption', resumption), keptFrom(now)],
        when: any(missing('resumption'), ...(resumption === 'all' ? [is('resumption', '<>', resumption)] : [])),
      })
    },

    /** Forgets what a webhook gave up; false while somebody has the lease, or where there is nothing. */
    dropGivenUp: (webhook: WebhookKey, now: number): Promise<boolean> =>
      table.update(deliveryKey(webhook), {
        // Clears the lease, so a late write of its holder is refused.
        changes: [set(['state', 'givenUp'], []), set(['state', 'givenUpBefore'], 0), ...NO_LEASE],
        when: all(exists('state'), isFree(now)),
      }),

    /**
     * Takes the lease, which nobody else has then until its end, and gives how far the webhook has been told; null where
     * somebody has it, who is told to look again before letting go.
     */
    async take(webhook: WebhookKey, { id, now, until }: Lease): Promise<Kept | null> {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const taken = await table.change(Item, deliveryKey(webhook), {
          changes: [set('leaseId', id), set('leaseUntil', until), keptFrom(now), remove('again')],
          when: isFree(now),
        })
        if (taken) return taken
        const isMarked = await table.update(deliveryKey(webhook), {
          changes: [set('again', true)],
          when: is('leaseUntil', '>', now),
        })
        if (isMarked) return null
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
      const kept = await table.change(Item, deliveryKey(webhook), {
        changes: [
          ...written(state, lease.now),
          ...(looksAgain ? [remove('again')] : []),
          ...(resumed ? [remove('resumption')] : []),
        ],
        when: is('leaseId', '=', lease.id),
      })
      return kept ?? null
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
      return letGo(webhook, state, lease, [missing('resumption'), ...(isResting ? [] : [missing('again')])])
    },

    /** Writes the same and lets the lease go, whatever was asked for: another message comes, or nothing is sent any more. */
    giveWay: (webhook: WebhookKey, state: DeliveryState, lease: Held) => letGo(webhook, state, lease, []),
  }

  function letGo(webhook: WebhookKey, state: DeliveryState, { id, now }: Held, unless: readonly Condition[]) {
    return table.update(deliveryKey(webhook), {
      changes: [...written(state, now), ...NO_LEASE, remove('again')],
      when: all(is('leaseId', '=', id), ...unless),
    })
  }
}
export type DeliveryStore = ReturnType<typeof deliveryStore>

/** How often the lease is tried for that somebody has each time and has let go when told so. */
const TRIES = 5

/** Who writes by a lease, at a moment in epoch milliseconds. */
type Held = Pick<Lease, 'id' | 'now'>

const NO_LEASE = [remove('leaseId'), remove('leaseUntil')]

/** Nobody has the lease at this moment. */
function isFree(now: number): Condition {
  return any(missing('leaseUntil'), is('leaseUntil', '<=', now))
}

/** Has the state kept for some time from this moment on. */
function keptFrom(now: number): Change {
  return set('expiresAt', EpochSeconds.encode(new Date(now + KEPT_MS)))
}
