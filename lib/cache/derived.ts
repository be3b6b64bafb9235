/**
 * Returns a function that gives what is made of parts and a key: not made anew while the parts are the same objects, for as
 * many keys as `most`, those that were asked for last.
 */
export function derived<Key, T>(most: number) {
  let made: { readonly parts: readonly unknown[]; readonly results: Map<Key, T> } = { parts: [], results: new Map() }
  return (parts: readonly unknown[], key: Key, make: () => T): T => {
    const isSame = parts.length === made.parts.length && parts.every((part, index) => part === made.parts[index])
    if (!isSame) made = { parts, results: new Map() }
    const { results } = made
    const result = results.get(key) ?? make()
    results.delete(key)
    results.set(key, result)
    for (const oldest of [...results.keys()].slice(0, -most)) results.delete(oldest)
    return result
  }
}
