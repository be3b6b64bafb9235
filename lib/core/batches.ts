/** Cuts items into batches of this size, in order; the last one has the rest. */
export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const batches = Math.ceil(items.length / size)
  return Array.from({ length: batches }, (_, index) => items.slice(index * size, (index + 1) * size))
}
