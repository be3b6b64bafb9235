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
/**
 * Milliseconds for which a vault without known prices is cached. It is short, because the next run of refresh-chain, a scheduled job, may record some.
 */
const UNKNOWN_MS = 1_000
/**
 * Seconds after the beginning of a UTC day by which the first price of that day is recorded. The job refresh-chain reads a price about
 * every hour.
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

/** Recorded data of a vault: its yields, and the time that its requests waited for settlements. */
export type RecordedYields = Yields & Waits

type Earlier = EarlierPrices & Waits
/** Pending or cached read of a vault's earlier prices. `day` is the first second of the day that they are compared from. */
type Lookup = { until: number; readonly vault: VaultKey; readonly day: bigint } & PromiseWithResolvers<Earlier>

// The cast holds: the keys are those of YIELD_DAYS, as its type states.
const RANGES = Object.keys(YIELD_DAYS) as YieldRange[]

/**
 * Returns the function that returns a vault's yields up to a price at the time `at` (default: now), and the waits of its requests. The
 * earlier price is the first one of a past day, or else the last one before that day. Concurrent calls share one read. Found prices are
 * cached for 15 minutes, missing ones for a second.
 */
export function yieldLookup({ records, prices, now }: YieldServices) {
  const cached = new Map<string, Lookup>()
  let waiting: Lookup[] = []

  async function lookUpWaiting(): Promise<void> {
    const batch = waiting
    waiting = []
    // Only this removal of expired entries keeps the cache small.
    for (const [key, { until }] of cached) if (until <= now()) cached.delete(key)
    // The response lacks yields, but does not fail, if the table cannot be read.
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
    // Concurrent callers wait for the same read, which the next turn of the event loop begins.
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

/** Reads earlier prices. A vault gets none if its records end before the seven-day price is due: that price may still be recorded. */
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
 * Returns the seven-day yield at each point of a price history, in order. Each compares with the first price of the day seven days before,
 * or else with the last price before that day.
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
