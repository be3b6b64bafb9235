import { listUndeliveredEvents, resetAttempts, selectAttempts } from './attempts.ts'
import type { AttemptsStore } from './attempts-store.ts'
import { buildEventMessages, type Enqueue } from './queue.ts'
import type { WebhooksStore } from './store.ts'
import type { WebhookKey } from './webhook.ts'

type Services = {
  readonly webhooks: Pick<WebhooksStore, 'get' | 'change'>
  readonly attempts: Pick<AttemptsStore, 'list' | 'put'>
  readonly enqueue: Enqueue
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}

/**
 * Delay in seconds of a queue message that is sent before the write on which it depends. No request takes longer, so
 * the write is done when the message arrives.
 */
const DELAY_SECONDS = 40
/**
 * Retries a webhook that is behind (has missed events) at once, without waiting for the next scheduled retry. With
 * `isAnew`, also enables the webhook and sends all waiting and given up events again. Throws if the table or the queue
 * cannot be reached; the caller must then call again.
 */
export async function resumeWebhook(
  { webhooks, attempts, enqueue, now }: Services,
  key: WebhookKey,
  { isAnew }: { readonly isAnew: boolean },
): Promise<void> {
  const probeAt = now()
  const webhook = await webhooks.get(key)
  if (!webhook) return
  if (isAnew) {
    const [stored] = await attempts.list([key])
    const untaken = listUndeliveredEvents(selectAttempts(webhook, stored?.attempts), probeAt)
    // A disabled webhook's messages are delayed until the webhook is enabled. A delivery before that would drop them.
    await enqueue(buildEventMessages(key, untaken), { delaySeconds: webhook.disabledAt ? DELAY_SECONDS : 0 })
    if (stored) await attempts.put(key, stored, resetAttempts(stored.attempts, untaken, probeAt), now())
  }
  if (!webhook.behind && !webhook.disabledAt) return
  // This delayed message starts the retry even if the run is killed after the following write.
  await enqueue([{ ...key, probeAt }], { delaySeconds: DELAY_SECONDS })
  await webhooks.change(key, (current) => {
    const { disabledAt: _, disabledReason: __, ...enabled } = current
    const { behind, ...others } = isAnew ? enabled : current
    return { ...others, ...(behind && { behind: { ...behind, probeAt } }) }
  })
  await enqueue([{ ...key, probeAt }])
}
