import type { RequestKind } from '../protocols/request-kind.ts'
import { type VaultKey, vaultPartition } from '../vaults/vault.ts'
import { type EstimatedSettlement, estimateSettlement } from './settlement-waits.ts'
import type { RecordsStore, VaultProgress } from './store.ts'

const CACHED_MS = 300_000

/**
 * Returns the function that estimates how long a request waits for its settlement; null if unknown, also when the table cannot
 * be read. A container reads each vault once in five minutes.
 */
export function cachedEstimates({
  records,
  now,
}: {
  readonly records: Pick<RecordsStore, 'getProgress'>
  readonly now: () => number
}) {
  // Bounded by the vaults of all clients.
  const cached = new Map<string, { readonly waits: Promise<VaultProgress['waits']>; readonly until: number }>()
  return async (vault: VaultKey, kind: RequestKind): Promise<EstimatedSettlement | null> => {
    const key = vaultPartition(vault)
    const known = cached.get(key)
    if (known && now() < known.until) return estimateSettlement((await known.waits)?.[kind])
    const waits = records.getProgress([vault], { isConsistent: false }).then(
      ([progress]) => progress?.waits,
      () => {
        cached.delete(key)
        return undefined
      },
    )
    cached.set(key, { waits, until: now() + CACHED_MS })
    return estimateSettlement((await waits)?.[kind])
  }
}
