/** Creates a function that runs work one after another: each call waits until all earlier work has ended, also if it failed. */
export function createSerialRunner(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }
}
