import { logger } from '../core/logger.ts'
import type { LeasesStore } from './leases-store.ts'

/** Rate limit: the number of units that a subject, such as an API key, may spend in each time window of `seconds`. */
export type Limit = {
  readonly units: number
  readonly seconds: number
  /** Number of units that each container lets a subject spend per time window without counting them in the table; none by default. */
  readonly uncounted?: number
}

/** Outcome of spending units. `seconds` are the whole seconds until the time window ends. `giveBack` refunds the units. */
export type Spending = {
  readonly isRefused: boolean
  readonly seconds: number
  /** Units left in the time window, as far as this container knows. It is undefined if the table could not be reached. */
  readonly remaining?: number
  readonly giveBack: () => void
}

type Window = {
  readonly limit: Limit
  /** End of the time window in epoch milliseconds. */
  readonly end: number
  spent: number
  leased: number
  /** Maximum units of the next lease. If the table refuses a larger lease than needed, this maximum becomes half of the refused lease. */
  most: number
  /**
   * Units of the limit that were not leased to any container at this container's last request to the table. The true
   * number may be lower.
   */
  untaken: number
  taking?: Promise<void>
}

const UNCOUNTED_MS = 5000
const MAX_WINDOWS = 10_000
const nothing = () => {}

/**
 * Creates the counter of the rate-limit units that subjects, such as API keys, spend. Its time windows begin at the
 * same time in all containers. A container leases units from the table and then spends them without further requests. A
 * lease is as large as the units spent so far, but between a thousandth and a hundredth of the limit. Counted units
 * never exceed the limit. When a window ends, a container loses the unspent units of its lease. While the table cannot
 * be reached, units are not counted.
 */
export function createLeases({
  take,
  now,
  maxWindows = MAX_WINDOWS,
}: {
  readonly take: LeasesStore['take']
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
  readonly maxWindows?: number
}) {
  const windows = new Map<string, Window>()
  let countedFrom = 0

  const endOf = ({ seconds }: Limit) => (Math.floor(now() / (seconds * 1000)) + 1) * seconds * 1000

  function knownWindow(subject: string, limit: Limit): Window | undefined {
    const known = windows.get(subject)
    return known?.end === endOf(limit) && known.limit.units === limit.units ? known : undefined
  }

  function openWindow(subject: string, limit: Limit): Window {
    windows.delete(subject)
    makeRoom()
    const most = Math.max(1, Math.floor(limit.units / 100))
    const { uncounted = 0 } = limit
    const window = { limit, end: endOf(limit), spent: 0, leased: uncounted, most, untaken: limit.units }
    windows.set(subject, window)
    return window
  }

  /** Deletes ended time windows if the memory has too many. If no window has ended, it deletes the oldest one. */
  function makeRoom(): void {
    if (windows.size < maxWindows) return
    for (const [subject, { end }] of windows) if (end <= now()) windows.delete(subject)
    const [oldest] = windows.keys()
    if (windows.size >= maxWindows && oldest !== undefined) windows.delete(oldest)
  }

  async function lease(subject: string, window: Window, needed: number): Promise<void> {
    const { limit, end } = window
    const first = Math.max(1, Math.floor(limit.units / 1000))
    const size = Math.max(needed, Math.min(Math.max(first, window.spent), window.most))
    try {
      // The table keeps the count of a time window for one more window, because the clocks of containers differ.
      const until = new Date(end + limit.seconds * 1000)
      const taken = await take(`${subject}#${end}`, { size, limit: limit.units, until })
      if (taken !== null) {
        window.untaken = limit.units - taken
        window.leased += size
      } else if (size > needed) window.most = Math.floor(size / 2)
      else window.untaken = Math.min(window.untaken, size - 1)
    } catch (error) {
      countedFrom = now() + UNCOUNTED_MS
      logger.warn('requests are not counted', { error })
    }
  }

  const secondsLeft = ({ end }: Window) => Math.max(1, Math.ceil((end - now()) / 1000))
  const isRefused = ({ leased, untaken }: Window, units: number) => leased < units && units - leased > untaken

  return {
    /**
     * Returns the seconds until the time window ends if this container already knows that too few units are left.
     * Otherwise returns undefined.
     */
    findRefusal(subject: string, limit: Limit, units: number): number | undefined {
      const window = knownWindow(subject, limit)
      return window && isRefused(window, units) ? secondsLeft(window) : undefined
    },

    /** Spends these units from the subject's limit, or none of them if too few are left. Leases more units from the table if necessary. */
    async spend(subject: string, limit: Limit, units: number): Promise<Spending> {
      for (;;) {
        const window = knownWindow(subject, limit) ?? openWindow(subject, limit)
        const seconds = secondsLeft(window)
        if (window.leased >= units) {
          window.leased -= units
          window.spent += units
          const giveBack = () => {
            window.leased += units
            window.spent -= units
          }
          return { isRefused: false, seconds, remaining: window.leased + window.untaken, giveBack }
        }
        if (isRefused(window, units)) {
          return { isRefused: true, seconds, remaining: window.leased + window.untaken, giveBack: nothing }
        }
        if (now() < countedFrom) return { isRefused: false, seconds, giveBack: nothing }
        window.taking ??= lease(subject, window, units - window.leased).finally(() => delete window.taking)
        await window.taking
      }
    },
  }
}
export type Leases = ReturnType<typeof createLeases>
