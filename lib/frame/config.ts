import * as z from 'zod'
import { readSecretJson } from '../aws/secrets.ts'
import { BridgeApi } from '../bridge/quote.ts'
import type { ChainReader } from '../chain/reader.ts'
import { chainReaders, RpcUrls } from '../chain/readers.ts'
import { createUpstream } from '../http.ts'
import { CoinGeckoApi, DefiLlamaApi, LiFiApi } from '../markets/apis.ts'
import { GoldRushApi, SolanaNftsApi } from '../portfolio/apis.ts'
import type { ChainsEnv } from './env.ts'

/** The content of a stage's secret: what configures the stage and must not be seen. */
export const Config = z.object({
  rpcUrls: RpcUrls.default({}),
  bridge: BridgeApi.prefault({}),
  coinGecko: CoinGeckoApi.prefault({}),
  defiLlama: DefiLlamaApi.prefault({}),
  liFi: LiFiApi.prefault({}),
  goldRush: GoldRushApi.prefault({}),
  solanaNfts: SolanaNftsApi.optional(),
})
export type Config = z.output<typeof Config>

/** The configuration of a function. Throws when the secret cannot be read or has another form. */
export function readConfig({ CONFIG_SECRET }: z.output<typeof ChainsEnv>): Promise<Config> {
  return readSecretJson(CONFIG_SECRET, Config)
}

/** The chain readers of a function, over the RPC URLs of its configuration. */
export function readersOf({ rpcUrls }: Config): (chainId: number) => ChainReader {
  return chainReaders(rpcUrls, { fetch, random: Math.random, now: () => performance.now() })
}

/** The bridge's API as the configuration of a function names it, and our id there. */
export function bridgeOf({ bridge: { integratorId, ...api } }: Config) {
  const environment = { fetch, random: Math.random, now: () => performance.now() }
  return { api: createUpstream({ ...api, name: 'Across' }, environment), integratorId }
}
