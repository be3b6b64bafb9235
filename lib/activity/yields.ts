import { annualYield, type PricePoint, type Yield } from '../vaults/apy.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { RecordsStore } from './store.ts'

/** How far back the price is that a yield compares with. */
export const YIELD_SECONDS = 7n * 86_400n
const REMEMBERED_MS = 15 * 60_000
/** What is not known yet may be known after the job's next run. */
const UNKNOWN_MS = 60_000

type WeekAgo = Promise<PricePoint | undefined>
type Asker = { readonly vault: VaultKey; readonly tell: (weekAgo: PricePoint | undefined) => void }

/**
 * Returns the function that gives a vault's yield over the last seven days, null where it is not known: from the price
 * of a week ago, which the job keeps with the vault's progress, to the price at a moment, now unless told. What is asked for at the same time
 * is read in one go; the price of a week ago is remembered for a quarter of an hour, that there is none for a minute.
 */
export function yieldsOf({ records, now }: { records: Pick<RecordsStore, 'getProgress'>; now: () => number }) {
  // Bounded by the vaults of all clients.
  const remembered = new Map<string, { until: number; readonly weekAgo: WeekAgo }>()
  let waiting: Asker[] = []

  async function askForWaiting(): Promise<void> {
    const askers = waiting
    waiting = []
    // A table that cannot be read is no reason to fail: there is no yield to show then.
    const progress = await records.getProgress(askers.map(({ vault }) => vault)).catch(() => undefined)
    for (const [index, { vault, tell }] of askers.entries()) {
      const weekAgo = progress?.[index]?.weekAgo
      const known = remembered.get(keyOf(vault))
      if (known) known.until = progress ? now() + (weekAgo ? REMEMBERED_MS : UNKNOWN_MS) : 0
      tell(weekAgo)
    }
  }

  function weekAgoOf(vault: VaultKey): WeekAgo {
    const known = remembered.get(keyOf(vault))
    if (known && now() < known.until) return known.weekAgo
    const weekAgo: WeekAgo = new Promise((tell) => {
      waiting.push({ vault, tell })
    })
    // Until it is told, all who ask wait for the same answer.
    remembered.set(keyOf(vault), { until: Number.POSITIVE_INFINITY, weekAgo })
    if (waiting.length === 1) setImmediate(askForWaiting)
    return weekAgo
  }

  return async (vault: VaultKey, price: bigint | undefined, at = new Date(now())): Promise<Yield | null> => {
    const latest = price === undefined ? undefined : { price, timestamp: BigInt(Math.floor(at.getTime() / 1000)) }
    return annualYield(await weekAgoOf(vault), latest)
  }
}

function keyOf({ chainId, address }: VaultKey): string {
  return `${chainId} ${address}`
}
