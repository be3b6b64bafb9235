import { type VaultKey, vaultPartition } from '../vaults/vault.ts'
import type { ListedVaultsStore } from './listed-vaults-store.ts'

/**
 * Function that reads the client ids of these vaults. It returns a function that looks up one vault's client ids.
 * Throws if the table cannot be reached.
 */
export type FindClients = (vaults: readonly VaultKey[]) => Promise<(vault: VaultKey) => readonly string[]>

/** Builds a FindClients that reads the clients of each vault only once and then caches them. */
export function createClientsFinder({ listClientsOf }: Pick<ListedVaultsStore, 'listClientsOf'>): FindClients {
  const found = new Map<string, readonly string[]>()
  return async (vaults) => {
    const unknown = [...new Map(vaults.map((vault) => [vaultPartition(vault), vault]))]
      .filter(([key]) => !found.has(key))
      .map(([, vault]) => vault)
    const listed = unknown.length > 0 ? await listClientsOf(unknown) : []
    for (const [index, vault] of unknown.entries()) found.set(vaultPartition(vault), listed[index] ?? [])
    return (vault) => found.get(vaultPartition(vault)) ?? []
  }
}
