import { useQuery } from '@tanstack/react-query'
import { listCoins } from '@vaultline/client'
import { queryAnswer } from '@vaultline/client/query'
import { useCurrency, useService } from './context.ts'
import { findCoin, toNumber } from './portfolio.ts'

/** Address by which the service names a chain's native coin. */
export const NATIVE_COIN = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

/** Returns the supported coins on all chains with prices in the chosen currency, and the age of this data. */
export function useCoins() {
  const currency = useCurrency()
  return useQuery({ ...queryAnswer(listCoins, useService(), { currency }), staleTime: 60_000 })
}

/** Returns the price of one whole token in the chosen currency; null if unknown. */
export function usePriceOf(): (chainId: number, address: string) => number | null {
  const { data } = useCoins()
  return (chainId, address) => findCoin(data?.data ?? [], chainId, address)?.current_price ?? null
}

/** Returns an amount's value at the price of one whole token; null without a price. `units` is in the token's smallest unit. */
export function worthOf(units: string | bigint, decimals: number, price: number | null): number | null {
  // Floating-point precision suffices, because the value is only displayed and no transaction depends on it.
  return price === null ? null : toNumber(units, decimals) * price
}
