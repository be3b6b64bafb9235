import { annualYield, type PricePoint } from '../vaults/apy.ts'
import type { Vault } from '../vaults/vault.ts'
import type { RecordsTable } from './table.ts'

const PERIOD_SECONDS = 7n * 86_400n
const REMEMBERED_MS = 15 * 60_000

/**
 * Returns the function that gives a vault's yield over the last seven days, in percent with two decimals, from the
 * recorded price of a week ago, which is remembered for a quarter of an hour, and the price now.
 */
export function yieldsOf({ records, now }: { records: Pick<RecordsTable, 'getPriceAt'>; now: () => number }) {
  const remembered = new Map<string, { readonly until: number; readonly price: Promise<PricePoint | undefined> }>()

  return async (vault: Vault, latest: bigint | undefined): Promise<string> => {
    if (latest === undefined) return annualYield(undefined, undefined)
    const key = `${vault.chainId}#${vault.address}`
    const seconds = BigInt(Math.floor(now() / 1000))
    const known = remembered.get(key)
    const price = known && now() < known.until ? known.price : records.getPriceAt(vault, seconds - PERIOD_SECONDS)
    if (price !== known?.price) {
      remembered.set(key, { until: now() + REMEMBERED_MS, price })
      price.catch(() => remembered.delete(key))
    }
    return annualYield(await price, { price: latest, timestamp: seconds })
  }
}
