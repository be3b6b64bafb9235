import { createRpc } from '../chain/nodes.ts'
import { CHAINS } from '../chain/registry.ts'
import type { Rpc } from '../chain/rpc.ts'
import { type GoldRush, goldRush } from '../portfolio/goldrush.ts'
import { type SolanaNfts, solanaNfts } from '../portfolio/solana-nfts.ts'
import type { Config } from './config.ts'
import { upstream } from './markets.ts'

const SOLANA = CHAINS.find(({ kind }) => kind === 'solana')

/** Solana's nodes as the configuration of a function names them, else the registry's public ones. */
export function solanaOf({ rpcUrls }: Config): Rpc {
  if (!SOLANA) throw new Error('Solana is not in the registry.')
  return createRpc(rpcUrls[SOLANA.id] ?? SOLANA.rpcUrls, { fetch, random: Math.random, now: () => performance.now() })
}

/** The index of wallets; undefined where the configuration has no key for it. */
export function goldRushOf({ goldRush: { url, apiKey } }: Config): GoldRush | undefined {
  if (apiKey === undefined) return undefined
  return goldRush(upstream({ name: 'GoldRush', url, headers: { authorization: `Bearer ${apiKey}` } }))
}

/** The source of Solana's NFTs; undefined where the configuration names none. */
export function solanaNftsOf({ solanaNfts: api }: Config): SolanaNfts | undefined {
  return api && solanaNfts(upstream({ name: 'DAS', url: api.url }))
}
