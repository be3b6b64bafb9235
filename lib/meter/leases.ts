import { logger } from '../core/logger.ts'
import type { LeasesStore } from './leases-store.ts'

/** Rate limit: the units that a subject, such as an API key, may spend in each window of `seconds`. */
export type Limit = {
  readonly units: number
  readonly seconds: number
  /** First units of a window that each container lets a subject spend uncounted; none by default. */
  readonly uncounted?: number
}

/** Outcome of spending units, with the whole seconds left in the window. */
export type Spending = {
  readonly isRefused: boolean
  readonly seconds: number
  /** Units left in the window, as far as this container knows; undefined if the table could not be reached. */
  readonly remaining?: number
  readonly giveBack: () => void
}

type Window = {
  readonly limit: Limit
  /** End of the window in epoch milliseconds. */
  readonly end: number
  spent: number
  leased: number
  /** Maximum units of the next lease. It becomes half of a lease for which too few units were left. */
  most: number
  /** Upper bound of the units that no container had leased at the last request to the table. */
  untaken: number
  taking?: Promise<void>
}

const UNCOUNTED_MS = 5000
const MAX_WINDOWS = 10_000
const nothing = () => {}

/**
 * Counts the units that subjects spend, in windows that begin at the same time in all containers. A container leases
 * units from the table, then spends them without further requests. Each lease is as large as the units spent so far,
 * between a thousandth and a hundredth of the limit. Counted units never exceed the limit; at most the rest of each
 * lease is lost. While the table cannot be reached, units are uncounted.
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

  /** Deletes the windows that have ended if memory holds too many, and the oldest one if none has ended. */
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
      // The table keeps the item for one more window, because containers' clocks differ.
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
    /** Returns the seconds until the window ends, if this container knows that too few units are left; else undefined. */
    findRefusal(subject: string, limit: Limit, units: number): number | undefined {
      const window = knownWindow(subject, limit)
      return window && isRefused(window, units) ? secondsLeft(window) : undefined
    },

    /** Spends all of these units of the subject, or none. */
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
