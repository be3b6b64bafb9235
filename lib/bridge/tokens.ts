import type { Address } from 'viem'
import { BRIDGED_TOKENS } from '../chain/bridged-tokens.ts'
import { COIN_ADDRESS, EVM_CHAINS } from '../chain/registry.ts'

/** Token of one chain that the bridge can transfer. */
export type BridgeToken = {
  /** Symbol of the asset; the same asset has the same symbol on all chains. */
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  /** True for the wrapped form of the chain's native coin. The bridge's pool also accepts the coin itself. */
  readonly wrapsCoin: boolean
}

const BRIDGED = new Map(
  EVM_CHAINS.map(({ id, nativeCoin }): [number, readonly BridgeToken[]] => [
    id,
    (BRIDGED_TOKENS[id] ?? []).map(([symbol, decimals, address, asset = symbol]) => ({
      ...{ symbol: asset, address, decimals },
      wrapsCoin: asset === `W${nativeCoin.symbol}`,
    })),
  ]),
)

/** Returns the bridge's token with this address on a chain; undefined if the bridge does not transfer it. */
export function findBridgeToken(chainId: number, address: Address): BridgeToken | undefined {
  return BRIDGED.get(chainId)?.find((token) => token.address === address)
}

/** Returns the bridge's token for an asset on a chain; undefined if the bridge does not transfer it there. */
export function findBridgeTokenBySymbol(chainId: number, symbol: string): BridgeToken | undefined {
  return BRIDGED.get(chainId)?.find((token) => token.symbol === symbol)
}

/** Replaces COIN_ADDRESS by the chain's wrapped coin, if the bridge transfers that coin. Returns other tokens unchanged. */
export function toBridgedToken(chainId: number, token: Address): Address {
  if (token !== COIN_ADDRESS) return token
  return BRIDGED.get(chainId)?.find(({ wrapsCoin }) => wrapsCoin)?.address ?? token
}
