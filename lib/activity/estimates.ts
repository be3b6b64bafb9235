import type { RequestKind } from '../protocols/request-kind.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { type EstimatedSettlement, estimateSettlement } from './settlement-waits.ts'
import type { RecallProgress } from './store.ts'

/**
 * Returns the function that estimates how long a request waits for its settlement; null if unknown, also when the table cannot
 * be read.
 */
export function settlementEstimates(recallProgress: RecallProgress) {
  return async (vault: VaultKey, kind: RequestKind): Promise<EstimatedSettlement | null> => {
    const [progress] = await recallProgress([vault]).catch(() => [])
    return estimateSettlement(progress?.waits?.[kind])
  }
}
