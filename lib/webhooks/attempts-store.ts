import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { is, missing, set } from '../aws/conditions.ts'
import type { Table } from '../aws/table.ts'
import { EpochSeconds } from '../codecs.ts'
import { DAY_MS } from '../time.ts'
import { Attempts } from './attempts.ts'
import { attemptsKey } from './store.ts'
import type { WebhookKey } from './webhook.ts'

/** Attempts as stored: `version` is another one after each write. */
const Stored = z.object({ pk: z.string(), sk: z.string(), version: z.string(), attempts: Attempts })
export type StoredAttempts = Pick<z.output<typeof Stored>, 'version' | 'attempts'>

/** Attempts are forgotten so long after the last failure: the log has none of their events any more. */
const KEPT_MS = 40 * DAY_MS

/**
 * How deliveries to webhooks go, one item for each webhook with a failure. Reads are consistent. Every method throws when the
 * table cannot be reached or an item does not parse.
 */
export function attemptsStore(table: Table) {
  return {
    /** The attempts of these webhooks; none for a webhook without failures. */
    async list(webhooks: readonly WebhookKey[]): Promise<(StoredAttempts | undefined)[]> {
      const items = await table.getMany(Stored, webhooks.map(attemptsKey))
      const byKey = new Map(items.map((item) => [`${item.pk} ${item.sk}`, item]))
      return webhooks.map((webhook) => {
        const { pk, sk } = attemptsKey(webhook)
        return byKey.get(`${pk} ${sk}`)
      })
    },

    /** Writes a webhook's attempts; false if they were written since they were read. `now` is in epoch milliseconds. */
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
