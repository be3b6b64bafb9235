import type { Vault, VaultKey } from '../../lib/vaults/vault.ts'
import type { Admin } from '../admin.ts'
import { createClient, issueKey } from './clients.ts'
import { type AcceptedFlaw, addVault, type VaultPresentation } from './vaults.ts'

/**
 * Rate limit of a local client's API key. It is high: one network may use only a tenth of it, and all local requests come from one network.
 */
const ONE_MACHINE = { requests: 1_000_000, seconds: 60 }

/** Registers a client with one API key and these vaults. Returns the text of the key and the added vaults. */
export async function seedClient(
  admin: Admin,
  { name, vaults }: { name: string; vaults: readonly (VaultKey & VaultPresentation)[] },
): Promise<{ clientId: string; apiKey: string; vaults: Vault[] }> {
  const { clientId } = await createClient(admin, name)
  const { text } = await issueKey(admin, { clientId, name: 'first key', limits: { rate: ONE_MACHINE } })
  // Accepts vaults whose withdrawal cannot be simulated, because a local vault may be paused.
  const accepted: AcceptedFlaw[] = ['accept-untried']
  const added = await Promise.all(vaults.map((vault) => addVault(admin, { ...vault, clientId, accepted })))
  return { clientId, apiKey: text, vaults: added.map(({ vault }) => vault) }
}
