import { formatUnits } from 'viem'
import * as z from 'zod'
import { ApiKey, keyStatus } from '../../lib/clients/client.ts'
import { type KeyLimits, RateLimit, Scope } from '../../lib/clients/key-limits.ts'
import { Address, Amount, Timestamp } from '../../lib/core/codecs.ts'
import type { Vault } from '../../lib/vaults/vault.ts'
import {
  buildCommand,
  buildTextSchema,
  type Commands,
  chain,
  clientId,
  formatColumns,
  optionHelp,
  splitList,
} from '../command.ts'
import { createClient, getClient, issueKey, revokeKey, updateKeyLimits } from '../operations/clients.ts'

const apiKey = ApiKey.shape.keyId.register(optionHelp, { value: 'id', meaning: 'The key, as in list-keys' })

const lastDay = z.codec(z.iso.date('must be a date such as 2027-01-31'), z.date(), {
  decode: (day) => Timestamp.decode(`${day}T23:59:59.999Z`),
  encode: (moment) => Timestamp.encode(moment).slice(0, 10),
})

/**
 * Builds an option that limits an API key to a comma-separated list, for example of chains. The value `any` removes the
 * limit.
 */
const bound = <Part>(part: z.ZodType<Part, string>) =>
  z
    .string()
    .transform((text) => (text === 'any' ? null : splitList(text)))
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

const limitOptions = z.object({
  scopes: z
    .string()
    .transform(splitList)
    .pipe(z.array(Scope))
    .optional()
    .register(optionHelp, { value: 'words', meaning: `Scopes of the key, out of ${Scope.options}` }),
  rate: z
    .string()
    .regex(/^\d+\/\d+$/, 'must be requests and seconds such as 600/60')
    .transform((text) => text.split('/').map(Number))
    .transform(([requests = 0, seconds = 0]) => ({ requests, seconds }))
    .refine((rate) => RateLimit.safeParse(rate).success, 'must be 1 to 1000000 requests in 10 to 3600 seconds')
    .pipe(RateLimit)
    .optional()
    .register(optionHelp, { value: 'n/s', meaning: 'Requests per window in seconds, such as 600/60' }),
  chains: bound(chain).register(optionHelp, { value: 'ids', meaning: 'Its chains, such as 8453,42161; or any' }),
  vaults: bound(listedVault).register(optionHelp, { value: 'list', meaning: 'Its vaults, such as 8453:0x…; or any' }),
  largestDeposits: bound(listedDeposit).register(optionHelp, {
    value: 'list',
    meaning: 'Maximum deposit per asset in the smallest unit, such as 8453:0x…=1000000; or any',
  }),
})

/** Commands for clients, their keys and the keys' limits. */
export const CLIENT_COMMANDS: Commands = {
  'create-client': buildCommand(
    'Registers a client: an application that will call the service.',
    z.object({
      name: buildTextSchema(100).register(optionHelp, { value: 'text', meaning: 'Name of the client' }),
    }),
    async (admin, { name }) => {
      const client = await createClient(admin, name)
      return [`Created client ${client.clientId} (${client.name}).`, 'Next: issue-key and add-vault.']
    },
  ),

  'list-clients': buildCommand('Lists all clients.', z.object({}), async ({ clients }) =>
    formatColumns(
      ['CLIENT', 'NAME', 'CREATED'],
      (await clients.list()).map((client) => [client.clientId, client.name, client.createdAt.toISOString()]),
    ),
  ),

  'issue-key': buildCommand(
    'Issues an API key. The key is printed this once and stored nowhere.',
    z.object({
      client: clientId,
      name: buildTextSchema(100).register(optionHelp, { value: 'text', meaning: 'Name of the key' }),
      expires: lastDay
        .optional()
        .register(optionHelp, { value: 'date', meaning: 'Last day (UTC) of the key, such as 2027-01-31' }),
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

  'list-keys': buildCommand(
    'Lists the API keys of a client.',
    z.object({ client: clientId }),
    async (admin, { client }) => {
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
        ...formatColumns(['KEY', 'NAME', 'ENDS WITH', 'CREATED', 'EXPIRES', 'STATUS'], rows),
        ...keys.flatMap(({ keyId, limits }) => ['', `Key ${keyId}:`, ...describeLimits(limits, vaults)]),
      ]
    },
  ),

  'limit-key': buildCommand(
    'Changes the limits of an API key within a minute. Limits that you do not name stay.',
    z.object({ client: clientId, key: apiKey, ...limitOptions.shape }),
    async (admin, { client, key, ...changes }) => {
      const { vaults } = (await getClient(admin, client)).client
      const { limits } = await updateKeyLimits(admin, { clientId: client, keyId: key, changes })
      return [
        `Key ${key} of client ${client}, within a minute:`,
        ...describeLimits(limits, vaults),
        ...warnOfLimits(limits, vaults),
      ]
    },
  ),

  'revoke-key': buildCommand(
    'Revokes an API key for ever; it stops working within a minute.',
    z.object({ client: clientId, key: apiKey }),
    async (admin, { client, key }) => {
      const { name, lastFour } = await revokeKey(admin, client, key)
      return [`Revoked key ${key} (${name}, …${lastFour}). It stops working within a minute.`]
    },
  ),
}

function describeLimits(
  { scopes, rate, chains, vaults, largestDeposits }: KeyLimits,
  ofClient: readonly Vault[],
): string[] {
  const listed = vaults?.map(({ chainId, address }) => `${chainId}:${address}`)
  const largest = largestDeposits?.map(({ chainId, asset, amount }) => {
    const vault = ofClient.find((vault) => vault.chainId === chainId && vault.asset === asset)
    const inWords = vault ? `${formatUnits(amount, vault.assetDecimals)} ${vault.assetSymbol}` : 'smallest unit'
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

/** Warns if an API key is limited to vaults that the client does not have, or to chains on which the client has no vault. */
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
