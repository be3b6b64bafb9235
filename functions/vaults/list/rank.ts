import type * as z from 'zod'
import type { VaultResponse } from '../../../lib/vaults/response.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import type { SortField, SortOrder } from './contract.ts'

type Entry = { readonly vault: Vault; readonly live?: z.output<typeof VaultResponse> | undefined }

type Ranking = {
  readonly sort: SortField | undefined
  readonly order: SortOrder | undefined
  readonly minTotalAssetsUsd: number | undefined
}

/** Values by which the list of vaults is sorted; null means unknown. */
const VALUES = {
  annualYield: ({ live }: Entry) => (live?.annualYield ? Number(live.annualYield.percent) : null),
  totalAssetsUsd: ({ live }: Entry) => live?.totalAssetsUsd ?? null,
  name: ({ vault }: Entry) => vault.name,
} as const satisfies Record<SortField, (entry: Entry) => number | string | null>

const { compare: compareNames } = new Intl.Collator('en')

/** Returns true if sorting or filtering needs the live figures of all vaults. */
export function needsLiveFigures({ sort, minTotalAssetsUsd }: Ranking): boolean {
  return minTotalAssetsUsd !== undefined || (sort !== undefined && sort !== 'name')
}

/**
 * Returns the vaults with at least `minTotalAssetsUsd`, sorted. Vaults with unknown values come last; vaults with equal
 * values keep their order.
 */
export function rankVaults<T extends Entry>(
  entries: readonly T[],
  { sort, order, minTotalAssetsUsd: min }: Ranking,
): T[] {
  const matching = entries.filter(({ live }) => min === undefined || (live?.totalAssetsUsd ?? -1) >= min)
  if (sort === undefined) return matching
  const sign = (order ?? (sort === 'name' ? 'asc' : 'desc')) === 'asc' ? 1 : -1
  return matching
    .map((entry) => ({ entry, value: VALUES[sort](entry) }))
    .sort(({ value: left }, { value: right }) => {
      if (left === null || right === null) return Number(left === null) - Number(right === null)
      return sign * (typeof left === 'number' ? left - Number(right) : compareNames(left, String(right)))
    })
    .map(({ entry }) => entry)
}
