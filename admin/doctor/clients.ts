import { type ApiKey, keyStatus } from '../../lib/clients/client.ts'
import { DAY } from '../../lib/core/time.ts'
import type { Pin } from '../../lib/vaults/pin.ts'
import type { VaultKey } from '../../lib/vaults/vault.ts'
import { type Finding, formatCount, joinFirstNames } from './finding.ts'

/** Client with its API keys. */
export type ClientKeys = { readonly clientId: string; readonly name: string; readonly keys: readonly ApiKey[] }

type Command = (text: string) => string

/** Remaining lifetime of an API key in milliseconds, below which `doctor` warns. */
const NOTICE_MS = 14 * DAY * 1000

/** Checks that at least one client has an active API key, and warns if keys expire soon. `now` is in epoch milliseconds. */
export function checkClients(clients: readonly ClientKeys[], now: number, command: Command): Finding[] {
  const active = clients.flatMap(({ clientId, keys }) =>
    keys.filter((key) => keyStatus(key, now) === 'active').map((key) => ({ clientId, key })),
  )
  const ending = active.filter(({ key }) => key.expiresAt && key.expiresAt.getTime() - now < NOTICE_MS)
  const [first] = clients
  const [firstEnding] = ending
  if (!first) {
    return [{ mark: 'FAIL', name: 'clients', result: 'there is none', remedy: command('create-client --name <text>') }]
  }
  if (active.length === 0) {
    const result = `no active key, of ${formatCount(clients.length, 'client')}`
    return [{ mark: 'FAIL', name: 'clients', result, remedy: issueKey(command, first.clientId) }]
  }
  const result = `${formatCount(clients.length, 'client')}, ${formatCount(active.length, 'active key')}`
  if (!firstEnding) return [{ mark: 'ok', name: 'clients', result }]
  const described = ending.map(
    ({ clientId, key }) => `${key.keyId} of client ${clientId} on ${key.expiresAt?.toISOString().slice(0, 10)}`,
  )
  return [
    { mark: 'ok', name: 'clients', result },
    {
      mark: 'WARN',
      name: 'keys that end',
      result: joinFirstNames(described),
      remedy: issueKey(command, firstEnding.clientId),
    },
  ]
}

function issueKey(command: Command, clientId: string): string {
  return command(`issue-key --client ${clientId} --name <text>`)
}

/**
 * Checks that there are vaults, and that an operator confirmed each vault's current code and price. `pins` has the confirmed values of each
 * vault, in the order of `vaults`.
 */
export function checkVaults(
  vaults: readonly VaultKey[],
  pins: readonly (Pin | undefined)[],
  command: Command,
): Finding[] {
  if (vaults.length === 0) {
    const remedy = command('add-vault --client <id> --chain <id> --address 0x…')
    return [{ mark: 'FAIL', name: 'vaults', result: 'no client has one', remedy }]
  }
  const chains = new Set(vaults.map(({ chainId }) => chainId))
  const warn = (name: string, concerned: readonly VaultKey[]): Finding[] => {
    const [first] = concerned
    if (!first) return []
    const result = joinFirstNames(concerned.map(({ chainId, address }) => `${chainId}:${address}`))
    const remedy = command(`confirm-vault --chain ${first.chainId} --address ${first.address}`)
    return [{ mark: 'WARN', name, result, remedy }]
  }
  return [
    {
      mark: 'ok',
      name: 'vaults',
      result: `${formatCount(vaults.length, 'vault')} on ${formatCount(chains.size, 'chain')}`,
    },
    ...warn(
      'vaults not pinned',
      vaults.filter((_, index) => !pins[index]),
    ),
    ...warn(
      'vaults that changed',
      vaults.filter((_, index) => pins[index]?.changedAt),
    ),
  ]
}
