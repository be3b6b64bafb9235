import { setImmediate as turn } from 'node:timers/promises'

/** Request that waits for its round. */
type Held = { readonly perform: () => Promise<() => void> }
type Sleeper = { readonly at: number; readonly wake: () => void }

/** Turns of the event loop without a new request after which a round begins. */
const MIN_QUIET_TURNS = 6

export type Rounds = ReturnType<typeof createRounds>

/**
 * Holds requests until this process only waits for them. Then it sends them in their order, one at a time, and releases all
 * responses together. Such a round is one round trip, however busy the machine is.
 */
export function createRounds() {
  let held: Held[] = []
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
    for (await quiet(); held.length + sleepers.length > 0; await quiet()) {
      const [asked, settlers] = [held, [] as (() => void)[]]
      if (asked.length === 0) {
        const [next, ...others] = sleepers.toSorted((one, other) => one.at - other.at)
        sleepers = others
        slept = next?.at ?? slept
        next?.wake()
        continue
      }
      held = []
      round += 1
      for (const { perform } of asked) settlers.push(await perform())
      for (const settle of settlers) settle()
    }
    running = undefined
  }

  function start(): void {
    arrivals += 1
    running ??= run()
  }

  return {
    /** Returns the number of the current round. */
    current: () => round,
    /** Runs a request in the next round. */
    ask<T>(request: () => Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        const perform = () =>
          request().then(
            (answer) => () => resolve(answer),
            (error: unknown) => () => reject(error),
          )
        held.push({ perform })
        start()
      })
    },
    /** Resolves when no request is held, after all shorter sleeps. */
    sleep: (milliseconds: number) =>
      new Promise<void>((wake) => {
        sleepers.push({ at: slept + milliseconds, wake })
        start()
      }),
    /** Delays the next round until this work of another thread has ended. */
    async during<T>(work: Promise<T>): Promise<T> {
      busy += 1
      return await work.finally(() => {
        busy -= 1
        arrivals += 1
      })
    },
    /** Resolves when no request is held. */
    async settle(): Promise<void> {
      await (running ?? quiet())
    },
  }
}
