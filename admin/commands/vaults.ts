import { formatUnits } from 'viem'
import * as z from 'zod'
import { Timestamp } from '../../lib/core/codecs.ts'
import type { SimulatedTrip } from '../../lib/protocols/round-trip.ts'
import type { Pin } from '../../lib/vaults/pin.ts'
import type { Vault } from '../../lib/vaults/vault.ts'
import {
  address,
  buildCommand,
  buildFlagSchema,
  buildTextSchema,
  type Commands,
  chain,
  clientId,
  formatColumns,
  optionHelp,
} from '../command.ts'
import { getClient } from '../operations/clients.ts'
import { type AcceptedFlaw, addVault, confirmVault, removeVault } from '../operations/vaults.ts'

/** Commands for the vaults of clients and their pins. A pin is the code and price of a vault that an operator confirmed. */
export const VAULT_COMMANDS: Commands = {
  'add-vault': buildCommand(
    'Reads a vault from its chain, simulates a deposit and a withdrawal, pins its code and price, and shows it to a client.',
    z.object({
      client: clientId,
      chain,
      address,
      name: buildTextSchema(100).optional().register(optionHelp, {
        value: 'text',
        meaning: "Name of the vault; the contract's own name unless given",
      }),
      description: buildTextSchema(1000).optional().register(optionHelp, { value: 'text', meaning: 'Description' }),
      logoUrl: z
        .url({ protocol: /^https$/, error: 'must be an https URL' })
        .max(500)
        .optional()
        .register(optionHelp, { value: 'url', meaning: 'Its logo' }),
      riskProfile: buildTextSchema(50).optional().register(optionHelp, { value: 'text', meaning: 'Risk of the vault' }),
      riskProtocol: buildTextSchema(50)
        .optional()
        .register(optionHelp, { value: 'text', meaning: 'Risk of its protocol' }),
      poolId: buildTextSchema(100)
        .optional()
        .register(optionHelp, { value: 'text', meaning: 'Its id in responses; <chain>-<address> unless given' }),
      acceptNoExit: buildFlagSchema('Add it although no withdrawal works'),
      acceptMixedUp: buildFlagSchema('Add it although it does not do what it reports'),
      acceptUntried: buildFlagSchema('Add it although its withdrawal could not be simulated'),
      acceptUnknownVersion: buildFlagSchema('Add it although its version of a known protocol is unknown'),
      firstBlock: z.coerce
        .number()
        .int()
        .nonnegative()
        .optional()
        .register(optionHelp, { value: 'number', meaning: 'First block of its past, if its node does not return it' }),
    }),
    async (admin, { client, chain, acceptNoExit, acceptMixedUp, acceptUntried, acceptUnknownVersion, ...rest }) => {
      const accepted: AcceptedFlaw[] = [
        ...(acceptNoExit ? ['accept-no-exit' as const] : []),
        ...(acceptMixedUp ? ['accept-mixed-up' as const] : []),
        ...(acceptUntried ? ['accept-untried' as const] : []),
        ...(acceptUnknownVersion ? ['accept-unknown-version' as const] : []),
      ]
      const { vault, version, before, pin, nodes, trip, flaws } = await addVault(admin, {
        ...{ clientId: client, chainId: chain, accepted },
        ...rest,
      })
      const pinned = before ?? pin
      return [
        ...vaultColumns([vault], [pinned]),
        '',
        ...(version ? [`Its version is ${version}.`, ''] : []),
        ...describeTrip(vault, trip),
        '',
        ...flaws.flatMap((flaw) => [`Accepted: ${flaw}.`, '']),
        `Pinned ${pinnedSince(pinned)}:`,
        ...pinColumns(pinned),
        '',
        ...(before
          ? [
              'Now:',
              ...pinColumns(pin, before),
              '',
              'The existing pin stays. If its code has changed since, or its price by a tenth, it takes no deposits until confirm-vault.',
              '',
            ]
          : []),
        ...describeReading(pin, nodes),
        `Client ${client} sees it within a minute.`,
      ]
    },
  ),

  'list-vaults': buildCommand(
    'Lists the vaults of a client.',
    z.object({ client: clientId }),
    async (admin, { client }) => {
      const { vaults } = (await getClient(admin, client)).client
      return vaultColumns(vaults, await admin.pinStore.get(vaults))
    },
  ),

  'confirm-vault': buildCommand(
    'Shows changes of a vault since it was pinned, and pins it again for all clients, so that it takes deposits.',
    z.object({
      chain,
      address,
      confirm: buildTextSchema(100).optional().register(optionHelp, {
        value: 'digest',
        meaning: 'Pin the state that was shown with this digest, if unchanged; without it, only shows the state',
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

  'remove-vault': buildCommand(
    'Removes a vault from a client. Users keep their deposits in it.',
    z.object({ client: clientId, chain, address }),
    async (admin, { client, chain, address }) => {
      const isLast = await removeVault(admin, { clientId: client, chainId: chain, address })
      return [
        `Client ${client} no longer has the vault ${address} on chain ${chain}, within a minute.`,
        ...(isLast ? ['No client has it: its past is read again when it is added. Its pin stays.'] : []),
      ]
    },
  ),
}

function vaultColumns(vaults: readonly Vault[], pins: readonly (Pin | undefined)[]): string[] {
  return formatColumns(
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

function describeTrip(
  { assetDecimals, assetSymbol }: Vault,
  { block, amount, measured, untried }: SimulatedTrip,
): string[] {
  const where = `at block ${block} with ${formatUnits(amount, assetDecimals)} ${assetSymbol}`
  if (!measured) {
    return [`The round trip could not be tried ${where}: ${untried}.`, 'Try a deposit and a withdrawal by hand.']
  }
  const { roundTrip, deposit, noDeposit, withdrawal } = measured
  const fee = (percent: string | null) => (percent === null ? 'not measured' : `${percent} %`)
  return [
    `Round trip, simulated ${where}:`,
    ...formatColumns(
      ['STEP', 'HOW', 'FUNCTION', 'FEE'],
      [
        ['deposit', roundTrip.entry, deposit ?? '', fee(roundTrip.entryFee)],
        ['withdrawal', roundTrip.exit, withdrawal ?? '', fee(roundTrip.exitFee)],
      ],
    ),
    ...(noDeposit === undefined ? [] : [`No deposit was tried: ${noDeposit}. The shares were made up.`]),
  ]
}

/** Warns if the vault is no proxy of a known kind, or if only one node returned its code and price. */
function describeReading({ code }: Pick<Pin, 'code'>, nodes: number): string[] {
  return [
    ...(code.length > 1 ? [] : ['It is not a proxy of a known kind: only its own code is pinned.', '']),
    ...(nodes > 1 ? [] : ['Only one node returned all this: no node of another host is configured.', '']),
  ]
}

/** Formats a vault's code addresses and price as rows. Marks values that differ from the confirmed ones in `before`. */
function pinColumns({ code, price }: Pick<Pin, 'code' | 'price'>, before?: Pin): string[] {
  const isPinned = (one: Pin['code'][number]) =>
    before?.code.some(({ role, of, address }) => role === one.role && of === one.of && address === one.address)
  const comparison = (isSame: boolean | undefined) => (before && !isSame ? 'changed' : '')
  return formatColumns(
    ['PART', 'WHAT', ''],
    [
      ...code.map((one) => [one.of ? `${one.role} (by ${one.of})` : one.role, one.address, comparison(isPinned(one))]),
      ['price of one share', price?.toString() ?? 'not told', comparison(price === before?.price)],
    ],
  )
}
