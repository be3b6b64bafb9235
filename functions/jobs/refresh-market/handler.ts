import { job } from '../../../lib/frame/job.ts'
import { cache, coinGecko, config, now, priceSources } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { refreshMarket } from './refresh-market.ts'

/** Nobody waits for a run. */
const LIMITS = { deadlineMs: 20_000 }
/** How old the market and the rates may grow: what a plan's calls in a month are enough for (docs/decisions/0006). */
const MARKET_SECONDS = { pro: 0, demo: 30 * 60 }

export const handler = job(
  contract,
  {
    cache,
    coinGecko: (env) => coinGecko(env, LIMITS),
    priceSources: (env) => priceSources(env, LIMITS),
    marketSeconds: async (env) => MARKET_SECONDS[(await config(env)).coinGecko.plan],
    now,
  },
  (services) => () => refreshMarket(services),
)
