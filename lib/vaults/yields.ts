import { sideBySide } from '../side-by-side.ts'
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_MS, toSeconds } from '../time.ts'
import { buildYields, type EarlierPrices, YIELD_DAYS, type YieldRange, type Yields } from './apy.ts'
import type { PriceStore } from './price-store.ts'
import { type KnownPrices, startOf } from './prices.ts'
import type { VaultKey } from './vault.ts'

const CACHED_MS = 15 * MINUTE_MS
/** A vault whose prices are not known yet may have some after the job's next run. */
const UNKNOWN_MS = 5_000
/** The job reads a price each hour, later where there are many vaults: so long after a day began it has read that day's first. */
const FIRST_READ_SECONDS = 2n * HOUR_SECONDS

type Dependencies = {
  readonly records: {
    readonly getProgress: (
      vaults: readonly VaultKey[],
      options: { readonly isConsistent: false },
    ) => Promise<
      readonly ((Pick<KnownPrices, 'firstPrice'> & { readonly timestamp?: bigint | undefined }) | undefined)[]
    >
  }
  readonly prices: Pick<PriceStore, 'getDays' | 'getLastBefore'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Earlier prices of a vault that are looked up, as of a day. */
type Lookup = { until: number; readonly vault: VaultKey; readonly day: bigint } & PromiseWithResolvers<EarlierPrices>

// The keys are those of YIELD_DAYS, which its type says.
const RANGES = Object.keys(YIELD_DAYS) as YieldRange[]

/**
 * Returns the function that gives a vault's yields up to a price at a moment, now unless given. They compare with the first
 * price of the day that is as many days before, else with the last price before. Vaults that are asked for at the same time
 * are looked up together; earlier prices are cached for 15 minutes, their absence for 5 s.
 */
export function yieldLookup({ records, prices, now }: Dependencies) {
  const cached = new Map<string, Lookup>()
  let waiting: Lookup[] = []

  async function lookUpWaiting(): Promise<void> {
    const batch = waiting
    waiting = []
    // Nothing else bounds what is cached.
    for (const [key, { until }] of cached) if (until <= now()) cached.delete(key)
    // A table that cannot be read is no reason to fail: there is no yield to show then.
    const found = await readEarlier({ records, prices }, batch).catch(() => undefined)
    for (const [index, lookup] of batch.entries()) {
      const earlier = found?.[index] ?? {}
      lookup.until = found ? now() + (earlier.first ? CACHED_MS : UNKNOWN_MS) : 0
      lookup.resolve(earlier)
    }
  }

  function getEarlier(vault: VaultKey, day: bigint): Promise<EarlierPrices> {
    const key = `${vault.chainId} ${vault.address} ${day}`
    const before = cached.get(key)
    if (before && now() < before.until) return before.promise
    // Until it is read, all who ask wait for the same answer.
    const lookup = { vault, day, until: Number.POSITIVE_INFINITY, ...Promise.withResolvers<EarlierPrices>() }
    cached.set(key, lookup)
    if (waiting.push(lookup) === 1) setImmediate(lookUpWaiting)
    return lookup.promise
  }

  return async (vault: VaultKey, price: bigint | undefined, at = new Date(now())): Promise<Yields> => {
    const timestamp = toSeconds(at)
    const earlier = await getEarlier(vault, startOf('day', timestamp - FIRST_READ_SECONDS))
    return buildYields(earlier, price === undefined ? undefined : { price, timestamp })
  }
}

/** Earlier prices; none of a vault that is not recorded up to the latest of them, since others may be yet to come. */
async function readEarlier(
  { records, prices }: Pick<Dependencies, 'records' | 'prices'>,
  lookups: readonly Pick<Lookup, 'vault' | 'day'>[],
): Promise<EarlierPrices[]> {
  const wanted = lookups.flatMap(({ vault, day }, index) =>
    RANGES.map((range) => ({ index, range, vault, at: day - YIELD_DAYS[range] * DAY_SECONDS })),
  )
  const [progress, days] = await Promise.all([
    records.getProgress(
      lookups.map(({ vault }) => vault),
      { isConsistent: false },
    ),
    prices.getDays(wanted),
  ])
  const found = progress.map((of, index): { -readonly [Name in keyof EarlierPrices]: EarlierPrices[Name] } => {
    const latest = (lookups[index]?.day ?? 0n) - YIELD_DAYS['7d'] * DAY_SECONDS + FIRST_READ_SECONDS
    return of?.timestamp !== undefined && of.timestamp >= latest ? { first: of.firstPrice } : {}
  })
  await sideBySide(wanted.entries(), async ([position, { index, range, vault, at }]) => {
    const earlier = found[index]
    const until = at + FIRST_READ_SECONDS
    if (!earlier?.first || earlier.first.timestamp >= until) return
    const ofDay = days[position]
    earlier[range] = ofDay && ofDay.timestamp < until ? ofDay : await prices.getLastBefore(vault, until)
  })
  return found
}
