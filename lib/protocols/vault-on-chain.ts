import * as z from 'zod'
import { CooldownVault } from './cooldown/vault.ts'
import { Erc4626Vault } from './erc4626/vault.ts'
import { Erc7540Vault } from './erc7540/vault.ts'
import { LagoonVault } from './lagoon/vault.ts'
import type { RequestKind } from './request-kind.ts'
import type { ContractTerms } from './terms.ts'

/**
 * Properties of a vault that depend on its protocol, read from the chain when an operator added the vault. They are the
 * same for all clients of the service.
 */
export const VaultOnChain = z.discriminatedUnion('protocol', [LagoonVault, Erc7540Vault, CooldownVault, Erc4626Vault])
export type VaultOnChain = z.output<typeof VaultOnChain>

/** Name of a vault protocol that the service supports. */
export type ProtocolName = VaultOnChain['protocol']
/** Names of all vault protocols that the service supports. */
export const PROTOCOL_NAMES: readonly ProtocolName[] = VaultOnChain.options.map(({ shape }) => shape.protocol.value)

/** Returns true if a vault takes deposits, or pays withdrawals (`kind`), only by a request that a settlement fulfils. */
export function isAsync(vault: VaultOnChain, kind: RequestKind): boolean {
  switch (vault.protocol) {
    case 'lagoon':
      return true
    case 'erc7540':
      return kind === 'deposit' ? vault.isDepositAsync : vault.isRedemptionAsync
    case 'cooldown':
      return kind === 'withdrawal'
    case 'erc4626':
      return false
  }
}

/** Returns the value of the API field that shows if a vault's deposits give shares immediately (`sync`) or later. */
export function vaultType(vault: VaultOnChain): 'sync' | 'async' {
  return isAsync(vault, 'deposit') ? 'async' : 'sync'
}

/** Returns the terms of a vault that cannot be read. Only the ways to deposit and to withdraw are known, from the vault's protocol. */
export function buildUnreadTerms(vault: VaultOnChain): ContractTerms {
  const exit = vault.protocol === 'cooldown' ? 'cooldown' : 'request'
  return {
    entry: isAsync(vault, 'deposit') ? 'request' : 'instant',
    exit: isAsync(vault, 'withdrawal') ? exit : 'instant',
    ...{ fees: {}, room: undefined, liquidity: undefined },
    ...(vault.protocol === 'lagoon' && { valuation: undefined }),
    ...(vault.protocol === 'cooldown' && { cooldownSeconds: undefined }),
  }
}
