import type { Table } from '../aws/table.ts'

/** Time limit, in milliseconds, of a request to the cache table that leases rate-limit units to this container. */
const DEADLINE_MS = 1000

/**
 * Opens the store of leased rate-limit units. The cache table has one item per subject and time window, which counts
 * the units leased to all containers.
 */
export function leasesStore(table: Table) {
  return {
    /**
     * Leases `size` units of a time window to this container. Returns the units leased to all containers so far, or
     * null if fewer than `size` are left. If a response is lost, the retry may lease the units twice. Throws after a
     * second.
     */
    async take(
      window: string,
      { size, limit, until }: { readonly size: number; readonly limit: number; readonly until: Date },
    ): Promise<number | null> {
      const key = { pk: `rate#${window}`, sk: 'LEASES' }
      return (await table.count(key, { by: size, max: limit, until, deadlineMs: DEADLINE_MS })) ?? null
    },
  }
}
export type LeasesStore = ReturnType<typeof leasesStore>
