import { annualYield, type Yield } from '../vaults/apy.ts'
import type { Vault } from '../vaults/vault.ts'
import type { Checkpoint, RecordsTable } from './table.ts'

/** How far back the price is that a yield compares with. */
export const YIELD_SECONDS = 7n * 86_400n
const REMEMBERED_MS = 15 * 60_000

/**
 * Returns the function that gives a vault's yield over the last seven days, null where it is not known: from the price
 * of a week ago, which the job keeps with the chain's checkpoint and which is remembered for a quarter of an hour, to
 * the price at a moment, now unless told.
 */
export function yieldsOf({ records, now }: { records: Pick<RecordsTable, 'getCheckpoint'>; now: () => number }) {
  const remembered = new Map<number, { readonly until: number; readonly checkpoint: Promise<Checkpoint> }>()

  const checkpointOf = (chainId: number): Promise<Checkpoint> => {
    const known = remembered.get(chainId)
    if (known && now() < known.until) return known.checkpoint
    const checkpoint = records.getCheckpoint(chainId)
    remembered.set(chainId, { until: now() + REMEMBERED_MS, checkpoint })
    checkpoint.catch(() => remembered.delete(chainId))
    return checkpoint
  }

  return async (
    { chainId, address }: Vault,
    price: bigint | undefined,
    at = new Date(now()),
  ): Promise<Yield | null> => {
    // A table that cannot be read is no reason to fail: there is no yield to show then.
    const { vaults } = await checkpointOf(chainId).catch((): Checkpoint => ({ vaults: {} }))
    const latest = price === undefined ? undefined : { price, timestamp: BigInt(Math.floor(at.getTime() / 1000)) }
    return annualYield(vaults[address]?.weekAgo, latest)
  }
}
