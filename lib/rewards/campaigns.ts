import * as z from 'zod'
import type { CacheKey, CacheNamespace, SharedCache } from '../cache/cache.ts'
import { logger } from '../core/logger.ts'
import { withDeadline } from '../core/side-by-side.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { Campaign } from './merkl.ts'

const CAMPAIGNS: CacheNamespace<Record<string, Campaign[]>> = {
  name: 'campaigns',
  schema: z.record(z.string(), z.array(Campaign)),
  freshSeconds: 20 * MINUTE,
  keepSeconds: DAY,
  rememberedSeconds: MINUTE,
}

/**
 * Returns the cache key of a chain's live reward campaigns, by address of the vault or of its share token. The job
 * refresh-rewards writes this cache entry.
 */
export function campaignsKey(chainId: number): CacheKey<Record<string, Campaign[]>> {
  return { namespace: CAMPAIGNS, key: chainId.toString() }
}

const DEADLINE_MS = 1_000

/** Token that reward campaigns pay to the holders of a vault's shares. `apr` is the rate in percent a year. */
type VaultReward = Omit<Campaign, 'endsAt'> & { readonly endsAt: Date }

/** Function that returns the rewards that campaigns pay for a vault at present. It returns null if they are unknown. */
type RewardsOf = (vault: {
  readonly chainId: number
  readonly address: string
  readonly shareToken: string
}) => VaultReward[] | null

/**
 * Returns a function that reads the cached reward campaigns of chains. The function never throws. Campaigns that cannot
 * be read within a second count as unknown.
 */
export function createCampaignsReader({
  cache,
  now,
}: {
  readonly cache: Pick<SharedCache, 'recall'>
  readonly now: () => number
}) {
  return async (chainIds: Iterable<number>): Promise<RewardsOf> => {
    const keys = Object.fromEntries([...chainIds].map((chainId) => [chainId, campaignsKey(chainId)]))
    const known = await withDeadline(DEADLINE_MS, cache.recall(keys)).catch((error: unknown) => {
      logger.warn('campaigns not read', { reason: String(error) })
      return undefined
    })
    return ({ chainId, address, shareToken }) => {
      const campaigns = known?.[chainId]?.value
      const ofVault = campaigns && [...new Set([address, shareToken])].flatMap((one) => campaigns[one] ?? [])
      const live = ofVault?.filter(({ endsAt }) => endsAt * 1000 > now())
      return live?.map(({ endsAt, ...campaign }) => ({ ...campaign, endsAt: new Date(endsAt * 1000) })) ?? null
    }
  }
}
