import * as z from 'zod'
import { BridgeApi } from './bridge/apis.ts'
import { RpcUrls } from './chain/readers.ts'
import { CoinGeckoApi, DefiLlamaApi, LiFiApi } from './markets/apis.ts'
import { AlchemyApi, GoldRushApi, SolanaNftsApi, TokenIndexApis } from './portfolio/apis.ts'
import { MerklApi } from './rewards/merkl.ts'

/** Confidential configuration of a stage: endpoints and API keys of external services. AWS Secrets Manager stores it as JSON. */
export const Config = z.object({
  rpcUrls: RpcUrls.default({}),
  bridge: BridgeApi.prefault({}),
  coinGecko: CoinGeckoApi.prefault({}),
  defiLlama: DefiLlamaApi.prefault({}),
  liFi: LiFiApi.prefault({}),
  goldRush: GoldRushApi.prefault({}),
  alchemy: AlchemyApi.prefault({}),
  tokenIndexes: TokenIndexApis,
  merkl: MerklApi.prefault({}),
  solanaNfts: SolanaNftsApi.optional(),
})
export type Config = z.output<typeof Config>
