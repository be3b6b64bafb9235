/** Returns a function that runs `build` on its first call and gives the same promise ever after; a failed build is forgotten, so the next call tries again. */
export function once<T>(build: () => T | Promise<T>): () => Promise<T> {
  const only = {}
  const built = oncePer(async (_: typeof only) => build())
  return () => built(only)
}

/** The same for each object that it is called with. */
export function oncePer<Key extends object, T>(build: (key: Key) => Promise<T>): (key: Key) => Promise<T> {
  const built = new WeakMap<Key, Promise<T>>()
  return (key) => {
    const before = built.get(key)
    if (before) return before
    const building = Promise.resolve()
      .then(() => build(key))
      .catch((error: unknown) => {
        built.delete(key)
        throw error
      })
    built.set(key, building)
    return building
  }
}
