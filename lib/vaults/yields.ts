import { runConcurrently } from '../core/side-by-side.ts'
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_MS, toSeconds } from '../core/time.ts'
import {
  annualGrowth,
  buildYields,
  type EarlierPrices,
  type Growth,
  YIELD_DAYS,
  type YieldRange,
  type Yields,
} from './apy.ts'
import type { PriceStore } from './price-store.ts'
import { type KnownPrices, type PricePoint, startOf } from './prices.ts'
import type { WaitsByKind } from './settlement-waits.ts'
import type { VaultKey } from './vault.ts'

const CACHED_MS = 15 * MINUTE_MS
/** A vault without known prices may have some after the job's next run. */
const UNKNOWN_MS = 1_000
/** The job reads a price about every hour. This long after a day begins it has read that day's first price. */
const FIRST_READ_SECONDS = 2n * HOUR_SECONDS

type YieldServices = {
  readonly records: {
    readonly getProgress: (
      vaults: readonly VaultKey[],
      options: { readonly isConsistent: false },
    ) => Promise<
      readonly ((Pick<KnownPrices, 'firstPrice'> & Waits & { readonly timestamp?: bigint | undefined }) | undefined)[]
    >
  }
  readonly prices: Pick<PriceStore, 'getDays' | 'getLastBefore'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

type Waits = { readonly waits?: WaitsByKind | undefined }

/** Recorded data of a vault: its yields, and the waits of its requests. */
export type RecordedYields = Yields & Waits

type Earlier = EarlierPrices & Waits
/** Lookup of a vault's earlier prices, as of a day. */
type Lookup = { until: number; readonly vault: VaultKey; readonly day: bigint } & PromiseWithResolvers<Earlier>

// The cast holds: the keys are those of YIELD_DAYS, as its type states.
const RANGES = Object.keys(YIELD_DAYS) as YieldRange[]

/**
 * Returns the function that gives a vault's yields up to a price at a moment (default: now), and its waits. Yields
 * compare with the first price of the earlier day, else with the last one before. Concurrent lookups share one read.
 * Prices are cached for 15 minutes, their absence for a second.
 */
export function yieldLookup({ records, prices, now }: YieldServices) {
  const cached = new Map<string, Lookup>()
  let waiting: Lookup[] = []

  async function lookUpWaiting(): Promise<void> {
    const batch = waiting
    waiting = []
    // Only this bounds the cache.
    for (const [key, { until }] of cached) if (until <= now()) cached.delete(key)
    // The response has no yields, rather than an error, if the table cannot be read.
    const found = await readEarlier({ records, prices }, batch).catch(() => undefined)
    for (const [index, lookup] of batch.entries()) {
      const earlier = found?.[index] ?? {}
      lookup.until = found ? now() + (earlier.first ? CACHED_MS : UNKNOWN_MS) : 0
      lookup.resolve(earlier)
    }
  }

  function getEarlier(vault: VaultKey, day: bigint): Promise<Earlier> {
    const key = `${vault.chainId} ${vault.address} ${day}`
    const before = cached.get(key)
    if (before && now() < before.until) return before.promise
    // All callers wait for one read.
    const lookup = { vault, day, until: Number.POSITIVE_INFINITY, ...Promise.withResolvers<EarlierPrices>() }
    cached.set(key, lookup)
    if (waiting.push(lookup) === 1) setImmediate(lookUpWaiting)
    return lookup.promise
  }

  return async (vault: VaultKey, price: bigint | undefined, at = new Date(now())): Promise<RecordedYields> => {
    const timestamp = toSeconds(at)
    const { waits, ...earlier } = await getEarlier(vault, startOf('day', timestamp - FIRST_READ_SECONDS))
    return { ...buildYields(earlier, price === undefined ? undefined : { price, timestamp }), waits }
  }
}

/** Reads the existing earlier prices. A vault whose records end before the latest of them gets none: some may still be recorded. */
async function readEarlier(
  { records, prices }: Pick<YieldServices, 'records' | 'prices'>,
  lookups: readonly Pick<Lookup, 'vault' | 'day'>[],
): Promise<Earlier[]> {
  const vaults = lookups.map(({ vault }) => vault)
  const progress = await records.getProgress(vaults, { isConsistent: false })
  const found = lookups.map(({ day }, index): { -readonly [Name in keyof Earlier]: Earlier[Name] } => {
    const { timestamp, firstPrice, waits } = progress[index] ?? {}
    const latest = day - YIELD_DAYS['7d'] * DAY_SECONDS + FIRST_READ_SECONDS
    return timestamp !== undefined && timestamp >= latest ? { first: firstPrice, waits } : { waits }
  })
  const wanted = lookups.flatMap(({ vault, day }, index) =>
    RANGES.flatMap((range) => {
      const at = day - YIELD_DAYS[range] * DAY_SECONDS
      const until = at + FIRST_READ_SECONDS
      const earlier = found[index]
      return earlier?.first && earlier.first.timestamp < until ? [{ earlier, range, vault, at, until }] : []
    }),
  )
  const days = await prices.getDays(wanted)
  await runConcurrently(wanted.entries(), async ([index, { earlier, range, vault, until }]) => {
    const ofDay = days[index]
    earlier[range] = ofDay && ofDay.timestamp < until ? ofDay : await prices.getLastBefore(vault, until)
  })
  return found
}

/**
 * Returns the seven-day yields of a history's points, in order. Each compares as in the list: with the first price of
 * the day seven days before, else the last one before.
 */
export function yieldsOfHistory(points: readonly PricePoint[], days: readonly PricePoint[]): (Growth | null)[] {
  let earlier = -1
  return points.map((point) => {
    const day = startOf('day', point.timestamp - FIRST_READ_SECONDS) - YIELD_DAYS['7d'] * DAY_SECONDS
    const isBefore = (index: number) => (days[index] ?? point).timestamp < day + FIRST_READ_SECONDS
    while (isBefore(earlier + 1)) earlier += 1
    return annualGrowth(days[earlier], point, YIELD_DAYS['7d'])
  })
}
