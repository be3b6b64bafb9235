/** Returns a function that runs `build` on its first call and gives the same promise ever after; a failed build is forgotten, so the next call tries again. */
export function once<T>(build: () => T | Promise<T>): () => Promise<T> {
  let built: Promise<T> | undefined
  return () => {
    built ??= Promise.resolve()
      .then(build)
      .catch((error: unknown) => {
        built = undefined
        throw error
      })
    return built
  }
}
