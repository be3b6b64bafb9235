import { job } from '../../../lib/frame/job.ts'
import { cache, coinGecko, liFi, now } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { refreshTokens } from './refresh-tokens.ts'

/** Both lists are megabytes, and nobody waits for them. */
const LIMITS = { deadlineMs: 30_000 }

export const handler = job(
  contract,
  {
    cache,
    coinGecko: (env) => coinGecko(env, LIMITS),
    liFi: (env) => liFi(env, LIMITS),
    now,
  },
  (services) => () => refreshTokens(services),
)
