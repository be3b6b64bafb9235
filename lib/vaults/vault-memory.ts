import { type VaultKey, vaultPartition } from './vault.ts'

/**
 * Caches one value per vault in a Lambda container. `list` reads all missing values in one call, which concurrent
 * callers share. Failed reads are not cached. `forget` removes a vault's value.
 */
export function createVaultCache<T>(
  read: (vaults: readonly VaultKey[]) => Promise<readonly (T | undefined)[]>,
  lifetimeMs: number,
  now: () => number,
) {
  // The map needs no limit, because it has at most one entry for each vault of all clients.
  const memory = new Map<string, { readonly value: Promise<T | undefined>; readonly until: number }>()
  const recall = (vault: VaultKey) => memory.get(vaultPartition(vault))

  return {
    list(vaults: readonly VaultKey[]): Promise<(T | undefined)[]> {
      const missing = vaults.filter((vault) => now() >= (recall(vault)?.until ?? 0))
      const pending = missing.length > 0 ? read(missing) : Promise.resolve([])
      const until = now() + lifetimeMs
      for (const [index, vault] of missing.entries()) {
        const value = pending.then((found) => found[index])
        value.catch(() => memory.delete(vaultPartition(vault)))
        memory.set(vaultPartition(vault), { value, until })
      }
      return Promise.all(vaults.map((vault) => recall(vault)?.value))
    },
    forget: (vault: VaultKey) => memory.delete(vaultPartition(vault)),
  }
}
