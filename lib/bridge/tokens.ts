import type { Address } from 'viem'
import { BRIDGED_TOKENS } from '../chain/bridged-tokens.ts'
import { COIN_ADDRESS, EVM_CHAINS } from '../chain/registry.ts'

/** Token that the bridge takes on one chain. */
export type BridgeToken = {
  /** Symbol of the asset, the same on all chains. */
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  /** True for the chain's wrapped coin: the pool also takes the coin itself. */
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

/** Finds the bridge's token at this address; undefined if there is none. */
export function findBridgeToken(chainId: number, address: Address): BridgeToken | undefined {
  return BRIDGED.get(chainId)?.find((token) => token.address === address)
}

/** Finds the bridge's token of this asset on this chain; undefined if there is none. */
export function findBridgeTokenBySymbol(chainId: number, symbol: string): BridgeToken | undefined {
  return BRIDGED.get(chainId)?.find((token) => token.symbol === symbol)
}

/** Returns the wrapped coin for the chain's coin, if the bridge takes it; else the same token. */
export function toBridgedToken(chainId: number, token: Address): Address {
  if (token !== COIN_ADDRESS) return token
  return BRIDGED.get(chainId)?.find(({ wrapsCoin }) => wrapsCoin)?.address ?? token
}
