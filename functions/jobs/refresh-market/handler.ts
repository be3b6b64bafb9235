import { readConfig } from '../../../lib/frame/config.ts'
import { job } from '../../../lib/frame/job.ts'
import { cacheOf, sourcesOf } from '../../../lib/frame/markets.ts'
import { refreshMarket } from '../../../lib/markets/refresh-market.ts'
import { contract } from './contract.ts'

/** Nobody waits for a run. */
const DEADLINE_MS = 20_000
/** What a plan's calls in a month are enough for (docs/decisions/0006). */
const MARKET_SECONDS = { pro: 0, demo: 30 * 60 }

export const handler = job(contract, async (env) => {
  const config = await readConfig(env)
  const sources = sourcesOf(config, { deadlineMs: DEADLINE_MS })
  const marketSeconds = MARKET_SECONDS[config.coinGecko.plan]
  return () => refreshMarket({ ...sources, cache: cacheOf(env), now: Date.now, marketSeconds })
})
