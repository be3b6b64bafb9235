import { keepPreviousData } from '@tanstack/react-query'
import { type Client, getCoinChart, getTokenChart } from '@vaultline/client'
import { queryAnswer } from '@vaultline/client/query'

/** Token that may have past prices: a coin with a CoinGecko id, or a contract on a chain. */
export type PricedToken = {
  readonly coinId: string | undefined
  readonly chainId: number
  readonly address: string
}

/** Milliseconds for which past prices count as fresh, because they change every minute at most. */
const FRESH_MS = 60_000

/** Builds the query of a token's past prices. A coin on two chains shares one query. */
export function historyQuery(
  service: Client,
  { coinId, chainId, address }: PricedToken,
  currency: string,
  days: string,
) {
  const query = { currency, days }
  const { queryKey, queryFn } = coinId
    ? queryAnswer(getCoinChart, service, { id: coinId, ...query })
    : queryAnswer(getTokenChart, service, { network: `${chainId}`, address, ...query })
  return { queryKey, queryFn, retry: false as const, staleTime: FRESH_MS, placeholderData: keepPreviousData }
}
