import type { Vault } from '../vaults/vault.ts'
import { erc4626 } from './erc4626.ts'
import { lagoon } from './lagoon/protocol.ts'
import type { Protocol } from './protocol.ts'

const PROTOCOLS: { readonly [Kind in Vault['kind']]: Protocol<Extract<Vault, { kind: Kind }>> } = { erc4626, lagoon }

/** The protocol that describes vaults whose shares come so. */
export function protocolFor(type: Protocol['type']): Pick<Protocol, 'describe'> {
  const protocol = Object.values(PROTOCOLS).find((candidate) => candidate.type === type)
  if (!protocol) throw new Error(`There is no protocol of ${type} vaults.`)
  return protocol
}

/** The protocol that a vault follows; it takes vaults of that kind. */
export function protocolOf({ kind }: Pick<Vault, 'kind'>): Protocol {
  // Whoever asks with a vault gives it that vault, which the list's type cannot say.
  return PROTOCOLS[kind] as Protocol
}
