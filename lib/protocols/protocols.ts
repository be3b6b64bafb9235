import { cooldown } from './cooldown/protocol.ts'
import { erc4626 } from './erc4626/protocol.ts'
import { erc7540 } from './erc7540/protocol.ts'
import { lagoon } from './lagoon/protocol.ts'
import type { Protocol } from './protocol.ts'
import type { ProtocolName, VaultOnChain } from './vault-on-chain.ts'

/** Implementations of all protocols, by the protocol's name. */
export const PROTOCOLS: {
  readonly [Name in ProtocolName]: Protocol<Extract<VaultOnChain, { protocol: Name }>>
} = { lagoon, erc7540, cooldown, erc4626 }

/** Returns the protocol of a vault. Use it only with vaults of this protocol: the type does not ensure that. */
export function getProtocol({ protocol }: Pick<VaultOnChain, 'protocol'>): Protocol {
  // The cast holds: callers pass the same vault to the protocol's functions, which the table's type cannot express.
  return PROTOCOLS[protocol] as Protocol
}
