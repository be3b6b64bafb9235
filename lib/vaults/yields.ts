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
import { computeIntervalStart, type KnownPrices, type PricePoint } from './prices.ts'
import type { WaitsByKind } from './settlement-waits.ts'
import type { VaultKey } from './vault.ts'

const CACHED_MS = 15 * MINUTE_MS
/**
 * Milliseconds for which a vault's lack of prices is cached. The time is short, because the scheduled job refresh-chain
 * may store a price soon.
 */
const UNKNOWN_MS = 1_000
/**
 * Maximum seconds after the beginning of a UTC day for a price to count as the first price of that day. The scheduled
 * job refresh-chain reads a price about every hour.
 */
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
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
}

type Waits = { readonly waits?: WaitsByKind | undefined }

/** Stored data of a vault: its yields, and the seconds that deposit and withdrawal requests waited for settlements. */
export type RecordedYields = Yields & Waits

type Earlier = EarlierPrices & Waits
/**
 * Pending or cached read of a vault's earlier prices. `day` is the first second of the UTC day from which the ranges of
 * 7, 30 and 90 days count back.
 */
type Lookup = { until: number; readonly vault: VaultKey; readonly day: bigint } & PromiseWithResolvers<Earlier>

// The cast holds: the keys are those of YIELD_DAYS, as its type states.
const RANGES = Object.keys(YIELD_DAYS) as YieldRange[]

/**
 * Returns a function that computes a vault's yields up to its price at the time `at`, by default now. The function also
 * returns the recorded waits of the vault's requests. A yield's range begins at the first price of a UTC day, or else
 * at the last price before it. Concurrent calls share one table read. Prices are cached for 15 minutes, the lack of
 * prices for one second.
 */
export function yieldLookup({ records, prices, now }: YieldServices) {
  const cached = new Map<string, Lookup>()
  let waiting: Lookup[] = []

  async function lookUpWaiting(): Promise<void> {
    const batch = waiting
    waiting = []
    // Expired entries are removed here, because nothing else limits the size of the cache.
    for (const [key, { until }] of cached) if (until <= now()) cached.delete(key)
    // A failed table read must not fail the API response: the response then lacks yields.
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
    // The table is read in `setImmediate`, once for all lookups that wait by then.
    const lookup = { vault, day, until: Number.POSITIVE_INFINITY, ...Promise.withResolvers<EarlierPrices>() }
    cached.set(key, lookup)
    if (waiting.push(lookup) === 1) setImmediate(lookUpWaiting)
    return lookup.promise
  }

  return async (vault: VaultKey, price: bigint | undefined, at = new Date(now())): Promise<RecordedYields> => {
    const timestamp = toSeconds(at)
    const { waits, ...earlier } = await getEarlier(vault, computeIntervalStart('day', timestamp - FIRST_READ_SECONDS))
    return { ...buildYields(earlier, price === undefined ? undefined : { price, timestamp }), waits }
  }
}

/**
 * Reads vaults' earlier prices. A vault gets none if its events have not been read up to the first price of the
 * seven-day range. That price may still be stored later.
 */
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
 * Returns the seven-day yield at each point of a price history, in order. Each yield compares the point with the first
 * price of the UTC day seven days before. Without one, it compares with the last price before that day.
 */
export function yieldsOfHistory(points: readonly PricePoint[], days: readonly PricePoint[]): (Growth | null)[] {
  let earlier = -1
  return points.map((point) => {
    const day = computeIntervalStart('day', point.timestamp - FIRST_READ_SECONDS) - YIELD_DAYS['7d'] * DAY_SECONDS
    const isBefore = (index: number) => (days[index] ?? point).timestamp < day + FIRST_READ_SECONDS
    while (isBefore(earlier + 1)) earlier += 1
    return annualGrowth(days[earlier], point, YIELD_DAYS['7d'])
  })
}
