import { contract as refreshChain } from '../../functions/jobs/refresh-chain/contract.ts'
import { contract as refreshMarket } from '../../functions/jobs/refresh-market/contract.ts'
import { contract as refreshTokens } from '../../functions/jobs/refresh-tokens/contract.ts'
import { maxLagSeconds } from '../../infra/lag.ts'
import { computeLagSeconds } from '../../lib/activity/lag.ts'
import type { VaultProgress } from '../../lib/activity/store.ts'
import type { Aged, SharedCache } from '../../lib/cache/cache.ts'
import type { BlockHeader } from '../../lib/chain/logs.ts'
import { CHAINS, type EvmChain } from '../../lib/chain/registry.ts'
import type { JobContract } from '../../lib/frame/contract.ts'
import { EXCHANGE_RATES_KEY, MARKET_DATA_KEY, PRICES_KEYS, TOKENS_KEYS } from '../../lib/markets/cache-keys.ts'
import { type Finding, formatCount, guideSection, joinFirstNames } from './finding.ts'

const WATCHING = guideSection('watch', 'Alarms that wake somebody')

type RecordProgress = {
  /** Progress of each vault of the chain; undefined for a vault without records. */
  readonly progress: readonly (VaultProgress | undefined)[]
  /** Last block of the chain; undefined if no node returned it. */
  readonly head: BlockHeader | undefined
  /** Time of the check, in epoch milliseconds. */
  readonly now: number
}

/** Checks how late the records of a chain's vaults are. The job that writes the records measures this lag in the same way. */
export function checkRecords(
  chain: EvmChain,
  { progress, head, now }: RecordProgress,
  command: (text: string) => string,
): Finding {
  const name = `records of ${chain.name}`
  const vaults = formatCount(progress.length, 'vault')
  const moments = progress.flatMap((of) => of?.timestamp ?? [])
  const [recorded] = moments.toSorted((left, right) => Number(right - left))
  if (recorded === undefined) {
    const remedy = `Wait for some minutes after add-vault; then the log of jobs/refresh-chain: ${WATCHING}`
    return { mark: 'WARN', name, result: `nothing yet, of ${vaults}`, remedy }
  }
  const lag = computeLagSeconds(chain, { recorded, head, now })
  const result = `${timeText(lag)} behind, of ${vaults}`
  if (lag < maxLagSeconds(refreshChain)) return { mark: 'ok', name, result }
  return { mark: 'FAIL', name, result, remedy: `${command(`check-nodes --chain ${chain.id}`)}, and ${WATCHING}` }
}

/** Checks the age of the prices and rates that the market's jobs store in the cache table. Sends one request. */
export async function checkMarket(cache: Pick<SharedCache, 'get'>, now: number): Promise<Finding[]> {
  const cached = await cache.get({ MARKET: MARKET_DATA_KEY, RATES: EXCHANGE_RATES_KEY, ...PRICES_KEYS, ...TOKENS_KEYS })
  return [
    checkAge('market', refreshMarket, { answers: { market: cached.MARKET, rates: cached.RATES }, now }),
    checkAge('prices', refreshMarket, { answers: ofChains((key) => cached[`prices ${key}`]), now }),
    checkAge('token lists', refreshTokens, { answers: ofChains((key) => cached[`tokens ${key}`]), now }),
  ]
}

type Answer = Pick<Aged<unknown>, 'asOf' | 'isStale'> | undefined

function ofChains(answerOf: (key: (typeof CHAINS)[number]['key']) => Answer): Readonly<Record<string, Answer>> {
  return Object.fromEntries(CHAINS.map(({ key }) => [key, answerOf(key)]))
}

/** Returns WARN if data in the cache is stale. Returns FAIL if data is missing, or so old that the job's lag triggers an alarm. */
function checkAge(
  name: string,
  contract: Pick<JobContract, 'everyMinutes'>,
  { answers, now }: { readonly answers: Readonly<Record<string, Answer>>; readonly now: number },
): Finding {
  const remedy = `Wait for the job's next run, at most ${contract.everyMinutes} minutes; then its log: ${WATCHING}`
  const missing = Object.keys(answers).filter((key) => !answers[key])
  if (missing.length > 0) return { mark: 'FAIL', name, result: `unknown: ${joinFirstNames(missing)}`, remedy }
  const ages = Object.values(answers).flatMap((answer) =>
    answer ? [{ ...answer, seconds: Math.round((now - answer.asOf.getTime()) / 1000) }] : [],
  )
  const oldest = Math.max(...ages.map(({ seconds }) => seconds))
  const result = `${timeText(oldest)} old`
  const stale = ages.filter(({ isStale }) => isStale)
  if (stale.length === 0) return { mark: 'ok', name, result }
  const hasFailed = stale.some(({ seconds }) => seconds >= maxLagSeconds(contract))
  return { mark: hasFailed ? 'FAIL' : 'WARN', name, result, remedy }
}

function timeText(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`
}
