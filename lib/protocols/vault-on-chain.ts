import * as z from 'zod'
import { Erc4626Vault } from './erc4626/vault.ts'
import { LagoonVault } from './lagoon/vault.ts'

// Shares come only after a settlement, or at once.
const ASYNC = [LagoonVault] as const
const SYNC = [Erc4626Vault] as const

/** What the chain told of a vault when it was added, by its protocol: what is the same for every client that has it. */
export const VaultOnChain = z.discriminatedUnion('protocol', [...ASYNC, ...SYNC])
export type VaultOnChain = z.output<typeof VaultOnChain>

/** The word for a vault's protocol. */
export type ProtocolName = VaultOnChain['protocol']
/** The protocols of vaults whose shares come only after a settlement. */
export const ASYNC_PROTOCOLS: readonly ProtocolName[] = ASYNC.map(({ shape }) => shape.protocol.value)
/** All protocols. */
export const PROTOCOL_NAMES: readonly ProtocolName[] = VaultOnChain.options.map(({ shape }) => shape.protocol.value)

/** Whether a vault's shares come at once, or only after a settlement. */
export function vaultType({ protocol }: Pick<VaultOnChain, 'protocol'>): 'sync' | 'async' {
  return ASYNC_PROTOCOLS.includes(protocol) ? 'async' : 'sync'
}
