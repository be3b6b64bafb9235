/** Returns names in one object of a JSON value that differ only in case, because Go's encoding/json takes them for one field. */
export function clashingNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(clashingNames)
  if (Array.isArray(value)) return inner
  const alike = Map.groupBy(Object.keys(value), (name) => name.toLowerCase())
  return [...inner, ...[...alike.values()].filter(({ length }) => length > 1).flat()]
}
