import * as z from 'zod'
import { Timestamp } from '../../lib/core/codecs.ts'
import { EventTypes, NewWebhook, type WebhookResponse } from '../../lib/webhooks/responses.ts'
import {
  buildCommand,
  buildFlagSchema,
  type Commands,
  clientId,
  formatColumns,
  optionalClientId,
  optionHelp,
  splitList,
} from '../command.ts'
import {
  addWebhook,
  dropGivenUpEvents,
  listGivenUpEvents,
  listWebhooks,
  removeWebhook,
  resumeWebhooks,
} from '../operations/webhooks.ts'

const webhook = z.string().register(optionHelp, { value: 'id', meaning: 'The webhook, as in list-webhooks' })

/** Commands for the webhooks of clients and their undelivered events. */
export const WEBHOOK_COMMANDS: Commands = {
  'add-webhook': buildCommand(
    'Registers an endpoint of a client for events of its vaults. Prints its secret once.',
    z.object({
      client: clientId,
      url: NewWebhook.shape.url.register(optionHelp, { value: 'url', meaning: 'An https URL on port 443' }),
      types: z
        .string()
        .transform(splitList)
        .pipe(EventTypes)
        .optional()
        .register(optionHelp, { value: 'words', meaning: 'Event types, separated by commas; all unless given' }),
      finality: NewWebhook.shape.finality.register(optionHelp, {
        value: 'word',
        meaning: 'final, or latest for events before they are final too; final unless given',
      }),
    }),
    async (admin, { client, ...rest }) => {
      const { webhook, secret } = await addWebhook(admin, client, rest)
      return [
        secret,
        '',
        `Webhook ${webhook.id} of client ${client} gets ${webhook.types ?? 'all events'} at ${webhook.url}.`,
        'Hand the secret over now: it is not shown again.',
      ]
    },
  ),

  'list-webhooks': buildCommand(
    'Lists the webhooks of clients and how deliveries go.',
    z.object({ client: optionalClientId }),
    async (admin, { client }) =>
      formatColumns(
        [
          'CLIENT',
          'WEBHOOK',
          'URL',
          'TYPES',
          'FINALITY',
          'CREATED',
          'STATUS',
          'BEHIND FROM',
          'WAITING',
          'NEXT ATTEMPT',
          'GIVEN UP',
          'LAST FAILURE',
        ],
        (await listWebhooks(admin, client)).map(
          ({ clientId, id, url, types, finality, createdAt, delivery, ...rest }) => [
            clientId,
            id,
            url,
            types?.join() ?? 'all',
            finality,
            Timestamp.encode(createdAt),
            webhookStatus(rest),
            String(delivery.behindFrom ?? 'none'),
            String(delivery.waiting),
            delivery.nextAttemptAt ? Timestamp.encode(delivery.nextAttemptAt) : 'none',
            String(delivery.givenUp.length + delivery.givenUpBefore),
            describeFailure(delivery),
          ],
        ),
      ),
  ),

  'list-given-up': buildCommand(
    'Lists the events that the service gave up, the newest hundred of each webhook.',
    z.object({ client: optionalClientId }),
    async (admin, { client }) =>
      formatColumns(
        ['CLIENT', 'WEBHOOK', 'SEQUENCE', 'TYPE', 'SINCE'],
        (await listGivenUpEvents(admin, client)).map(({ clientId, webhookId, sequence, type, at }) => [
          clientId,
          webhookId,
          String(sequence),
          type ?? 'no longer in the log',
          Timestamp.encode(at),
        ]),
      ),
  ),

  'drop-given-up': buildCommand(
    'Never sends given-up events again. The log of their client keeps them.',
    z.object({
      client: optionalClientId,
      webhook: webhook
        .optional()
        .register(optionHelp, { value: 'id', meaning: 'Only this webhook, as in list-webhooks' }),
      yes: buildFlagSchema('Do it; without it, only shows their number'),
    }),
    async (admin, { client, webhook, yes }) => {
      const dropped = await dropGivenUpEvents(admin, { clientId: client, webhookId: webhook }, { isConfirmed: yes })
      return [`Events that are never sent again: ${dropped}.`]
    },
  ),

  'resume-webhooks': buildCommand(
    'Sends all events now that webhooks did not take.',
    z.object({ client: optionalClientId }),
    async (admin, { client }) => {
      const { resumed, disabled } = await resumeWebhooks(admin, client)
      return [
        `Webhooks that get what they did not take: ${resumed}.`,
        ...(disabled > 0 ? [`Disabled, until a test of their client succeeds: ${disabled}.`] : []),
      ]
    },
  ),

  'remove-webhook': buildCommand(
    'Removes a webhook of a client, with all that waits for it.',
    z.object({ client: clientId, webhook }),
    async (admin, { client, webhook }) => {
      await removeWebhook(admin, client, webhook)
      return [`Client ${client} no longer has the webhook ${webhook}.`]
    },
  ),
}

function webhookStatus({
  disabledAt,
  disabledReason,
  failingSince,
}: Pick<WebhookResponse, 'disabledAt' | 'disabledReason' | 'failingSince'>): string {
  if (disabledAt) return `disabled since ${Timestamp.encode(disabledAt)}: ${disabledReason}`
  return failingSince ? `failing since ${Timestamp.encode(failingSince)}` : 'active'
}

function describeFailure({ lastFailure }: WebhookResponse['delivery']): string {
  if (!lastFailure) return 'none'
  const { at, reason, status } = lastFailure
  return `${Timestamp.encode(at)}: ${reason}${status === null ? '' : ` ${status}`}`
}
