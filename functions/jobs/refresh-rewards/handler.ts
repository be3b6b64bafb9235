import type * as z from 'zod'
import { evmChain } from '../../../lib/chain/registry.ts'
import { logger } from '../../../lib/core/logger.ts'
import { toResult, unwrap } from '../../../lib/core/result.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/core/time.ts'
import { job } from '../../../lib/frame/job.ts'
import { tokensKey } from '../../../lib/markets/cache-keys.ts'
import { createSpamRule } from '../../../lib/portfolio/spam.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { campaignsKey } from '../../../lib/rewards/campaigns.ts'
import {
  appendingLog,
  cache,
  enqueueDeliveries,
  getAgreedReader,
  getTokenValues,
  listedVaults,
  merkl,
  now,
  random,
  type Services,
  sleep,
  watchedAccounts,
  webhooks,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { publishClaimableRewards } from './publish-claimable.ts'
import { publishRewardClaims } from './publish-claimed.ts'

type RewardsServices = Parameters<typeof publishClaimableRewards>[0] &
  Parameters<typeof publishRewardClaims>[0] &
  Services<'listedVaults' | 'cache'>

/**
 * Age at which campaigns are fetched again. The job runs every five minutes. So every third run fetches, even if it
 * starts a minute early.
 */
const MAX_AGE_MS = 14 * MINUTE_MS
/** Maximum number of watched accounts that one run reads. With a pause of two seconds after each, they take a bit over three minutes. */
const MAX_CHECKED = 100

/**
 * Refreshes the reward campaigns of a chain's vaults. Publishes events about claimed and claimable rewards to the
 * clients that watch the accounts. A failed part does not stop the others. Throws `upstream_*` if the claims could not
 * be read. The next run reads them again.
 */
export function refreshRewards(dependencies: RewardsServices) {
  const { listedVaults, watchedAccounts, now } = dependencies
  return async (
    { chainId }: { chainId: number },
    { remainingMs }: { readonly remainingMs: () => number },
  ): Promise<z.output<typeof contract.report>> => {
    const vaults = await listedVaults.list(chainId)
    if (vaults.length === 0) return { chainId, outcome: 'no vaults' }
    const waiting = await watchedAccounts.listNext(chainId, MAX_CHECKED)
    // Claims come first, because they do not depend on Merkl.
    const claimed = await toResult(publishRewardClaims(dependencies, chainId, waiting.length > 0))
    const campaigns = await refreshCampaigns(dependencies, chainId, vaults)
    const due = waiting.filter(({ lookAt }) => lookAt <= now())
    const checked = await publishClaimableRewards(dependencies, { chainId, due, remainingMs })
    return { chainId, outcome: 'refreshed', ...campaigns, ...checked, claimed: unwrap(claimed) }
  }
}

/** Fetches the reward campaigns of these vaults, unless the cached campaigns are recent. If the fetch fails, the cached campaigns stay. */
async function refreshCampaigns(
  { cache, merkl, now }: Pick<RewardsServices, 'cache' | 'merkl' | 'now'>,
  chainId: number,
  vaults: readonly VaultOnChain[],
): Promise<{ readonly campaigns: number | null; readonly lagSeconds: number }> {
  const chainKey = evmChain(chainId)?.key ?? ''
  const { known, tokens } = await cache.get({ known: campaignsKey(chainId), tokens: tokensKey(chainKey) })
  const ageMs = known ? now() - known.asOf.getTime() : DAY_MS
  if (ageMs < MAX_AGE_MS) return { campaigns: null, lagSeconds: 0 }
  const fetched = await toResult(merkl.fetchCampaigns(chainId))
  if ('error' in fetched) {
    const { code, cause } = fetched.error
    logger.warn('campaigns not refreshed', { chainId, code, reason: String(cause) })
    return { campaigns: null, lagSeconds: Math.round(ageMs / 1000) }
  }
  const isSpam = createSpamRule(tokens?.value ?? [])
  const addresses = new Set<string>(vaults.flatMap(({ address, shareToken }) => [address, shareToken]))
  const ofVaults = [...fetched.value].flatMap(([address, campaigns]) => {
    const shown = campaigns.filter(({ token, symbol }) => !isSpam(token, symbol))
    return addresses.has(address) && shown.length > 0 ? [[address, shown] as const] : []
  })
  await cache.put(campaignsKey(chainId), Object.fromEntries(ofVaults))
  return { campaigns: ofVaults.length, lagSeconds: 0 }
}

export const handler = job(
  contract,
  {
    listedVaults,
    watchedAccounts,
    cache,
    merkl,
    getReader: getAgreedReader,
    getTokenValues,
    eventLog: appendingLog,
    webhooks,
    enqueue: enqueueDeliveries,
    now,
    random,
    sleep,
  },
  refreshRewards,
)
