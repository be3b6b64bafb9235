import { expect, test } from 'vitest'
import type { ListCoinsResponse } from '../../client/src/index.ts'
import { listMarketCoins, sortCoins } from '../../wallet/src/coins.ts'

function coin(id: string | null, chainId: number, current_price: number | null): ListCoinsResponse[number] {
  return {
    contract_address: `0x${chainId}`,
    chainId,
    contract_ticker_symbol: id ?? 'none',
    contract_decimals: 18,
    contract_name: id ?? 'none',
    coinKey: '',
    logo_url: '',
    id,
    current_price,
    market_cap: null,
    total_volume: null,
    price_change_percentage_24h: null,
  }
}

test('A coin is listed once, with its chains', () => {
  const coins = [coin('ether', 1, 3000), coin('ether', 8453, 3000), coin(null, 1, null), coin(null, 8453, null)]
  expect(listMarketCoins(coins).map(({ id, chainIds }) => [id, chainIds])).toEqual([
    ['ether', [1, 8453]],
    [null, [1]],
    [null, [8453]],
  ])
})

test('Coins are sorted in both directions, and unknown values come last in both', () => {
  const coins = listMarketCoins([coin('low', 1, 1), coin('unknown', 1, null), coin('high', 1, 9)])
  expect(sortCoins(coins, 'price', false).map(({ id }) => id)).toEqual(['high', 'low', 'unknown'])
  expect(sortCoins(coins, 'price', true).map(({ id }) => id)).toEqual(['low', 'high', 'unknown'])
  expect(sortCoins(coins, 'name', false).map(({ id }) => id)).toEqual(['high', 'low', 'unknown'])
})
