import * as z from 'zod'
import { type EventType, WebhookEvent, WebhookTestEvent } from '../lib/webhooks/event.ts'

/** Description of webhook deliveries, as Markdown. */
export const DELIVERY_DESCRIPTION = `A delivery is a \`POST\` of one event as JSON to the URL of a webhook. It is signed by
[Standard Webhooks](https://www.standardwebhooks.com).

* **At least once.** An event can arrive twice, with the same \`id\`.
* **In any order.** Store \`data.entry\` by its id, unless you have stored a higher \`data.version\`. Of events with the same version,
  the one with the higher \`sequence\` is newer.
* **Ten attempts.** If you refuse an event, the service sends it again: ten attempts in three days. Other events do not wait
  for it.
* **All of them.** While your server is down, events wait in the log. The service tries one every five minutes. Once you take one,
  the others follow; some can come again.
* **Final.** The service sends an event once its block is final. Most chains finalize their blocks. On OP Mainnet, Base and
  Arbitrum One a block is final when it is two minutes old and its data is on Ethereum. A deep reorganisation of Ethereum could
  still undo such a block; there was none since Ethereum has proof of stake.
* **Latest.** A webhook with \`finality: "latest"\` also gets the event before, with \`final: false\`: 95 of 100 within 20 seconds of the
  block. Later it gets the event with \`final: true\` and another \`id\`, or a \`….reverted\` event. \`data.eventId\` of that one names
  the reverted event.
* **Kept.** \`GET /webhooks/events\` lists every event of the last 30 days, delivered or not.`

/** HTTP headers of a webhook delivery (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). */
export const DeliveryHeaders = z.object({
  'webhook-id': z.string().describe("The event's `id`, the same in each attempt. Skip an `id` that you already have"),
  'webhook-timestamp': z
    .string()
    .describe(
      'Time of this attempt, in seconds since 1970. Refuse it if it differs from your clock by over five minutes',
    ),
  'webhook-signature': z
    .string()
    .describe(
      '`v1,` and base64 of the HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. The key is the bytes behind `whsec_` in the secret. For 24 hours after a rotation there are two, separated by a space: one valid signature is enough',
    ),
})

/**
 * Effects of the responses to a webhook delivery, by HTTP status as OpenAPI writes it (such as `2XX`). `name` is the
 * response's name in the OpenAPI document.
 */
export const DELIVERY_RESPONSES = {
  '2XX': {
    name: 'Delivered',
    description: 'The event is delivered if the response comes within 5 seconds. Its body is not read.',
  },
  410: {
    name: 'WebhookGone',
    description: 'The service disables the webhook immediately. A successful test enables it again.',
  },
  429: {
    name: 'DeliveryPostponed',
    description:
      'The service sends nothing for a minute, or for a longer time in `Retry-After`, at most a day. Then it tries one event; once you take it, the others follow. It does the same after 502 and 504, and after every other failure with `Retry-After`.',
  },
  default: {
    name: 'DeliveryFailed',
    description:
      'Any other status is a failure. So are a redirect, which the service does not follow, and no response within 5 seconds. The service sends the event again after 5 s, 5 min, 1 h, then six times after 12 h: ten attempts in three days. Each pause is 2 to 10 % shorter. After a 4xx, except 408 and 425, only this event waits. At most 100 refused events wait; the service gives up further ones immediately. After two other failures in a row, all events wait. Then the service tries one every five minutes; once you take it, the others follow. The service disables a webhook after three days without a success.',
  },
} as const

const REVERTED =
  'An earlier event with `final: false` no longer holds: a reorganisation of the chain removed its block. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. If it happens again in another block, the service sends a new event.'

const ofSeveral = (what: string) =>
  `${what} has one event for each of the first 20, and one without an id for the rest.`

const revertedEntry = (what: 'deposit' | 'withdrawal') =>
  `${REVERTED} It comes before the event that takes its place. \`entry\` is the ${what} as it stands now. If it is null and the id is not, delete the ${what}. If the id is null, read the ${what} again.`

const MEANINGS: Readonly<Record<EventType | 'webhook.test', string>> = {
  'deposit.pending':
    'A user requested a deposit into an asynchronous vault. The vault has the assets and settles the request later. Sent once for each request. Followed by `deposit.claimable` or `deposit.cancelled`.',
  'deposit.claimable':
    'A vault settled a requested deposit, or part of it: its shares can be claimed. Sent at each settlement. `assets` is the amount of the request that this one settled. `shares` is null if the settlement does not report it. Follows `deposit.pending`; followed by `deposit.completed` once the shares are claimed.',
  'deposit.completed': `A user received shares, by an instant deposit or by a claim. Sent for each of these. A claim follows \`deposit.claimable\`. ${ofSeveral('A claim of several deposits')} Nothing follows, except the next claim of a partly claimed deposit.`,
  'deposit.cancelled': `A user cancelled a requested deposit before its settlement. Sent when the vault returns the assets. ${ofSeveral('A cancellation of several deposits')} Follows \`deposit.pending\`; nothing follows.`,
  'deposit.reverted': revertedEntry('deposit'),
  'withdrawal.pending':
    'A user requested a withdrawal, or began one with a cooldown. A requested one is settled later. With a cooldown the shares are burned, and `assets` is fixed. Sent once for each of these. Followed by `withdrawal.claimable`, or `withdrawal.cancelled` for a request.',
  'withdrawal.claimable':
    'A vault settled a requested withdrawal, or part of it: its assets can be claimed. Sent at each settlement. After a cooldown it is sent at the end, only with `final: true`. `shares` is the amount of the request that this one settled. `assets` is null if the settlement does not report it. Follows `withdrawal.pending`; followed by `withdrawal.completed` once the assets are claimed.',
  'withdrawal.completed': `A user received assets, by an instant withdrawal or by a claim. Sent for each of these. A claim follows \`withdrawal.claimable\`. ${ofSeveral('A claim of several withdrawals')} Nothing follows, except the next claim of a partly claimed withdrawal.`,
  'withdrawal.cancelled': `A user cancelled a requested withdrawal before its settlement. Sent when the vault returns the shares. ${ofSeveral('A cancellation of several withdrawals')} Follows \`withdrawal.pending\`; nothing follows.`,
  'withdrawal.reverted': revertedEntry('withdrawal'),
  'transfer.completed':
    'A transfer between chains arrived and did what it was for. Sent once for each transfer. The deposit at its end, or the withdrawal at its start, has its own `deposit.…` or `withdrawal.…` events. Nothing follows.',
  'transfer.failed':
    'A transfer between chains failed. `reason` explains why, and where the money is. Sent once it is certain. Nothing follows.',
  'transfer.refunded':
    'A transfer between chains was not delivered in time, and the bridge refunded it on the source chain. Sent once the service finds the refund. Nothing follows.',
  'transfer.reverted': REVERTED,
  'vault.paused':
    'A vault is paused: it takes no deposits and pays nothing out. Sent once for each pause. Followed by `vault.resumed`.',
  'vault.resumed':
    'A paused vault is no longer paused. Sent once for each pause. Follows `vault.paused`. That one is missing if the vault was paused when you added it.',
  'vault.changed':
    'A vault differs from what an operator checked: its code changed, or its share price moved by over a tenth. Deposits return 409 `vault_has_changed` from now on. Sent once for each change. No event says that an operator confirmed it: read `hasChanged` of the vault.',
  'vault.reverted':
    'An earlier `vault.paused` or `vault.resumed` with `final: false` no longer holds: the vault changed back before it was final, or a reorganisation of the chain removed its block. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`.',
  'reward.claimable':
    "A user can claim a reward that is worth at least a dollar. Sent to you if you listed the user's rewards in the last seven days, and there were some then. The service checks each user once a day, at the newest block. It sends the event once for each amount, and again after 40 days. Followed by `reward.claimed` once the user claims.",
  'reward.claimed':
    'A user claimed a reward, through you or elsewhere. Sent once for each token of a claim, to you under the same condition as `reward.claimable`. Nothing follows.',
  'webhook.test':
    'A test delivery, to check that the webhook can be reached. Sent when you call `POST /webhooks/{id}/test`, whatever `types` the webhook has. It has no `sequence` and appears in no log. Respond with 2xx and store nothing.',
}

/**
 * Webhook deliveries: each type of event and the test event, with schema and description. Descriptions are outside the schemas, so that
 * functions that send events do not bundle them.
 */
export const DELIVERIES = [...WebhookEvent.options, WebhookTestEvent].map((schema) => {
  const type = schema.shape.type.value
  return { type, schema, meaning: MEANINGS[type] }
})
