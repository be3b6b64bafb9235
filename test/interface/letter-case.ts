/**
 * Returns field names of one object that differ only in upper and lower case. Go's encoding/json treats such names as one
 * field.
 */
export function clashingNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(clashingNames)
  if (Array.isArray(value)) return inner
  const alike = Map.groupBy(Object.keys(value), (name) => name.toLowerCase())
  return [...inner, ...[...alike.values()].filter(({ length }) => length > 1).flat()]
}
