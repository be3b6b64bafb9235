import type { ListCoinsResponse, Vault } from '@vaultline/client'
import { useAppContext } from './context.ts'
import { findCoin } from './portfolio.ts'
import { useCoins } from './prices.ts'

/** Token on a chain from which a deposit can come, or to which a withdrawal can go. */
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

/** Returns the tokens of the same coin on all chains of the wallet that have it, the given token first. */
export function useTokensOfCoin(token: Token): readonly Token[] {
  const { chains } = useAppContext().config
  const coins = useCoins().data?.data ?? []
  // Tokens are matched by the coin's key: anyone can copy a symbol, and USDC.e has CoinGecko's id of USDC.
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
  // The cast is safe because addresses on this wallet's chains are valid EVM addresses with a checksum.
  return {
    ...{ chainId, address: contract_address as `0x${string}` },
    ...{ symbol: contract_ticker_symbol, decimals: contract_decimals },
  }
}
