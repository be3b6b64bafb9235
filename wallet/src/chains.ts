import type { Chain } from 'viem'
import { arbitrum, base, bsc, gnosis, mainnet, optimism, polygon } from 'viem/chains'
import { createConfig, http } from 'wagmi'
import type { Config } from './config.ts'

const CHAINS: readonly Chain[] = [base, arbitrum, mainnet, optimism, polygon, gnosis, bsc]

/** Configures wagmi with this browser's wallets and the configured chains. Throws for a chain that this wallet does not know. */
export function createWagmi({ chains }: Config) {
  const [first, ...rest] = chains.map(({ chainId }) => findChain(chainId))
  if (!first) throw new Error('/config.json names no chain.')
  return createConfig({
    chains: [first, ...rest],
    transports: Object.fromEntries(chains.map(({ chainId, rpcUrl }) => [chainId, http(rpcUrl)])),
    pollingInterval: 1000,
  })
}

/** Returns viem's definition of a chain by its id. Throws for a chain that this wallet does not know. */
export function findChain(chainId: number): Chain {
  const chain = CHAINS.find(({ id }) => id === chainId)
  if (!chain) throw new Error(`This wallet does not know chain ${chainId}.`)
  return chain
}

/** Id by which the service names Solana, its only chain that is not EVM. */
const SOLANA = 1151111081099710

/** Returns the common name of a chain. */
export function chainName(chainId: number): string {
  if (chainId === SOLANA) return 'Solana'
  const name = CHAINS.find(({ id }) => id === chainId)?.name ?? `Chain ${chainId}`
  return name.replace(/ One$| Mainnet$/, '')
}
