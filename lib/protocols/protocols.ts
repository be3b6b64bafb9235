import type { Vault } from '../vaults/vault.ts'
import { erc4626 } from './erc4626.ts'
import { lagoon } from './lagoon/protocol.ts'
import type { Protocol } from './protocol.ts'

const PROTOCOLS: Readonly<Record<Vault['kind'], Protocol>> = { erc4626, lagoon }

/** The protocol that describes vaults whose shares come so. */
export function protocolFor(type: Protocol['type']): Protocol {
  const protocol = Object.values(PROTOCOLS).find((candidate) => candidate.type === type)
  if (!protocol) throw new Error(`There is no protocol of ${type} vaults.`)
  return protocol
}

/** The protocol that a vault follows. */
export function protocolOf({ kind }: Pick<Vault, 'kind'>): Protocol {
  return PROTOCOLS[kind]
}
