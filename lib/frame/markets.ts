import { dynamo } from '../aws/dynamo.ts'
import { sharedCache } from '../cache/cache.ts'
import { cacheStore } from '../cache/store.ts'
import { createUpstream, type Upstream, type UpstreamOptions } from '../http.ts'
import { coinGecko } from '../markets/coingecko.ts'
import { defiLlama } from '../markets/defillama.ts'
import { liFi } from '../markets/lifi.ts'
import type { Config } from './config.ts'

/** The cache of a function, which all functions share. */
export function cacheOf({ CACHE_TABLE }: { CACHE_TABLE: string }) {
  return sharedCache({ table: cacheStore(dynamo(), CACHE_TABLE), now: Date.now })
}

/** The sources of market data of a function, as its configuration names them; a request takes 3 s at most unless told. */
export function sourcesOf(config: Config, limits: Pick<UpstreamOptions, 'deadlineMs'> = {}) {
  return {
    coinGecko: coinGecko(upstream({ ...config.coinGecko, name: 'CoinGecko', ...limits })),
    defiLlama: defiLlama(upstream({ ...config.defiLlama, name: 'DefiLlama', ...limits })),
    liFi: liFi(upstream({ ...config.liFi, name: 'LI.FI', ...limits })),
  }
}

/** An upstream of a function. */
export function upstream(options: UpstreamOptions): Upstream {
  return createUpstream(options, { fetch, random: Math.random, now: () => performance.now() })
}
