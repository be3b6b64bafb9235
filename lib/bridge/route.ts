import type { Address } from 'viem'
import { type EvmChain, evmChain } from '../chain/registry.ts'
import { AppError, type ErrorCode } from '../core/errors.ts'
import type { Vault } from '../vaults/vault.ts'
import type { RouteEnd } from './calldata.ts'
import { type BridgeToken, findBridgeToken, findBridgeTokenBySymbol } from './tokens.ts'

/** Other end of a transfer from or to a vault: its chain and token, and the error codes if the bridge does not support them. */
export type OtherEnd = {
  readonly chainId: number
  readonly token: Address
  readonly errors: { readonly chain: ErrorCode; readonly token: ErrorCode }
}

/**
 * Returns the ends of a bridge route: the vault's chain, and another chain. The other chain's token must be the same
 * asset as the vault's, because another token could strand the money. Throws `cross_chain_not_available`, or one of the
 * errors in `other`.
 */
export function findRouteEnds(vault: Vault, other: OtherEnd): { readonly vault: RouteEnd; readonly other: RouteEnd } {
  const there = getContracts(other.chainId)
  if (!there) throw new AppError(other.errors.chain)
  const here = getContracts(vault.chainId)
  const asset = findBridgeToken(vault.chainId, vault.asset)
  if (!here || !asset) throw new AppError('cross_chain_not_available')
  const token = findBridgeTokenBySymbol(other.chainId, asset.symbol)
  if (token?.address !== other.token) throw new AppError(other.errors.token)
  return { vault: buildEnd(vault.chainId, here, asset), other: buildEnd(other.chainId, there, token) }
}

/** Returns the addresses of the bridge's contracts on a chain; empty if the bridge does not support the chain. */
export function listBridgeContracts(chainId: number): Address[] {
  const bridge = getContracts(chainId)
  return bridge ? [bridge.pool, bridge.multicallHandler] : []
}

function getContracts(chainId: number): EvmChain['bridge'] | undefined {
  return evmChain(chainId)?.bridge
}

function buildEnd(
  chainId: number,
  { pool, multicallHandler: handler }: NonNullable<EvmChain['bridge']>,
  { address: token, decimals, wrapsCoin }: BridgeToken,
): RouteEnd {
  return { chainId, pool, handler, token, decimals, wrapsCoin }
}
