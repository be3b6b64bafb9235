import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import type { HttpEnvironment } from '../core/http.ts'
import { createRpc } from './nodes.ts'
import { type ChainReader, createChainReader } from './reader.ts'
import { type EvmChain, evmChain } from './registry.ts'

/** RPC URLs by chain id. Chains without an entry use the registry's public URLs. URLs may contain keys: they are secrets. */
export const RpcUrls = z.record(z.string(), z.tuple([z.url()], z.url()))
export type RpcUrls = z.output<typeof RpcUrls>

/**
 * Creates a function that returns the reader of a chain. The function creates a chain's reader on first use and keeps
 * it. It throws `internal` for a chain that the registry lacks.
 */
export function createChainReaders(rpcUrls: RpcUrls, environment: HttpEnvironment): (chainId: number) => ChainReader {
  const readers = new Map<number, ChainReader>()
  return (chainId: number) => {
    const known = readers.get(chainId)
    if (known) return known
    const chain = findChain(chainId)
    const reader = createChainReader(chain, createRpc(rpcUrls[chainId] ?? chain.rpcUrls, environment, { chainId }))
    readers.set(chainId, reader)
    return reader
  }
}

/** Returns the chain of the registry with this id. Throws `internal` if there is none. */
export function findChain(chainId: number): EvmChain {
  const chain = evmChain(chainId)
  if (!chain) throw new AppError('internal', { cause: new Error(`Chain ${chainId} is not in the registry.`) })
  return chain
}

/** Groups the URLs by host, in the order of each host's first URL. */
export function groupByHost(urls: readonly string[]): [string, ...string[]][] {
  // The cast is right: each group contains at least one URL.
  return [...Map.groupBy(urls, hostOf).values()] as [string, ...string[]][]
}

/** Domain endings of two labels, such as `co.uk`, below which names are registered. */
const SECOND_LEVEL = /\.(ac|co|com|edu|gov|net|org)\.[a-z]{2}$/

/**
 * Returns the registered domain in a URL. All its subdomains and paths count as one host. An IP address, or a name
 * without a dot, is the operator's own machine. Each port of that machine counts as a host.
 */
function hostOf(url: string): string {
  const { hostname, host } = new URL(url)
  if (!hostname.includes('.') || /^[\d.]+$/.test(hostname)) return host
  return hostname
    .split('.')
    .slice(SECOND_LEVEL.test(hostname) ? -3 : -2)
    .join('.')
}
