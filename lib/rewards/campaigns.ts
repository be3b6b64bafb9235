import * as z from 'zod'
import type { CacheKey, Namespace, SharedCache } from '../cache/cache.ts'
import { logger } from '../logger.ts'
import { within } from '../side-by-side.ts'
import { DAY, MINUTE } from '../time.ts'
import { Campaign } from './merkl.ts'

const CAMPAIGNS: Namespace<Record<string, Campaign[]>> = {
  name: 'campaigns',
  schema: z.record(z.string(), z.array(Campaign)),
  freshSeconds: 20 * MINUTE,
  keepSeconds: DAY,
  rememberedSeconds: MINUTE,
}

/** The live campaigns of a chain by the address of the vault or share token that they pay for; put by refresh-rewards. */
export function campaignsKey(chainId: number): CacheKey<Record<string, Campaign[]>> {
  return { namespace: CAMPAIGNS, key: chainId.toString() }
}

/** Milliseconds after which the list omits campaigns. */
const DEADLINE_MS = 1_000

/** A token that campaigns pay those who hold a vault's shares; `apr` as in `Campaign`. */
type VaultReward = Omit<Campaign, 'endsAt'> & { readonly endsAt: Date }

/** Returns the rewards of a vault whose campaigns have not ended; null if they are unknown. */
type RewardsOf = (vault: {
  readonly chainId: number
  readonly address: string
  readonly shareToken: string
}) => VaultReward[] | null

/**
 * Returns the function that reads what campaigns on these chains pay. It never fails: what cannot be read within a second is
 * unknown.
 */
export function campaignsReader({
  cache,
  now,
}: {
  readonly cache: Pick<SharedCache, 'recall'>
  readonly now: () => number
}) {
  return async (chainIds: Iterable<number>): Promise<RewardsOf> => {
    const keys = Object.fromEntries([...chainIds].map((chainId) => [chainId, campaignsKey(chainId)]))
    const known = await within(DEADLINE_MS, cache.recall(keys)).catch((error: unknown) => {
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
