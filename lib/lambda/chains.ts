import type * as z from 'zod'
import { readSecretJson } from '../aws/secrets.ts'
import type { ChainReader } from '../chain/reader.ts'
import { chainReaders } from '../chain/readers.ts'
import { type ChainsEnv, Config } from './env.ts'

/** The chain readers of a function, over the RPC URLs of its secret. Throws when the secret cannot be read. */
export async function chains(env: z.output<typeof ChainsEnv>): Promise<(chainId: number) => ChainReader> {
  const { rpcUrls } = await readSecretJson(env.CONFIG_SECRET, Config)
  return chainReaders(rpcUrls, { fetch, random: Math.random, now: () => performance.now() })
}
