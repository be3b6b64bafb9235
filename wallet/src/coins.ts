import type { ListCoinsResponse } from '@vaultline/client'

/** Coin with the ids of the chains on which it exists. */
export type MarketCoin = ListCoinsResponse[number] & { readonly chainIds: readonly number[] }

/** Sort orders of coins: largest first, names from A to Z. */
export type CoinSortOrder = 'name' | 'price' | 'change' | 'market cap' | 'volume'

/** Lists the supported coins once each, with their chains. A coin without an id is listed separately for each chain. */
export function listMarketCoins(coins: ListCoinsResponse): readonly MarketCoin[] {
  const coinsByKey = new Map<string, MarketCoin>()
  for (const coin of coins) {
    const key = coin.id ?? `${coin.chainId} ${coin.contract_address}`
    const before = coinsByKey.get(key)
    const chainIds = before?.chainIds ?? []
    coinsByKey.set(key, {
      ...(before ?? coin),
      chainIds: chainIds.includes(coin.chainId) ? chainIds : [...chainIds, coin.chainId],
    })
  }
  return [...coinsByKey.values()]
}

/** Sorts coins; unknown figures come last. */
export function sortCoins(
  coins: readonly MarketCoin[],
  order: CoinSortOrder,
  isReversed: boolean,
): readonly MarketCoin[] {
  const direction = isReversed ? -1 : 1
  if (order === 'name') {
    return coins.toSorted((left, right) => direction * left.contract_name.localeCompare(right.contract_name))
  }
  const figureOf = (coin: MarketCoin) =>
    ({
      price: coin.current_price,
      change: coin.price_change_percentage_24h,
      'market cap': coin.market_cap,
      volume: coin.total_volume,
    })[order]
  return coins.toSorted((left, right) => {
    const [one, other] = [figureOf(left), figureOf(right)]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return direction * (other - one)
  })
}
