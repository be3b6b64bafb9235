import * as z from 'zod'
import { CooldownVault } from './cooldown/vault.ts'
import { Erc4626Vault } from './erc4626/vault.ts'
import { Erc7540Vault } from './erc7540/vault.ts'
import { LagoonVault } from './lagoon/vault.ts'
import type { RequestKind } from './request-kind.ts'
import type { ReadTerms } from './terms.ts'

/** Properties of a vault by its protocol, read from the chain when it was added; the same for all clients. */
export const VaultOnChain = z.discriminatedUnion('protocol', [LagoonVault, Erc7540Vault, CooldownVault, Erc4626Vault])
export type VaultOnChain = z.output<typeof VaultOnChain>

/** Name of a protocol. */
export type ProtocolName = VaultOnChain['protocol']
/** Names of all protocols. */
export const PROTOCOL_NAMES: readonly ProtocolName[] = VaultOnChain.options.map(({ shape }) => shape.protocol.value)

/** Returns whether a vault takes deposits, or pays withdrawals, by request. */
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

/** Returns the API's word for how a vault takes deposits. */
export function vaultType(vault: VaultOnChain): 'sync' | 'async' {
  return isAsync(vault, 'deposit') ? 'async' : 'sync'
}

/** Returns the terms of an unreadable vault: only entry and exit are known, by its protocol. */
export function buildUnreadTerms(vault: VaultOnChain): ReadTerms {
  const exit = vault.protocol === 'cooldown' ? 'cooldown' : 'request'
  return {
    entry: isAsync(vault, 'deposit') ? 'request' : 'instant',
    exit: isAsync(vault, 'withdrawal') ? exit : 'instant',
    ...{ fees: {}, room: undefined, liquidity: undefined },
    ...(vault.protocol === 'lagoon' && { valuation: undefined }),
    ...(vault.protocol === 'cooldown' && { cooldownSeconds: undefined }),
  }
}
