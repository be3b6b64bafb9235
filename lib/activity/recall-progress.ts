import type { VaultKey } from '../vaults/vault.ts'
import { vaultPartition } from '../vaults/vault.ts'
import type { RecordsStore, VaultProgress } from './store.ts'

/** A container remembers this long where a vault's records end. Reads add the events since then anyway. */
const REMEMBERED_MS = 30_000

/** Finds how far vaults are recorded, in order, at most 30 s old; undefined for one that is not recorded yet. */
export type RecallProgress = (vaults: readonly VaultKey[]) => Promise<(VaultProgress | undefined)[]>

/** Returns the function that finds how far vaults are recorded, from this container's memory where it can. */
export function recallProgress(records: Pick<RecordsStore, 'getProgress'>, now: () => number): RecallProgress {
  // Bounded by the vaults of all clients.
  const memory = new Map<string, { readonly progress: Promise<VaultProgress | undefined>; readonly until: number }>()

  return async (vaults) => {
    const missing = vaults.filter((vault) => !isFresh(vault))
    if (missing.length > 0) {
      const reading = records.getProgress(missing, { isConsistent: false })
      for (const [index, vault] of missing.entries()) {
        const progress = reading.then((read) => read[index])
        memory.set(vaultPartition(vault), { progress, until: now() + REMEMBERED_MS })
        progress.catch(() => memory.delete(vaultPartition(vault)))
      }
    }
    return await Promise.all(vaults.map((vault) => memory.get(vaultPartition(vault))?.progress))
  }

  function isFresh(vault: VaultKey): boolean {
    const until = memory.get(vaultPartition(vault))?.until
    return until !== undefined && now() < until
  }
}
