import * as z from 'zod'
import { AppError } from '../errors.ts'
import type { HttpEnvironment } from '../http.ts'
import { createRpc } from './nodes.ts'
import { type ChainReader, chainReader } from './reader.ts'
import { evmChain } from './registry.ts'

/** RPC URLs by chain id; a chain that is not named here is read at the registry's public URLs. URLs may hold keys: they are secrets. */
export const RpcUrls = z.record(z.string(), z.tuple([z.url()], z.url()))
export type RpcUrls = z.output<typeof RpcUrls>

type Urls = readonly [string, ...string[]]

/** The readers of all chains, each made on first use and kept. Asking for a chain that the registry lacks throws `internal`. */
export function chainReaders(rpcUrls: RpcUrls, environment: HttpEnvironment): (chainId: number) => ChainReader {
  const readers = new Map<number, ChainReader>()
  return (chainId) => {
    const known = readers.get(chainId)
    if (known) return known
    const chain = evmChain(chainId)
    if (!chain) throw new AppError('internal', { cause: new Error(`Chain ${chainId} is not in the registry.`) })
    const readerAt = (urls: Urls) => chainReader(chain, createRpc(urls, environment, { chainId }))
    const urls = rpcUrls[chainId] ?? chain.rpcUrls
    const [other, ...others] = urlsOfOtherHosts(urls)
    const reader = { ...readerAt(urls), witness: other === undefined ? undefined : readerAt([other, ...others]) }
    readers.set(chainId, reader)
    return reader
  }
}

/** The URLs whose host (name and port) is another than the first one's: a chain's second opinion; none where all are of one host. */
export function urlsOfOtherHosts([first, ...others]: readonly string[]): string[] {
  return others.filter((url) => first !== undefined && new URL(url).host !== new URL(first).host)
}
