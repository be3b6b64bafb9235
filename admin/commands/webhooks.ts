import * as z from 'zod'
import { Timestamp } from '../../lib/codecs.ts'
import { EventTypes, NewWebhook, type WebhookResponse } from '../../lib/webhooks/responses.ts'
import { type Commands, clientId, columns, command, flag, ofClient, optionHelp, parts } from '../command.ts'
import {
  addWebhook,
  dropGivenUp,
  listGivenUp,
  listWebhooks,
  removeWebhook,
  resumeWebhooks,
} from '../operations/webhooks.ts'

const webhook = z.string().register(optionHelp, { value: 'id', meaning: 'The webhook, as in list-webhooks' })

/** The webhooks of clients, and what they did not take. */
export const WEBHOOK_COMMANDS: Commands = {
  'add-webhook': command(
    'Registers an endpoint that a client is told at what happens in its vaults. Its secret is printed this once.',
    z.object({
      client: clientId,
      url: NewWebhook.shape.url.register(optionHelp, { value: 'url', meaning: 'Where: https, on port 443' }),
      types: z
        .string()
        .transform(parts)
        .pipe(EventTypes)
        .optional()
        .register(optionHelp, { value: 'words', meaning: 'Of what, with commas between; of everything unless given' }),
      finality: NewWebhook.shape.finality.register(optionHelp, {
        value: 'word',
        meaning: 'final, or latest to be told before too; final unless given',
      }),
    }),
    async (admin, { client, ...rest }) => {
      const { webhook, secret } = await addWebhook(admin, client, rest)
      return [
        secret,
        '',
        `Webhook ${webhook.id} of client ${client}, which is told ${webhook.types ?? 'everything'} at ${webhook.url}.`,
        'Hand the secret over now: it will not be shown again.',
      ]
    },
  ),

  'list-webhooks': command(
    'Lists the webhooks of clients, and how they take what is sent.',
    z.object({ client: ofClient }),
    async (admin, { client }) =>
      columns(
        [
          'CLIENT',
          'WEBHOOK',
          'URL',
          'TYPES',
          'FINALITY',
          'CREATED',
          'STATUS',
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
            String(delivery.waiting),
            delivery.nextAttemptAt ? Timestamp.encode(delivery.nextAttemptAt) : 'none',
            String(delivery.givenUp.length + delivery.givenUpBefore),
            describeFailure(delivery),
          ],
        ),
      ),
  ),

  'list-given-up': command(
    'Lists the events that webhooks did not take ten times, the newest hundred of each webhook.',
    z.object({ client: ofClient }),
    async (admin, { client }) =>
      columns(
        ['CLIENT', 'WEBHOOK', 'SEQUENCE', 'TYPE', 'SINCE'],
        (await listGivenUp(admin, client)).map(({ clientId, webhookId, sequence, type, at }) => [
          clientId,
          webhookId,
          String(sequence),
          type ?? 'not in the log any more',
          Timestamp.encode(at),
        ]),
      ),
  ),

  'drop-given-up': command(
    'Has such events never sent again; the log of their client keeps them.',
    z.object({
      client: ofClient,
      webhook: webhook
        .optional()
        .register(optionHelp, { value: 'id', meaning: 'This webhook alone, as in list-webhooks' }),
      yes: flag('Do it; without it, how many these are is shown'),
    }),
    async (admin, { client, webhook, yes }) => {
      const dropped = await dropGivenUp(admin, { clientId: client, webhookId: webhook }, { isConfirmed: yes })
      return [`Events that are sent no more: ${dropped}.`]
    },
  ),

  'resume-webhooks': command(
    'Has everything sent again now that webhooks did not take.',
    z.object({ client: ofClient }),
    async (admin, { client }) => {
      const { resumed, disabled } = await resumeWebhooks(admin, client)
      return [
        `Webhooks that are sent now what they did not take: ${resumed}.`,
        ...(disabled > 0 ? [`Switched off, which only a test of theirs ends that succeeds: ${disabled}.`] : []),
      ]
    },
  ),

  'remove-webhook': command(
    'Removes a webhook of a client, with all that it was not told yet.',
    z.object({ client: clientId, webhook }),
    async (admin, { client, webhook }) => {
      await removeWebhook(admin, client, webhook)
      return [`Client ${client} has the webhook ${webhook} no longer.`]
    },
  ),
}

/** How a webhook takes what is sent, in words. */
function webhookStatus({
  disabledAt,
  disabledReason,
  failingSince,
}: Pick<WebhookResponse, 'disabledAt' | 'disabledReason' | 'failingSince'>): string {
  if (disabledAt) return `disabled since ${Timestamp.encode(disabledAt)}: ${disabledReason}`
  return failingSince ? `failing since ${Timestamp.encode(failingSince)}` : 'active'
}

/** Why a webhook last failed to take something, in words. */
function describeFailure({ lastFailure }: WebhookResponse['delivery']): string {
  if (!lastFailure) return 'none'
  const { at, reason, status } = lastFailure
  return `${Timestamp.encode(at)}: ${reason}${status === null ? '' : ` ${status}`}`
}
