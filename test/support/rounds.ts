import { setImmediate as turn } from 'node:timers/promises'

type PendingRequest = { readonly perform: () => Promise<() => void> }
type Sleeper = { readonly at: number; readonly wake: () => void }

/** Number of event loop turns without a new request after which all waiting requests are sent. */
const MIN_QUIET_TURNS = 6

export type Rounds = ReturnType<typeof createRoundScheduler>

/**
 * Groups requests into round trips. Requests wait until the process does nothing else. Then they run one after another, and all
 * responses arrive together. So the number of round trips does not depend on the machine's speed.
 */
export function createRoundScheduler() {
  let pending: PendingRequest[] = []
  let sleepers: Sleeper[] = []
  let [round, arrivals, busy, slept] = [0, 0, 0, 0]
  let running: Promise<void> | undefined

  async function quiet(): Promise<void> {
    for (let turns = 0; turns < MIN_QUIET_TURNS; ) {
      const before = arrivals
      await turn()
      turns = busy > 0 || arrivals > before ? 0 : turns + 1
    }
  }

  async function run(): Promise<void> {
    for (await quiet(); pending.length + sleepers.length > 0; await quiet()) {
      const [requests, settlers] = [pending, [] as (() => void)[]]
      if (requests.length === 0) {
        const [next, ...others] = sleepers.toSorted((one, other) => one.at - other.at)
        sleepers = others
        slept = next?.at ?? slept
        next?.wake()
        continue
      }
      pending = []
      round += 1
      for (const { perform } of requests) settlers.push(await perform())
      for (const settle of settlers) settle()
    }
    running = undefined
  }

  function start(): void {
    arrivals += 1
    running ??= run()
  }

  return {
    current: () => round,
    ask<T>(request: () => Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        const perform = () =>
          request().then(
            (answer) => () => resolve(answer),
            (error: unknown) => () => reject(error),
          )
        pending.push({ perform })
        start()
      })
    },
    /** Resolves when no request waits and all shorter sleeps have ended. No real time passes. */
    sleep: (milliseconds: number) =>
      new Promise<void>((wake) => {
        sleepers.push({ at: slept + milliseconds, wake })
        start()
      }),
    /** Delays the next round trip until `work` on another thread has ended. */
    async during<T>(work: Promise<T>): Promise<T> {
      busy += 1
      return await work.finally(() => {
        busy -= 1
        arrivals += 1
      })
    },
    async settle(): Promise<void> {
      await (running ?? quiet())
    },
  }
}
