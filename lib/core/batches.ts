/** Cuts items into batches of at most `size`, in their order. */
export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const batches = Math.ceil(items.length / size)
  return Array.from({ length: batches }, (_, index) => items.slice(index * size, (index + 1) * size))
}
