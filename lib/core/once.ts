/** Returns a function that runs `build` once. All calls return the same promise. After a failure the next call runs `build` again. */
export function once<T>(build: () => T | Promise<T>): () => Promise<T> {
  const only = {}
  const built = oncePer(async (_: typeof only) => build())
  return () => built(only)
}

/** Returns a function like `once`, but runs `build` once for each object that it is called with. */
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

/**
 * Returns a function that caches the result of `read` for `lifetime`, then reads again. If that read fails, the
 * previous result is used for another `lifetime`. `now` has the same unit as `lifetime`.
 */
export function cacheForLifetime<T>(read: () => Promise<T>, lifetime: number, now: () => number): () => Promise<T> {
  let last: { readonly value: Promise<T>; readonly until: number } | undefined
  return () => {
    if (last && now() < last.until) return last.value
    const before = last?.value
    const until = now() + lifetime
    const value = read().catch((error: unknown) => {
      last = before && { value: before, until }
      if (before) return before
      throw error
    })
    last = { value, until }
    return value
  }
}
