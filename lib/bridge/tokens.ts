import type { Address } from 'viem'
import { BRIDGED_TOKENS } from '../chain/bridged-tokens.ts'
import { COIN_ADDRESS, EVM_CHAINS } from '../chain/registry.ts'

/** A token that the bridge takes, on one chain. */
export type BridgeToken = {
  /** The symbol of the asset, which is the same on all chains. */
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  /** True for the chain's coin as a token: the pool takes the coin in its place. */
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

/** The bridge's token at this address of this chain, undefined where it takes none. */
export function bridgeTokenAt(chainId: number, address: Address): BridgeToken | undefined {
  return BRIDGED.get(chainId)?.find((token) => token.address === address)
}

/** The bridge's token of this asset on this chain, undefined where it has none. */
export function bridgeTokenBySymbol(chainId: number, symbol: string): BridgeToken | undefined {
  return BRIDGED.get(chainId)?.find((token) => token.symbol === symbol)
}

/** The token as which the bridge takes this one: the wrapped coin for the chain's coin, if it takes that; else the same. */
export function bridgedAs(chainId: number, token: Address): Address {
  if (token !== COIN_ADDRESS) return token
  return BRIDGED.get(chainId)?.find(({ wrapsCoin }) => wrapsCoin)?.address ?? token
}
