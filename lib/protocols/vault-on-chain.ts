import * as z from 'zod'
import { Erc4626Vault } from './erc4626/vault.ts'
import { Erc7540Vault } from './erc7540/vault.ts'
import { LagoonVault } from './lagoon/vault.ts'

// Shares may come only after a settlement, or come at once.
const ASYNC = [LagoonVault, Erc7540Vault] as const
const SYNC = [Erc4626Vault] as const

/** What the chain told of a vault when it was added, by its protocol: what is the same for every client that has it. */
export const VaultOnChain = z.discriminatedUnion('protocol', [...ASYNC, ...SYNC])
export type VaultOnChain = z.output<typeof VaultOnChain>

/** The word for a vault's protocol. */
export type ProtocolName = VaultOnChain['protocol']
/** The protocols of vaults whose shares may come only after a settlement. */
export const ASYNC_PROTOCOLS: readonly ProtocolName[] = ASYNC.map(({ shape }) => shape.protocol.value)
/** All protocols. */
export const PROTOCOL_NAMES: readonly ProtocolName[] = VaultOnChain.options.map(({ shape }) => shape.protocol.value)

/** Whether a vault's shares come at once, or only after a settlement. */
export function vaultType(vault: VaultOnChain): 'sync' | 'async' {
  if ('isDepositAsync' in vault) return vault.isDepositAsync ? 'async' : 'sync'
  return ASYNC_PROTOCOLS.includes(vault.protocol) ? 'async' : 'sync'
}
