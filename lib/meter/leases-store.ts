import type { Table } from '../aws/table.ts'

/** Maximum milliseconds that a request waits for the table to lease it units. */
const DEADLINE_MS = 1000

/** Opens the store of the rate-limit units that containers have leased: one item per subject and window, in the cache table. */
export function leasesStore(table: Table) {
  return {
    /**
     * Leases `size` units of the window to this container. Returns the units that all containers have leased, or null
     * if fewer than `size` are left. A lost response may lease twice. Throws after a second.
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
