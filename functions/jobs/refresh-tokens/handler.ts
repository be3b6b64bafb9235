import { readConfig } from '../../../lib/frame/config.ts'
import { job } from '../../../lib/frame/job.ts'
import { cacheOf, sourcesOf } from '../../../lib/frame/markets.ts'
import { refreshTokens } from '../../../lib/markets/refresh-tokens.ts'
import { contract } from './contract.ts'

/** Both lists are megabytes, and nobody waits for them. */
const DEADLINE_MS = 30_000

export const handler = job(contract, async (env) => {
  const sources = sourcesOf(await readConfig(env), { deadlineMs: DEADLINE_MS })
  return () => refreshTokens({ ...sources, cache: cacheOf(env), now: Date.now })
})
