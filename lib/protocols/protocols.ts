import { cooldown } from './cooldown/protocol.ts'
import { erc4626 } from './erc4626/protocol.ts'
import { erc7540 } from './erc7540/protocol.ts'
import { lagoon } from './lagoon/protocol.ts'
import type { Protocol } from './protocol.ts'
import type { ProtocolName, VaultOnChain } from './vault-on-chain.ts'

/** All protocols by their names. */
export const PROTOCOLS: {
  readonly [Name in ProtocolName]: Protocol<Extract<VaultOnChain, { protocol: Name }>>
} = { lagoon, erc7540, cooldown, erc4626 }

/** The protocol that a vault follows; it takes its vaults alone. */
export function getProtocol({ protocol }: Pick<VaultOnChain, 'protocol'>): Protocol {
  // Whoever asks with a vault gives it that vault, which the list's type cannot say.
  return PROTOCOLS[protocol] as Protocol
}
