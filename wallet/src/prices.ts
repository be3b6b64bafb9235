import { useQuery } from '@tanstack/react-query'
import { listCoins } from '@vaultline/client'
import { queryAnswer } from '@vaultline/client/query'
import { useCurrency, useService } from './context.ts'
import { findCoin, toNumber } from './portfolio.ts'

/** How the service names a chain's own coin. */
export const NATIVE_COIN = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

/** The supported coins on all chains, in the chosen currency, with how old they are. */
export function useCoins() {
  const currency = useCurrency()
  return useQuery({ ...queryAnswer(listCoins, useService(), { currency }), staleTime: 60_000 })
}

/** What one whole token is worth in the chosen currency; null where it is not known. */
export function usePriceOf(): (chainId: number, address: string) => number | null {
  const { data } = useCoins()
  return (chainId, address) => findCoin(data?.data ?? [], chainId, address)?.current_price ?? null
}

/** What an amount is worth at a price; null where no price is known. `units` are the token's smallest. */
export function worthOf(units: string | bigint, decimals: number, price: number | null): number | null {
  // A value for people, in a currency: no transaction is made of it.
  return price === null ? null : toNumber(units, decimals) * price
}
