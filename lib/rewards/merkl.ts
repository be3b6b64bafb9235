import { type Hex, isHash } from 'viem'
import * as z from 'zod'
import { EVM_CHAINS } from '../chain/registry.ts'
import { Address, Amount } from '../core/codecs.ts'
import { AppError } from '../core/errors.ts'
import { parseResponseBody, parseRows, type Upstream } from '../core/http.ts'
import { toResult } from '../core/result.ts'
import { LAST_SECOND } from '../core/time.ts'
import { ShortText, UintText } from '../portfolio/token-index.ts'

/**
 * Endpoint of Merkl's API, with an optional API key. The key raises the limit of 10 requests per second
 * (https://developers.merkl.xyz/integrate-merkl/auth).
 */
export const MerklApi = z
  .object({ url: z.url().default('https://api.merkl.xyz'), apiKey: z.string().min(1).optional() })
  .transform(({ url, apiKey }) => ({ url, headers: apiKey ? { 'x-api-key': apiKey } : {} }))

/** Maximum amount that Merkl's Distributor contract can record for an account. The contract stores it in 208 bits. */
export const MAX_UINT208 = 2n ** 208n - 1n
/** Maximum number of hashes in a Merkle proof. A Merkle tree with 40 levels has more leaves than accounts exist. */
const MAX_PROOF = 40
/** Maximum number of an account's rewards that are cached. That many fit into one table item with their proofs. */
const MAX_REWARDS = 60
/** Maximum number of entries in `ReportedReward.vaults`. */
const MAX_VAULTS = 20
/** Maximum number of tokens that a vault's campaigns pay. Further tokens are omitted. */
const MAX_CAMPAIGNS = 20
const MAX_PAGES = 20
const PAGE_SIZE = 100
const CHAIN_IDS = EVM_CHAINS.map(({ id }) => id)

const Amount208 = Amount.refine((amount) => amount <= MAX_UINT208)
const ProofHash = z.custom<Hex>((value) => typeof value === 'string' && isHash(value))

/**
 * Reward of an account as Merkl reports it, not verified on the chain. Amounts are in the token's smallest unit.
 * `amount` is the total that the account earned according to Merkl's Merkle tree, and `claimed` is the part already
 * paid. `pending` was earned later, and is not yet part of a Merkle tree.
 */
export const ReportedReward = z.object({
  chainId: z.int(),
  token: Address,
  symbol: z.string(),
  amount: Amount208,
  claimed: Amount,
  pending: Amount208,
  proof: z.array(ProofHash).max(MAX_PROOF),
  /** Part of `claimed` that each vault's campaigns paid, by vault address. */
  vaults: z.record(z.string(), Amount),
})
export type ReportedReward = z.output<typeof ReportedReward>

/** Rewards of an account on all chains, as Merkl reports them. `unread` has the ids of chains with rewards that could not be read. */
export const ReportedRewards = z.object({ rewards: z.array(ReportedReward), unread: z.array(z.int()) })
export type ReportedRewards = z.output<typeof ReportedRewards>

/** Time in seconds since 1970, at most the end of the year 9999. */
const EpochSecond = z.int().positive().max(Number(LAST_SECOND))

/**
 * Reward campaigns of one vault that pay the same token, merged into one. `apr` is their total rate in percent a year.
 * It is null if Merkl has measured no rate.
 */
export const Campaign = z.object({
  /** Id of the chain that has the token. It may differ from the vault's chain. */
  chainId: z.int(),
  token: Address,
  symbol: z.string(),
  apr: z.number().nullable(),
  endsAt: EpochSecond,
})
export type Campaign = z.output<typeof Campaign>

const AnyAddress = z.preprocess((value) => (typeof value === 'string' ? value.toLowerCase() : value), Address)

const RewardRow = z.object({
  token: z.object({ address: AnyAddress, symbol: ShortText }),
  amount: UintText.refine((amount) => amount <= MAX_UINT208),
  claimed: UintText,
  pending: UintText.refine((amount) => amount <= MAX_UINT208).catch(0n),
  proofs: z.array(ProofHash).max(MAX_PROOF),
  breakdowns: z.array(z.unknown()).catch([]),
})
const Breakdown = z.object({ reason: z.string().max(1000), claimed: UintText })
const UserRewards = z.array(z.object({ chain: z.object({ id: z.number() }), rewards: z.array(z.unknown()) }))

const CampaignToken = z.object({
  address: AnyAddress,
  chainId: z.int(),
  symbol: ShortText,
  /** Type of the token. Types other than `TOKEN` are points, or tokens that do not exist yet. */
  type: z.string().catch('TOKEN'),
})
const Percent = z.number().min(0).max(1_000_000)
const Opportunity = z.object({
  id: z.string(),
  identifier: AnyAddress,
  action: z.string().catch(''),
  apr: Percent.nullable().catch(null),
  aprRecord: z.unknown(),
  latestCampaignEnd: z.coerce.number().pipe(EpochSecond),
  rewardsRecord: z.object({
    breakdowns: z.array(z.object({ token: CampaignToken, value: z.number().min(0).catch(0) })).max(100),
  }),
})
type Opportunity = z.output<typeof Opportunity>

type Row = { readonly chainId: number; readonly row: unknown }

/** Client of Merkl's API, as `createMerkl` builds it. */
export type Merkl = ReturnType<typeof createMerkl>

/**
 * Creates the client of Merkl's API, which fetches rewards and reward campaigns
 * (https://developers.merkl.xyz/integrate-merkl/user-rewards). Both functions throw AppError `upstream_*`.
 */
export function createMerkl(ask: Upstream) {
  async function fetchRows(account: string, chainIds: readonly number[]): Promise<Row[]> {
    const answer = await ask({
      path: `/v4/users/${account.toLowerCase()}/rewards`,
      query: { chainId: chainIds.join() },
    })
    return parseResponseBody(UserRewards, requireAccepted(answer)).flatMap(({ chain, rewards }) =>
      chainIds.includes(chain.id) ? rewards.map((row) => ({ chainId: chain.id, row })) : [],
    )
  }

  /**
   * Fetches an account's rewards on all chains in one request. If Merkl rejects the request, each chain is fetched
   * separately, because Merkl may not know one of them.
   */
  async function fetchAllRows(account: string): Promise<{ rows: Row[]; unread: number[] }> {
    const together = await toResult(fetchRows(account, CHAIN_IDS))
    if ('value' in together) return { rows: together.value, unread: [] }
    if (together.error.code !== 'upstream_bad_answer') throw together.error
    const each = await Promise.all(
      CHAIN_IDS.map(async (chainId) => ({ chainId, result: await toResult(fetchRows(account, [chainId])) })),
    )
    const unread = each.flatMap(({ chainId, result }) => ('error' in result ? [chainId] : []))
    if (unread.length === CHAIN_IDS.length) throw together.error
    return { rows: each.flatMap(({ result }) => ('value' in result ? result.value : [])), unread }
  }

  return {
    /** Fetches an account's rewards on all chains. Rewards with an unclaimed amount come first. */
    async fetchRewards(account: string): Promise<ReportedRewards> {
      const { rows, unread } = await fetchAllRows(account)
      const rewards = new Map<string, ReportedReward>()
      const unreadChains = new Set(unread)
      for (const { chainId, row } of rows) {
        const reward = RewardRow.safeParse(row).data
        if (!reward) unreadChains.add(chainId)
        else keepLarger(rewards, toReward(chainId, reward))
      }
      const openFirst = [...rewards.values()].toSorted((one, other) => Number(isOpen(other)) - Number(isOpen(one)))
      for (const { chainId } of openFirst.slice(MAX_REWARDS).filter(isOpen)) unreadChains.add(chainId)
      return { rewards: openFirst.slice(0, MAX_REWARDS), unread: [...unreadChains] }
    },

    /** Fetches the live reward campaigns of a chain, by vault address. */
    async fetchCampaigns(chainId: number): Promise<Map<string, Campaign[]>> {
      const found: Opportunity[] = []
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const query = { chainId: `${chainId}`, status: 'LIVE', items: `${PAGE_SIZE}`, page: `${page}` }
        const answer = await ask({ path: '/v4/opportunities', query })
        const rows = parseResponseBody(z.array(z.unknown()), requireAccepted(answer))
        found.push(...parseRows(Opportunity, rows))
        if (rows.length < PAGE_SIZE) break
      }
      // Campaigns for borrowers are left out, because they do not pay holders of vault shares.
      const paying = found.filter(({ action }) => action !== 'BORROW')
      return new Map(
        [...Map.groupBy(paying, ({ identifier }) => identifier)].map(([vault, ofVault]) => [
          vault,
          mergeOpportunities(ofVault),
        ]),
      )
    },
  }
}

/** Returns the response unchanged. Throws `upstream_unavailable` if Merkl refuses the API key. */
function requireAccepted<T extends { readonly status: number }>(answer: T): T {
  if (answer.status !== 401 && answer.status !== 403) return answer
  throw new AppError('upstream_unavailable', { cause: new Error(`Merkl: HTTP status ${answer.status}`) })
}

function keepLarger(rewards: Map<string, ReportedReward>, reward: ReportedReward): void {
  const key = `${reward.chainId}#${reward.token}`
  const known = rewards.get(key)
  if (!known || known.amount < reward.amount) rewards.set(key, reward)
}

function isOpen({ amount, claimed, pending }: ReportedReward): boolean {
  return amount > claimed || pending > 0n
}

function toReward(chainId: number, { token, proofs, breakdowns, ...row }: z.output<typeof RewardRow>): ReportedReward {
  const vaults: Record<string, bigint> = {}
  for (const { reason, claimed } of parseRows(Breakdown, breakdowns)) {
    // The text `reason` contains the addresses of the contracts through which a reward came, such as
    // `…~MorphoVault_ERC20_0x…`. The last address is the vault in which the account has shares.
    const vault = AnyAddress.safeParse(reason.match(/0x[0-9a-f]{40}(?![0-9a-f])/gi)?.at(-1)).data
    const isKept = vault && (vault in vaults || Object.keys(vaults).length < MAX_VAULTS)
    if (isKept && claimed > 0n) vaults[vault] = (vaults[vault] ?? 0n) + claimed
  }
  return { ...row, chainId, token: token.address, symbol: token.symbol, proof: proofs, vaults }
}

/**
 * Merges a vault's opportunities, as Merkl calls its groups of campaigns, into one campaign per token. The rate of an
 * opportunity is divided among its tokens by their daily value.
 */
function mergeOpportunities(opportunities: readonly Opportunity[]): Campaign[] {
  const campaigns = new Map<string, Campaign>()
  // One opportunity can be on two pages, because the list can change between two requests. So duplicates are removed.
  const each = new Map(opportunities.map((one) => [one.id, one])).values()
  for (const { apr, aprRecord, latestCampaignEnd, rewardsRecord } of each) {
    const breakdowns = rewardsRecord.breakdowns.filter(({ token }) => token.type === 'TOKEN')
    const total = rewardsRecord.breakdowns.reduce((sum, { value }) => sum + value, 0)
    for (const { token, value } of breakdowns) {
      const { chainId, address, symbol } = token
      const share = value / total
      const measured = aprRecord && apr !== null && Number.isFinite(share) ? apr * share : null
      const key = `${chainId}#${address}`
      const known = campaigns.get(key)
      campaigns.set(key, {
        ...{ chainId, token: address, symbol },
        apr: known?.apr == null || measured === null ? (known?.apr ?? measured) : known.apr + measured,
        endsAt: Math.max(known?.endsAt ?? 0, latestCampaignEnd),
      })
    }
  }
  // Dividing a rate among tokens gives more decimals than Merkl's rates have. So each rate is rounded to four decimals,
  // like Merkl's rates.
  return [...campaigns.values()]
    .slice(0, MAX_CAMPAIGNS)
    .map(({ apr, ...campaign }) => ({ ...campaign, apr: apr && Number(apr.toFixed(4)) }))
}
