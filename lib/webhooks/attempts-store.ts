import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { is, missing, set } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { EpochSeconds } from '../core/codecs.ts'
import { DAY_MS } from '../core/time.ts'
import { Attempts } from './attempts.ts'
import { attemptsKey } from './store.ts'
import type { WebhookKey } from './webhook.ts'

/** Delivery attempts of a webhook as stored. `version` changes with each write. */
const Stored = z.object({ version: z.string(), attempts: Attempts })
export type StoredAttempts = z.output<typeof Stored>

/** Milliseconds that delivery attempts are kept after the last write. By then the log has deleted all events that they name. */
const KEPT_MS = 40 * DAY_MS

/**
 * Store of the state of deliveries, one item per webhook that had a failure. Reads are consistent. Methods throw if the
 * table cannot be reached or an item does not parse.
 */
export function attemptsStore(table: Table) {
  return {
    /** Returns the delivery attempts of each webhook; undefined for a webhook without failures. */
    list: (webhooks: readonly WebhookKey[]): Promise<(StoredAttempts | undefined)[]> =>
      table.getMany(Stored, webhooks.map(attemptsKey)),

    /**
     * Writes a webhook's delivery attempts. Returns false if another run has written them since they were read. `now`
     * is in epoch milliseconds.
     */
    put(webhook: WebhookKey, before: StoredAttempts | undefined, attempts: Attempts, now: number): Promise<boolean> {
      return table.update(attemptsKey(webhook), {
        changes: [
          set('version', randomUUID()),
          set('attempts', Attempts.encode(attempts)),
          set('expiresAt', EpochSeconds.encode(new Date(now + KEPT_MS))),
        ],
        when: before ? is('version', '=', before.version) : missing('pk'),
      })
    },
  }
}
export type AttemptsStore = ReturnType<typeof attemptsStore>
