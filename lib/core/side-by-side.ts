import { setTimeout } from 'node:timers/promises'

const AT_A_TIME = 8

/**
 * Runs a task for each item, eight concurrently, in order. Starts none after a failure; throws the first failure once
 * running tasks have ended.
 */
export async function runConcurrently<T>(tasks: Iterable<T>, run: (task: T) => Promise<void>): Promise<void> {
  const waiting = [...tasks].values()
  const failures: unknown[] = []
  const worker = async () => {
    for (const task of waiting) {
      try {
        await run(task)
      } catch (error) {
        failures.push(error)
      }
      if (failures.length > 0) return
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  if (failures.length > 0) throw failures[0]
}

/** Returns the value of `work`. Throws if that takes longer than this many milliseconds. */
export async function withDeadline<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const late = setTimeout(milliseconds, undefined, { ref: false }).then(() => {
    throw new Error('it takes too long')
  })
  return Promise.race([work, late])
}
