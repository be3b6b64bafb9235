import type { Table } from '../aws/table.ts'

/** Milliseconds that a request waits for its lease. */
const DEADLINE_MS = 1000

/** Opens the store of units leased by containers, one item per subject and window, in the cache table. */
export function leasesStore(table: Table) {
  return {
    /**
     * Leases `size` of the window's units. Returns the units that all containers have leased, or null if fewer are
     * left. A lost response may lease twice. Throws after a second.
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
