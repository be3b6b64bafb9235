import { formatUnits, parseUnits } from 'viem'
import * as z from 'zod'
import { TABLE_KEYS } from '../infra/tables.ts'
import { Email, KycStatus } from '../lib/accounts/user.ts'
import { ChainIdText } from '../lib/chain/registry.ts'
import { ApiKey, Client, keyStatus } from '../lib/clients/client.ts'
import { type KeyLimits, Rate, Scope } from '../lib/clients/key-limits.ts'
import { Address, Amount, Timestamp, TransactionHash } from '../lib/codecs.ts'
import { EdgeKeyHash } from '../lib/frame/edge.ts'
import { keyIdOf } from '../lib/signing/keys.ts'
import type { Pin } from '../lib/vaults/pin.ts'
import type { Vault } from '../lib/vaults/vault.ts'
import { EventTypes, NewWebhook, type WebhookResponse } from '../lib/webhooks/responses.ts'
import { checkNodes } from './check-nodes.ts'
import { HIDDEN_SECONDS, MOST_LISTED } from './dead-letters.ts'
import { runDoctor } from './doctor.ts'
import {
  type Admin,
  addEdgeKey,
  addSigningKey,
  addVault,
  addWebhook,
  confirmVault,
  createClient,
  decideUser,
  dropDeadLetters,
  dropGivenUp,
  endUserSessions,
  forgetTransfer,
  getClient,
  getUser,
  issueKey,
  limitKey,
  listGivenUp,
  listWebhooks,
  rebuildRecords,
  relistVaults,
  removeEdgeKey,
  removeSigningKey,
  removeUser,
  removeVault,
  removeWebhook,
  resumeWebhooks,
  revokeKey,
  useSigningKey,
} from './operations.ts'

/** Decimals of a millionth of a dollar. */
const MICRO = 6

/** One thing that an operator can ask for. */
export type Command = {
  readonly summary: string
  /** Its options, by their names in camel case. */
  readonly options: z.ZodObject
  /** Parses the options' values, or throws a ZodError, and gives the work itself, which returns the lines to print. */
  readonly prepare: (values: Readonly<Record<string, unknown>>) => (admin: Admin) => Promise<string[]>
}

/** What the help says of an option: a word for its value, without which it is a flag, and its meaning. */
export const optionHelp = z.registry<{ value?: string; meaning: string }>()

const text = (longest: number) => z.string().trim().min(1, 'must not be empty').max(longest)

const clientId = Client.shape.clientId.register(optionHelp, { value: 'id', meaning: 'The client, as in list-clients' })
const apiKey = ApiKey.shape.keyId.register(optionHelp, { value: 'id', meaning: 'The key, as in list-keys' })
const chain = z
  .string()
  .regex(/^\d+$/, 'must be a chain id such as 8453')
  .pipe(ChainIdText)
  .register(optionHelp, { value: 'id', meaning: 'The chain id, such as 8453' })
const address = Address.register(optionHelp, { value: '0x…', meaning: 'The vault contract' })
const lastDay = z.codec(z.iso.date('must be a date such as 2027-01-31'), z.date(), {
  decode: (day) => Timestamp.decode(`${day}T23:59:59.999Z`),
  encode: (moment) => Timestamp.encode(moment).slice(0, 10),
})

/** Dollars with at most six decimals, in millionths. */
const microDollars = z.codec(
  z.string().regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be dollars such as 12.50'),
  z.number().int().nonnegative(),
  {
    decode: (text) => Number(parseUnits(text, MICRO)),
    encode: (micro) => formatUnits(BigInt(micro), MICRO),
  },
)

const parts = (text: string) => text.split(',').map((part) => part.trim())

/** A list with commas that bounds a key, or `any`, which bounds it no more. */
const bound = <Part>(part: z.ZodType<Part, string>) =>
  z
    .string()
    .transform((text) => (text === 'any' ? null : parts(text)))
    .pipe(z.array(part).max(100).nullable())
    .optional()

const listedVault = z
  .string()
  .regex(/^\d+:0x\w+$/, 'must be a chain and an address such as 8453:0x…')
  .transform((text) => text.split(':'))
  .pipe(z.tuple([chain, Address]))
  .transform(([chainId, address]) => ({ chainId, address }))

const listedDeposit = z
  .string()
  .regex(/^\d+:0x\w+=\d+$/, 'must be a chain, an asset and an amount such as 8453:0x…=1000')
  .transform((text) => text.split(/[:=]/))
  .pipe(z.tuple([chain, Address, Amount]))
  .transform(([chainId, asset, amount]) => ({ chainId, asset, amount }))

/** What a key may do, as an operator writes it. */
const limitOptions = z.object({
  scopes: z
    .string()
    .transform(parts)
    .pipe(z.array(Scope))
    .optional()
    .register(optionHelp, { value: 'words', meaning: `What it opens, of ${Scope.options}` }),
  rate: z
    .string()
    .regex(/^\d+\/\d+$/, 'must be requests and seconds such as 600/60')
    .transform((text) => text.split('/').map(Number))
    .transform(([requests = 0, seconds = 0]) => ({ requests, seconds }))
    .refine((rate) => Rate.safeParse(rate).success, 'must be 1 to 1000000 requests in 10 to 3600 seconds')
    .pipe(Rate)
    .optional()
    .register(optionHelp, { value: 'n/s', meaning: 'Requests in each window of so many seconds, such as 600/60' }),
  chains: bound(chain).register(optionHelp, { value: 'ids', meaning: 'Its chains, such as 8453,42161; or any' }),
  vaults: bound(listedVault).register(optionHelp, { value: 'list', meaning: 'Its vaults, such as 8453:0x…; or any' }),
  largestDeposits: bound(listedDeposit).register(optionHelp, {
    value: 'list',
    meaning: 'Its assets with the most of each in one deposit, in the smallest unit, such as 8453:0x…=1000000; or any',
  }),
})

const webhook = z.string().register(optionHelp, { value: 'id', meaning: 'The webhook, as in list-webhooks' })

const ofClient = Client.shape.clientId
  .optional()
  .register(optionHelp, { value: 'id', meaning: 'Of this client alone, as in list-clients' })

const signingKey = z.string().register(optionHelp, { value: 'id', meaning: 'The key, as in list-signing-keys' })

const userOptions = z.object({
  client: clientId,
  email: Email.register(optionHelp, { value: 'address', meaning: 'The e-mail address of the user' }),
})

/** All commands by name. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  doctor: command(
    'Looks at all that the service rests on, and says what to do; ends with 1 where something FAILs. It changes nothing.',
    z.object({
      stages: text(1000)
        .optional()
        .register(optionHelp, { value: 'file', meaning: 'Your file of stages; stages.json unless given' }),
    }),
    (admin, { stages }) => runDoctor(admin, stages),
  ),

  'restore-items': command(
    'Puts back what a table has lost, from a table that AWS has restored to a moment before.',
    z.object({
      table: z
        .enum(TABLE_KEYS)
        .register(optionHelp, { value: 'word', meaning: `The table that lacks it: ${TABLE_KEYS}` }),
      from: text(255).register(optionHelp, { value: 'name', meaning: 'The name of the restored table' }),
      partition: text(2048)
        .optional()
        .register(optionHelp, { value: 'text', meaning: 'Partitions alone whose keys begin so, such as CLIENT#<id>' }),
      replace: z
        .boolean()
        .default(false)
        .register(optionHelp, { meaning: 'Also what is there and differs becomes what it was' }),
      yes: z
        .boolean()
        .default(false)
        .register(optionHelp, { meaning: 'Do it; without it, what would come back is counted' }),
    }),
    async (admin, { table, from, partition, replace, yes }) => {
      const wanted = { table, from, partition, isReplaced: replace, isConfirmed: yes }
      const { items, missing, different } = await admin.restoreItems(wanted)
      // The jobs find vaults by their chains, which a client's own partition does not hold.
      if (table === 'clients' && yes) await relistVaults(admin)
      const [lacking, differing] = yes
        ? ['put back', replace ? 'replaced' : 'left as they are']
        : ['missing', 'different']
      return [
        `Of ${items} items of ${from}: ${missing} ${lacking}, ${different} ${differing}.`,
        ...(yes
          ? []
          : ['Nothing was written. With --yes what is missing comes back, and with --replace what differs.']),
      ]
    },
  ),

  'create-client': command(
    'Registers a client: an application that will call the service.',
    z.object({
      name: text(100).register(optionHelp, { value: 'text', meaning: 'What to call the client' }),
    }),
    async (admin, { name }) => {
      const client = await createClient(admin, name)
      return [`Created client ${client.clientId} (${client.name}).`, 'Next: issue-key and add-vault.']
    },
  ),

  'list-clients': command('Lists all clients.', z.object({}), async ({ clients }) =>
    columns(
      ['CLIENT', 'NAME', 'CREATED'],
      (await clients.list()).map((client) => [client.clientId, client.name, client.createdAt.toISOString()]),
    ),
  ),

  'issue-key': command(
    'Issues an API key. The key is printed this once and stored nowhere.',
    z.object({
      client: clientId,
      name: text(100).register(optionHelp, { value: 'text', meaning: 'What to call the key' }),
      expires: lastDay
        .optional()
        .register(optionHelp, { value: 'date', meaning: 'The last day (UTC) on which it works, such as 2027-01-31' }),
      ...limitOptions.shape,
    }),
    async (admin, { client, name, expires, ...limits }) => {
      const issued = await issueKey(admin, { clientId: client, name, expiresAt: expires, limits })
      const { vaults } = (await getClient(admin, client)).client
      return [
        issued.text,
        '',
        `Key ${issued.key.keyId} (${name}) of client ${client}; ${expires ? `expires ${expires.toISOString()}` : 'does not expire'}.`,
        ...describeLimits(issued.key.limits, vaults),
        ...warnOfLimits(issued.key.limits, vaults),
        'Hand it over now: it will not be shown again.',
      ]
    },
  ),

  'list-keys': command('Lists the API keys of a client.', z.object({ client: clientId }), async (admin, { client }) => {
    const {
      keys,
      client: { vaults },
    } = await getClient(admin, client)
    const rows = keys.map((key) => [
      key.keyId,
      key.name,
      `…${key.lastFour}`,
      key.createdAt.toISOString(),
      key.expiresAt?.toISOString() ?? 'never',
      keyStatus(key, admin.now()),
    ])
    return [
      ...columns(['KEY', 'NAME', 'ENDS WITH', 'CREATED', 'EXPIRES', 'STATUS'], rows),
      ...keys.flatMap(({ keyId, limits }) => ['', `Key ${keyId}:`, ...describeLimits(limits, vaults)]),
    ]
  }),

  'limit-key': command(
    'Changes what an API key may do, within a minute; what is not named stays as it is.',
    z.object({ client: clientId, key: apiKey, ...limitOptions.shape }),
    async (admin, { client, key, ...changes }) => {
      const { vaults } = (await getClient(admin, client)).client
      const { limits } = await limitKey(admin, { clientId: client, keyId: key, changes })
      return [
        `Key ${key} of client ${client}, within a minute:`,
        ...describeLimits(limits, vaults),
        ...warnOfLimits(limits, vaults),
      ]
    },
  ),

  'revoke-key': command(
    'Revokes an API key for ever; it stops working within a minute.',
    z.object({ client: clientId, key: apiKey }),
    async (admin, { client, key }) => {
      const { name, lastFour } = await revokeKey(admin, client, key)
      return [`Revoked key ${key} (${name}, …${lastFour}). It stops working within a minute.`]
    },
  ),

  'add-vault': command(
    'Reads a vault from its chain, pins its code and price, and shows it to a client.',
    z.object({
      client: clientId,
      chain,
      address,
      name: text(100).optional().register(optionHelp, {
        value: 'text',
        meaning: "What to call the vault; the contract's own name unless given",
      }),
      description: text(1000).optional().register(optionHelp, { value: 'text', meaning: 'What to say of it' }),
      logoUrl: z
        .url({ protocol: /^https$/, error: 'must be an https URL' })
        .max(500)
        .optional()
        .register(optionHelp, { value: 'url', meaning: 'Its logo' }),
      riskProfile: text(50).optional().register(optionHelp, { value: 'text', meaning: 'How risky it is' }),
      riskProtocol: text(50).optional().register(optionHelp, { value: 'text', meaning: 'How risky its protocol is' }),
      poolId: text(100)
        .optional()
        .register(optionHelp, { value: 'text', meaning: 'Its id in answers; <chain>-<address> unless given' }),
      firstBlock: z.coerce
        .number()
        .int()
        .nonnegative()
        .optional()
        .register(optionHelp, { value: 'number', meaning: 'Where its past starts, if its node does not tell' }),
    }),
    async (admin, { client, chain, ...rest }) => {
      const { vault, version, before, pin, nodes } = await addVault(admin, {
        ...{ clientId: client, chainId: chain },
        ...rest,
      })
      const pinned = before ?? pin
      return [
        ...vaultColumns([vault], [pinned]),
        '',
        ...(version ? [`Its version is ${version}.`, ''] : []),
        `Pinned ${pinnedSince(pinned)}:`,
        ...pinColumns(pinned),
        '',
        ...(before
          ? [
              'Now:',
              ...pinColumns(pin, before),
              '',
              'It was pinned before, and stays so: of other code, or at a price a tenth from it, it takes no deposits until confirm-vault.',
              '',
            ]
          : []),
        ...describeReading(pin, nodes),
        `Client ${client} sees it within a minute.`,
      ]
    },
  ),

  'list-vaults': command('Lists the vaults of a client.', z.object({ client: clientId }), async (admin, { client }) => {
    const { vaults } = (await getClient(admin, client)).client
    return vaultColumns(vaults, await admin.pinStore.get(vaults))
  }),

  'relist-vaults': command(
    'Has the jobs look after each vault of a client, where the table was changed by other means than these commands.',
    z.object({}),
    async (admin) => [`Vaults of clients that the jobs did not look after and do now: ${await relistVaults(admin)}.`],
  ),

  'confirm-vault': command(
    'Shows what of a vault has changed since it was pinned, and pins it anew, so that deposits go on; for all clients.',
    z.object({
      chain,
      address,
      confirm: text(100).optional().register(optionHelp, {
        value: 'digest',
        meaning: 'Pin what was shown with this digest, if it is there still; without it, what would be pinned is shown',
      }),
    }),
    async (admin, { chain, address, confirm: shown }) => {
      const { before, pin, nodes, digest } = await confirmVault(admin, { chainId: chain, address }, { shown })
      return [
        ...(before
          ? [`Pinned ${pinnedSince(before)}:`, ...pinColumns(before)]
          : ['Nothing of it is pinned: deposits go on whatever becomes of it.']),
        '',
        'Now:',
        ...pinColumns(pin, before),
        '',
        ...describeReading(pin, nodes),
        shown ? 'Pinned as it is now: deposits go on.' : `Nothing is done. Add --confirm ${digest} to pin this.`,
      ]
    },
  ),

  'remove-vault': command(
    'Takes a vault from a client; deposits that users made in it stay theirs.',
    z.object({ client: clientId, chain, address }),
    async (admin, { client, chain, address }) => {
      const isForgotten = await removeVault(admin, { clientId: client, chainId: chain, address })
      return [
        `Client ${client} no longer has the vault ${address} on chain ${chain}, within a minute.`,
        ...(isForgotten
          ? ['No client has it: its records are forgotten, and its past is read again when it is added. Its pin stays.']
          : []),
      ]
    },
  ),

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
      yes: z
        .boolean()
        .default(false)
        .register(optionHelp, { meaning: 'Do it; without it, how many these are is shown' }),
    }),
    async (admin, { client, webhook, yes }) => {
      const dropped = await dropGivenUp(admin, { clientId: client, webhookId: webhook }, { isConfirmed: yes })
      return [`Events that are sent no more: ${dropped}.`]
    },
  ),

  'list-dead-letters': command(
    `Lists the messages that functions could not work on, ${MOST_LISTED} of each queue; hides them for ${HIDDEN_SECONDS} seconds.`,
    z.object({}),
    async ({ deadLetters }) => {
      const listed = await deadLetters.list()
      const rows = listed.flatMap(({ queue, letters }) =>
        letters.map(({ sentAt, body }) => [queue, Timestamp.encode(sentAt), body]),
      )
      return [
        ...columns(['QUEUE', 'SENT', 'MESSAGE'], rows),
        '',
        ...listed.map(({ queue, count, letters }) => `Listed of ${queue}: ${letters.length}, of about ${count}.`),
      ]
    },
  ),

  'drop-dead-letters': command(
    'Deletes the messages of a queue that functions could not work on, which takes a minute. There is no way back.',
    z.object({
      queue: text(80).register(optionHelp, { value: 'name', meaning: 'The queue, as in list-dead-letters' }),
      yes: z
        .boolean()
        .default(false)
        .register(optionHelp, { meaning: 'Do it; without it, how many these are is shown' }),
    }),
    async (admin, { queue, yes }) => [await dropDeadLetters(admin, { queue, isConfirmed: yes })],
  ),

  'redrive-dead-letters': command('Redrives the dead-letter queues.', z.object({}), async ({ deadLetters }) =>
    (await deadLetters.redrive()).map(
      ({ queue, moved, left, problem = 'done' }) =>
        `Messages of ${queue} that are worked on again: about ${moved}; left: about ${left}; ${problem}.`,
    ),
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

  'add-signing-key': command(
    'Makes a key that signs answers: at once where there is none, else when use-signing-key says so.',
    z.object({}),
    async (admin) => {
      const { keyId, x, signs } = await addSigningKey(admin)
      return [
        JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x, kid: keyId }),
        '',
        signs
          ? `Key ${keyId} signs answers within five minutes.`
          : `Key ${keyId} is published. Next: give it to those who pin keys, and then use-signing-key.`,
      ]
    },
  ),

  'list-signing-keys': command('Lists the keys that sign answers.', z.object({}), async ({ signingKeys }) =>
    columns(
      ['KEY', 'CREATED', 'STATUS'],
      (await signingKeys.read()).map((key, index) => [
        keyIdOf(key),
        Timestamp.encode(key.createdAt),
        index === 0 ? 'signs' : 'published',
      ]),
    ),
  ),

  'use-signing-key': command(
    'Signs answers with this key from now on; the one before stays published.',
    z.object({ key: signingKey }),
    async (admin, { key }) => {
      await useSigningKey(admin, key)
      return [
        `Key ${key} signs answers within five minutes.`,
        'Next: remove-signing-key, when nobody verifies answers of the other one any more.',
      ]
    },
  ),

  'remove-signing-key': command(
    'Forgets a key that does not sign; who looks keys up refuses what it signed.',
    z.object({ key: signingKey }),
    async (admin, { key }) => {
      await removeSigningKey(admin, key)
      return [`Key ${key} is gone, within ten minutes.`]
    },
  ),

  'add-edge-key': command(
    'Makes a key by which functions know what comes through CloudFront, and prints its hash for stages.json.',
    z.object({}),
    async (admin) => {
      const hash = await addEdgeKey(admin)
      return [hash, '', 'Next: put it into edge.keys of the stage, behind one that is there, and deploy.']
    },
  ),

  'remove-edge-key': command(
    'Forgets a key of the edge that stages.json does not name any more.',
    z.object({ key: EdgeKeyHash.register(optionHelp, { value: 'hash', meaning: 'The key, as add-edge-key told it' }) }),
    async (admin, { key }) => {
      await removeEdgeKey(admin, key)
      return [`Key ${key} is gone.`]
    },
  ),

  'check-nodes': command(
    'Asks the nodes of the EVM chains what they take, and says what will not work with them. Solana is not asked.',
    z.object({ chain: chain.optional().register(optionHelp, { value: 'id', meaning: 'This chain alone' }) }),
    async ({ nodes }, { chain }) => checkNodes(nodes, chain === undefined ? undefined : [chain]),
  ),

  rebuild: command(
    "Reads a vault's past again and puts it in the place of its records, while the service answers.",
    z.object({ chain, vault: address }),
    async (admin, { chain, vault }) => [await rebuildRecords(admin, { chainId: chain, address: vault })],
  ),

  'set-user': command(
    'Sets how far the check of a user is, and what is left of the network fees that are paid for the user.',
    userOptions.extend({
      kyc: KycStatus.optional().register(optionHelp, { value: 'status', meaning: KycStatus.options.join(', ') }),
      smartGasUsd: microDollars
        .optional()
        .register(optionHelp, { value: 'dollars', meaning: 'What is left for fees, such as 12.50' }),
    }),
    async (admin, { client, email, kyc, smartGasUsd }) => {
      const user = await decideUser(admin, { clientId: client, email }, { kyc, smartGas: smartGasUsd })
      const gas = microDollars.encode(user.smartGas ?? 0)
      return [`User ${email} of client ${client}: kyc ${user.kyc ?? 'none'}, ${gas} dollars left for fees.`]
    },
  ),

  'list-sessions': command(
    'Lists the sessions of a user that have not ended, and the credentials that open new ones.',
    userOptions,
    async (admin, { client, email }) => {
      const { sessions, credentials } = await getUser(admin, { clientId: client, email })
      const live = Object.entries(sessions).filter(([, { expiresAt }]) => expiresAt.getTime() > admin.now())
      return [
        ...columns(
          ['SESSION', 'PLATFORM', 'SINCE', 'UNTIL'],
          live.map(([id, { platform = '', createdAt, expiresAt }]) => [
            id,
            platform,
            Timestamp.encode(createdAt),
            Timestamp.encode(expiresAt),
          ]),
        ),
        '',
        ...columns(
          ['CREDENTIAL', 'FACTOR', 'NAME', 'SINCE', 'LAST USED'],
          Object.values(credentials).map(({ kind, factor, name = '', createdAt, lastUsedAt }) => {
            const used = lastUsedAt ? Timestamp.encode(lastUsedAt) : 'never'
            return [kind, factor, name, Timestamp.encode(createdAt), used]
          }),
        ),
      ]
    },
  ),

  'end-sessions': command(
    'Ends all sessions of a user, or one of them.',
    userOptions.extend({
      session: text(100)
        .optional()
        .register(optionHelp, { value: 'id', meaning: 'This session alone, as in list-sessions' }),
    }),
    async (admin, { client, email, session }) => {
      const ended = await endUserSessions(admin, { clientId: client, email }, session)
      if (session !== undefined) return [`Session ${session} of user ${email} of client ${client} is ended.`]
      return [`User ${email} of client ${client} is logged out everywhere; sessions ended: ${ended}.`]
    },
  ),

  'delete-user': command(
    'Deletes a user with all credentials, sessions and wallet links. There is no way back.',
    userOptions.extend({
      yes: z.boolean().default(false).register(optionHelp, { meaning: 'Delete; without it, who it would be is shown' }),
    }),
    async (admin, { client, email, yes }) => {
      await removeUser(admin, { clientId: client, email }, { isConfirmed: yes })
      return [`User ${email} of client ${client} is deleted.`]
    },
  ),

  'forget-transfer': command(
    'Forgets what is recorded of a deposit from another chain, its last answer too, so that it is looked at again.',
    z.object({
      chain,
      tx: TransactionHash.register(optionHelp, { value: '0x…', meaning: 'The source transaction' }),
      index: z.coerce.number().int().min(0).max(49).default(0).register(optionHelp, {
        value: 'number',
        meaning: 'Which deposit of the transaction, from 0; the first unless given',
      }),
    }),
    async (admin, { chain, tx, index }) => {
      await forgetTransfer(admin, { sourceChainId: chain, transactionHash: tx, index })
      return [`Deposit ${index} of ${tx} on chain ${chain} is forgotten; the next question looks at it again.`]
    },
  ),
}

function command<Options extends z.ZodObject>(
  summary: string,
  options: Options,
  run: (admin: Admin, values: z.output<Options>) => Promise<string[]>,
): Command {
  return {
    summary,
    options,
    prepare: (values) => {
      const parsed = options.parse(values)
      return (admin) => run(admin, parsed)
    },
  }
}

/** A key's limits, a line for each. */
function describeLimits(
  { scopes, rate, chains, vaults, largestDeposits }: KeyLimits,
  ofClient: readonly Vault[],
): string[] {
  const listed = vaults?.map(({ chainId, address }) => `${chainId}:${address}`)
  const largest = largestDeposits?.map(({ chainId, asset, amount }) => {
    const known = ofClient.find((vault) => vault.chainId === chainId && vault.asset === asset)
    const inWords = known ? `${formatUnits(amount, known.assetDecimals)} ${known.assetSymbol}` : 'smallest unit'
    return `${chainId}:${asset}=${amount} (${inWords})`
  })
  return [
    `  scopes: ${scopes}`,
    `  rate: ${rate.requests}/${rate.seconds}`,
    `  chains: ${chains ?? 'any'}`,
    `  vaults: ${listed ?? 'any'}`,
    `  largest deposits: ${largest ?? 'any'}`,
  ]
}

/** What of a key's limits opens nothing, as long as the client has no other vaults. */
function warnOfLimits(limits: KeyLimits, ofClient: readonly Vault[]): string[] {
  const missing = limits.vaults?.filter(
    ({ chainId, address }) => !ofClient.some((vault) => vault.chainId === chainId && vault.address === address),
  )
  const empty = limits.chains?.filter((chainId) => !ofClient.some((vault) => vault.chainId === chainId))
  return [
    ...(missing ?? []).map(
      ({ chainId, address }) =>
        `Warning: the client has no vault ${chainId}:${address}. See list-vaults and add-vault.`,
    ),
    ...(empty ?? []).map(
      (chainId) =>
        `Warning: the client has no vault on chain ${chainId}: it is good only for deposits from there to other chains.`,
    ),
  ]
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

/** Vaults with their pins, in the same order. */
function vaultColumns(vaults: readonly Vault[], pins: readonly (Pin | undefined)[]): string[] {
  return columns(
    ['CHAIN', 'ADDRESS', 'PROTOCOL', 'ASSET', 'NAME', 'POOL ID', 'PINNED'],
    vaults.map(({ chainId, address, protocol, assetSymbol, name, poolId }, index) => [
      String(chainId),
      address,
      protocol,
      assetSymbol,
      name,
      poolId,
      pinnedSince(pins[index]),
    ]),
  )
}

function pinnedSince(pin: Pin | undefined): string {
  if (!pin) return 'no'
  const since = `since ${Timestamp.encode(pin.pinnedAt)}`
  return pin.changedAt ? `${since}, changed ${Timestamp.encode(pin.changedAt)}` : since
}

/** What an operator must know of how a vault was read. */
function describeReading({ code }: Pick<Pin, 'code'>, nodes: number): string[] {
  return [
    ...(code.length > 1 ? [] : ['It is no proxy of a known kind: its own code alone is pinned.', '']),
    ...(nodes > 1 ? [] : ['One node alone told all this: no node of another host is configured.', '']),
  ]
}

/** What is pinned, each with whether it was so before. */
function pinColumns({ code, price }: Pick<Pin, 'code' | 'price'>, before?: Pin): string[] {
  const isPinned = (one: Pin['code'][number]) =>
    before?.code.some(
      ({ role, of, address, codeHash }) =>
        role === one.role && of === one.of && address === one.address && codeHash === one.codeHash,
    )
  const comparison = (isSame: boolean | undefined) => (before && !isSame ? 'changed' : '')
  return columns(
    ['PART', 'WHAT', 'HASH OF CODE', ''],
    [
      ...code.map((one) => [
        one.of ? `${one.role} (by ${one.of})` : one.role,
        one.address,
        one.codeHash,
        comparison(isPinned(one)),
      ]),
      ['price of one share', price?.toString() ?? 'not told', '', comparison(price === before?.price)],
    ],
  )
}

/** Rows under their headings, or a word that there are none. */
function columns(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['None.']
  const table = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
