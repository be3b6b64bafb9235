const AT_A_TIME = 8

/** Does a task for each, eight at a time, in order; throws the first failure. */
export async function sideBySide<T>(tasks: Iterable<T>, run: (task: T) => Promise<void>): Promise<void> {
  const waiting = [...tasks].values()
  const worker = async () => {
    for (const task of waiting) await run(task)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
}
