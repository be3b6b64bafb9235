import type { Address } from 'viem'
import { BRIDGED_TOKENS } from '../chain/bridged-tokens.ts'
import { COIN_ADDRESS, EVM_CHAINS } from '../chain/registry.ts'

/** Token of one chain that the bridge transfers. */
export type BridgeToken = {
  /** Symbol of the asset, which is the same on all chains. */
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  /** True for the wrapped form of the chain's own coin, for which the pool also takes the coin itself. */
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

/** Returns the bridge's token with this address; undefined if there is none. */
export function findBridgeToken(chainId: number, address: Address): BridgeToken | undefined {
  return BRIDGED.get(chainId)?.find((token) => token.address === address)
}

/** Returns the bridge's token for this asset on this chain; undefined if there is none. */
export function findBridgeTokenBySymbol(chainId: number, symbol: string): BridgeToken | undefined {
  return BRIDGED.get(chainId)?.find((token) => token.symbol === symbol)
}

/** Replaces COIN_ADDRESS by the chain's wrapped coin, if the bridge transfers it. Returns other tokens unchanged. */
export function toBridgedToken(chainId: number, token: Address): Address {
  if (token !== COIN_ADDRESS) return token
  return BRIDGED.get(chainId)?.find(({ wrapsCoin }) => wrapsCoin)?.address ?? token
}
