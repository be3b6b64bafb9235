import { DAY_SECONDS } from '../time.ts'
import { type PricePoint, type Yields, yieldsBetween } from '../vaults/apy.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { RecordsStore } from './store.ts'

/** How far back the price is that a yield compares with. */
export const YIELD_SECONDS = 7n * DAY_SECONDS

/** The price that a yield at a moment compares with: the last one of a week before, else the first; undefined of none. */
export function chooseWeekAgo(prices: readonly PricePoint[], at: bigint): PricePoint | undefined {
  const inOrder = prices.toSorted((left, right) => Number(left.timestamp - right.timestamp))
  return inOrder.findLast(({ timestamp }) => timestamp <= at - YIELD_SECONDS) ?? inOrder[0]
}
const CACHED_MS = 15 * 60_000
/** What has no price yet may have one after the job's next run. */
const UNKNOWN_MS = 60_000

type WeekAgo = PricePoint | undefined
type Asked = { until: number; readonly vault: VaultKey } & PromiseWithResolvers<WeekAgo>

/**
 * Returns the function that gives a vault's yield over the last seven days, null where it is not known: from the price
 * of a week ago, which the job records with the vault's progress, to the price at a moment, now unless given. Vaults that
 * are asked for at the same time are read together; the price of a week ago is cached for 15 minutes, its absence for one.
 */
export function yieldLookup({ records, now }: { records: Pick<RecordsStore, 'getProgress'>; now: () => number }) {
  // Bounded by the vaults of all clients.
  const cached = new Map<string, Asked>()
  let waiting: Asked[] = []

  async function readWaiting(): Promise<void> {
    const batch = waiting
    waiting = []
    // A table that cannot be read is no reason to fail: there is no yield to show then.
    const progress = await records
      .getProgress(
        batch.map(({ vault }) => vault),
        { isConsistent: false },
      )
      .catch(() => undefined)
    for (const [index, asked] of batch.entries()) {
      const weekAgo = progress?.[index]?.weekAgo
      asked.until = progress ? now() + (weekAgo ? CACHED_MS : UNKNOWN_MS) : 0
      asked.resolve(weekAgo)
    }
  }

  function getWeekAgo(vault: VaultKey): Promise<WeekAgo> {
    const key = `${vault.chainId} ${vault.address}`
    const before = cached.get(key)
    if (before && now() < before.until) return before.promise
    // Until it is read, all who ask wait for the same answer.
    const asked = { vault, until: Number.POSITIVE_INFINITY, ...Promise.withResolvers<WeekAgo>() }
    cached.set(key, asked)
    if (waiting.push(asked) === 1) setImmediate(readWaiting)
    return asked.promise
  }

  return async (vault: VaultKey, price: bigint | undefined, at = new Date(now())): Promise<Yields> => {
    const latest = price === undefined ? undefined : { price, timestamp: BigInt(Math.floor(at.getTime() / 1000)) }
    return yieldsBetween(await getWeekAgo(vault), latest)
  }
}
