import { setTimeout } from 'node:timers/promises'

const AT_A_TIME = 8

/**
 * Runs a task for each item, eight at a time, in order, and returns the results in this order. After a failure it
 * starts no further task. Once the running tasks have ended, it throws the first failure.
 */
export async function runConcurrently<T, R>(tasks: Iterable<T>, run: (task: T) => Promise<R>): Promise<R[]> {
  const waiting = [...tasks].entries()
  const results: R[] = []
  const failures: unknown[] = []
  const worker = async () => {
    for (const [index, task] of waiting) {
      try {
        results[index] = await run(task)
      } catch (error) {
        failures.push(error)
      }
      if (failures.length > 0) return
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  if (failures.length > 0) throw failures[0]
  return results
}

/** Returns the result of a promise. Throws if the promise takes longer than `milliseconds`. */
export async function withDeadline<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const late = setTimeout(milliseconds, undefined, { ref: false }).then(() => {
    throw new Error('it takes too long')
  })
  return Promise.race([work, late])
}
