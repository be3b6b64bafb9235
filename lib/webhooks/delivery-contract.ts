import * as z from 'zod'
import { type EventType, WebhookEvent, WebhookTestEvent } from './event.ts'

/** What a delivery is, as Markdown. */
export const DELIVERY = `A delivery is a \`POST\` of one event as JSON to the URL of a webhook. It is signed by
[Standard Webhooks](https://www.standardwebhooks.com).

* **At least once.** The same event can be delivered twice: skip an \`id\` that you have.
* **In any order.** Of two events the one with the higher \`sequence\` is newer.
* **Final.** An event is sent when its block is final: finalized by its chain, or, on OP Mainnet, Base and Arbitrum One, two minutes
  old with its data on Ethereum. There a reorganisation of Ethereum that goes back further could still undo it; none was
  seen since it has proof of stake. A webhook with \`finality: "latest"\` gets it within seconds too, with \`final: false\`. Later comes either the same with \`final: true\`, as an event with an \`id\` of its
  own, or a \`….reverted\` event, whose \`data.eventId\` is the one that is taken back.
* **Kept.** \`GET /webhooks/events\` lists every event of the last 30 days, delivered or not.`

/** The headers of a delivery (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). */
export const DeliveryHeaders = z.object({
  'webhook-id': z
    .string()
    .describe('The `id` of the event, the same in each attempt: the key by which to tell repetitions'),
  'webhook-timestamp': z
    .string()
    .describe(
      'When this attempt was sent, in seconds since 1970. Refuse what is more than five minutes from your clock',
    ),
  'webhook-signature': z
    .string()
    .describe(
      '`v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`, by the bytes behind `whsec_` in the secret. For 24 hours after a rotation there are two, with a space between: one that is right is enough',
    ),
})

/** What each answer to a delivery leads to, by its status as OpenAPI writes it; each with a name. */
export const DELIVERY_ANSWERS = {
  '2XX': {
    name: 'Delivered',
    description: 'The event is delivered, if the answer comes within 5 seconds. Its body is not read.',
  },
  410: {
    name: 'WebhookGone',
    description: 'The webhook is switched off at once. A test that succeeds switches it on again.',
  },
  429: {
    name: 'DeliveryPostponed',
    description:
      'Nothing is sent to the webhook for as long as `Retry-After` says, a day at most, or for a minute without it. Then the event is tried again. The same is done after 502 and 504, and after every other failure with `Retry-After`.',
  },
  default: {
    name: 'DeliveryFailed',
    description:
      'Everything else is a failure: any other status, a redirect, which is not followed, and no answer within 5 seconds. The event is tried again after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h. With any other 4xx it waits by itself. Else new events wait too, from two failures in a row on. A webhook that takes nothing for three days is switched off.',
  },
} as const

const REVERTED =
  'A reorganisation of the chain removed what an earlier event of this kind, with `final: false`, reported. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. What happens again in another block is a new event.'

const MEANINGS: Readonly<Record<EventType | 'webhook.test', string>> = {
  'deposit.pending':
    'A user requested a deposit into an asynchronous vault: the vault has the assets, and settles the request later. Sent once for each request. Followed by `deposit.claimable`, or by `deposit.cancelled`.',
  'deposit.claimable':
    'A vault settled a requested deposit, or a part of it: its shares can be claimed. Sent at each settlement: `assets` is how much of the request this one settled, and `shares` is null, for the claim decides. Follows `deposit.pending`; followed by `deposit.completed` once the shares are claimed.',
  'deposit.completed':
    'A user received shares: by a deposit that took effect at once, or by a claim. Sent for each of these. A claim follows `deposit.claimable`. Nothing follows, but for the next claim of a deposit that was claimed in part.',
  'deposit.cancelled':
    'A user took a requested deposit back before it was settled. Sent when the assets are returned. Follows `deposit.pending`; nothing follows.',
  'deposit.reverted': REVERTED,
  'withdrawal.pending':
    'A user requested a withdrawal from an asynchronous vault: the vault has the shares, and settles the request later. Sent once for each request. Followed by `withdrawal.claimable`, or by `withdrawal.cancelled`.',
  'withdrawal.claimable':
    'A vault settled a requested withdrawal, or a part of it: its assets can be claimed. Sent at each settlement: `shares` is how much of the request this one settled, and `assets` is null, for the claim decides. Follows `withdrawal.pending`; followed by `withdrawal.completed` once the assets are claimed.',
  'withdrawal.completed':
    'A user received assets: by a withdrawal that took effect at once, or by a claim. Sent for each of these. A claim follows `withdrawal.claimable`. Nothing follows, but for the next claim of a withdrawal that was claimed in part.',
  'withdrawal.cancelled':
    'A user took a requested withdrawal back before it was settled. Sent when the shares are returned. Follows `withdrawal.pending`; nothing follows.',
  'withdrawal.reverted': REVERTED,
  'transfer.completed':
    'A transfer between chains arrived, and did what it was sent for. Sent once for each transfer. The deposit into the vault that it ends with, or the withdrawal that it began with, has `deposit.…` or `withdrawal.…` events of its own. Nothing follows.',
  'transfer.failed':
    'A transfer between chains failed: `reason` says why, and where the money is. Sent once it is certain. Nothing follows.',
  'transfer.refunded':
    'A transfer between chains was not delivered in time, and the bridge paid it back on the chain where it began. Sent once the refund is found. Nothing follows.',
  'transfer.reverted': REVERTED,
  'vault.paused':
    'A vault is paused: it takes no deposits and pays nothing out. Sent once for each pause. No event says that it goes on again: `GET …/vault/{vaultAddress}` does.',
  'vault.changed':
    'A vault differs from what was checked: its code changed, or its share price moved by more than a tenth. Deposits answer 409 `vault_has_changed` from now on. Sent once for each change. No event says that an operator confirmed it: `hasChanged` of the vault does.',
  'vault.reverted':
    'A pause that an earlier `vault.paused` with `final: false` reported has ended before it was final, or a reorganisation of the chain removed it. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`.',
  'webhook.test':
    'A test delivery, which tells that the webhook can be reached. Sent when you ask for it by `POST /webhooks/{id}/test`, whatever `types` the webhook has. It has no `sequence` and is in no log: answer 2xx and store nothing.',
}

/**
 * Everything that is delivered, each type of event and a test: its schema, and what it means, when it is sent, and which
 * events come before and after it. Apart from the schemas, so that functions that send events do not carry it.
 */
export const DELIVERED = [...WebhookEvent.options, WebhookTestEvent].map((schema) => {
  const type = schema.shape.type.value
  return { type, schema, meaning: MEANINGS[type] }
})
