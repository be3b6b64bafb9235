import * as z from 'zod'
import { AppError } from '../errors.ts'
import { type ChainReader, chainReader } from './reader.ts'
import { evmChain } from './registry.ts'
import { createRpc, type RpcEnvironment } from './rpc.ts'

/** RPC URLs by chain id; a chain that is not named here is read at the registry's public URLs. URLs may hold keys: they are secrets. */
export const RpcUrls = z.record(z.string(), z.tuple([z.url()], z.url()))
export type RpcUrls = z.output<typeof RpcUrls>

/** The readers of all chains, each made on first use and kept. Asking for a chain that the registry lacks throws `internal`. */
export function chainReaders(rpcUrls: RpcUrls, environment: RpcEnvironment): (chainId: number) => ChainReader {
  const readers = new Map<number, ChainReader>()
  return (chainId) => {
    const chain = evmChain(chainId)
    if (!chain) throw new AppError('internal', { cause: new Error(`Chain ${chainId} is not in the registry.`) })
    const reader = readers.get(chainId) ?? chainReader(chain, createRpc(rpcUrls[chainId] ?? chain.rpcUrls, environment))
    readers.set(chainId, reader)
    return reader
  }
}
