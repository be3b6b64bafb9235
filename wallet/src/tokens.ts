import type { ListCoinsResponse, Vault } from '@vaultline/client'
import { useSurroundings } from './context.ts'
import { findCoin } from './portfolio.ts'
import { useCoins } from './prices.ts'

/** Token on a chain that money can come from or go to. */
export type Token = {
  readonly chainId: number
  readonly address: `0x${string}`
  readonly symbol: string
  readonly decimals: number
}

/** Returns a vault's asset on the vault's chain. */
export function assetOf({ chainId, depositTokenAddress, asset }: Vault): Token {
  return { chainId, address: depositTokenAddress, ...asset }
}

/** Returns the same coin on all chains of the wallet that have it, its own chain first. */
export function useSameCoin(token: Token): readonly Token[] {
  const { chains } = useSurroundings().config
  const coins = useCoins().data?.data ?? []
  // Matched by the market's key of the coin: anyone can copy a symbol, and USDC.e has the id of USDC.
  const coinKey = findCoin(coins, token.chainId, token.address)?.coinKey
  if (!coinKey) return [token]
  const others = coins.filter(
    (coin) =>
      coin.coinKey === coinKey &&
      coin.chainId !== token.chainId &&
      chains.some(({ chainId }) => chainId === coin.chainId),
  )
  return [token, ...others.map(toToken)]
}

function toToken({
  chainId,
  contract_address,
  contract_ticker_symbol,
  contract_decimals,
}: ListCoinsResponse[number]): Token {
  // The cast is safe because the list's addresses on this wallet's chains have their checksum.
  return {
    ...{ chainId, address: contract_address as `0x${string}` },
    ...{ symbol: contract_ticker_symbol, decimals: contract_decimals },
  }
}
