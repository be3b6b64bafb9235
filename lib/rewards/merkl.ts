import { type Hex, isHash } from 'viem'
import * as z from 'zod'
import { EVM_CHAINS } from '../chain/registry.ts'
import { Address, Amount } from '../core/codecs.ts'
import { AppError } from '../core/errors.ts'
import { parseAnswer, parseRows, type Upstream } from '../core/http.ts'
import { toResult } from '../core/result.ts'
import { LAST_SECOND } from '../core/time.ts'
import { Digits, ShortText } from '../portfolio/token-index.ts'

/**
 * Address of Merkl's API, and an optional key. The key raises the limit of 10 requests a second
 * (https://developers.merkl.xyz/integrate-merkl/auth).
 */
export const MerklApi = z
  .object({ url: z.url().default('https://api.merkl.xyz'), apiKey: z.string().min(1).optional() })
  .transform(({ url, apiKey }) => ({ url, headers: apiKey ? { 'x-api-key': apiKey } : {} }))

/** Maximum amount that Merkl's Distributor can record for an account, because it stores 208 bits. */
export const MAX_UINT208 = 2n ** 208n - 1n
/** Maximum number of hashes in a Merkle proof. A tree of 40 levels has more leaves than there are accounts. */
const MAX_PROOF = 40
/** Maximum number of rewards that are kept of an account, so that they fit into one cache item with their proofs. */
const MAX_REWARDS = 60
/** Maximum number of vaults for which a reward's claimed amount is kept separately. */
const MAX_VAULTS = 20
const MAX_PAGES = 20
const PAGE_SIZE = 100
const CHAIN_IDS = EVM_CHAINS.map(({ id }) => id)

const Amount208 = Amount.refine((amount) => amount <= MAX_UINT208)
const ProofHash = z.custom<Hex>((value) => typeof value === 'string' && isHash(value))

/**
 * Reward of an account as Merkl reports it, not verified by the chain. Amounts are in the token's smallest unit. `amount` is the total ever
 * earned, `claimed` the total ever paid. `pending` is earned, but in no Merkle tree yet.
 */
export const ReportedReward = z.object({
  chainId: z.int(),
  token: Address,
  symbol: z.string(),
  amount: Amount208,
  claimed: Amount,
  pending: Amount208,
  proof: z.array(ProofHash).max(MAX_PROOF),
  /** Parts of `claimed`, by address of the vault whose campaigns paid them. */
  vaults: z.record(z.string(), Amount),
})
export type ReportedReward = z.output<typeof ReportedReward>

/** Rewards of an account on all chains, as Merkl reports them. `unread` are the ids of chains that have rewards that could not be read. */
export const ReportedRewards = z.object({ rewards: z.array(ReportedReward), unread: z.array(z.int()) })
export type ReportedRewards = z.output<typeof ReportedRewards>

/** Time in seconds since 1970 that a Date can represent. */
const EpochSecond = z.int().positive().max(Number(LAST_SECOND))

/** Token that reward campaigns of a vault pay. `apr` is the rate in percent a year; null if Merkl has not measured it. */
export const Campaign = z.object({
  /** Id of the token's chain, which may differ from the vault's chain. */
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
  amount: Digits.refine((amount) => amount <= MAX_UINT208),
  claimed: Digits,
  pending: Digits.refine((amount) => amount <= MAX_UINT208).catch(0n),
  proofs: z.array(ProofHash).max(MAX_PROOF),
  breakdowns: z.array(z.unknown()).catch([]),
})
const Breakdown = z.object({ reason: z.string().max(1000), claimed: Digits })
const UserRewards = z.array(z.object({ chain: z.object({ id: z.number() }), rewards: z.array(z.unknown()) }))

const CampaignToken = z.object({
  address: AnyAddress,
  chainId: z.int(),
  symbol: ShortText,
  /** Type of the token. Types other than `TOKEN` are points, and tokens that do not exist yet. */
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

/** Client of Merkl's API, which fetches rewards and reward campaigns. */
export type Merkl = ReturnType<typeof createMerkl>

/**
 * Creates the client of Merkl's API (https://developers.merkl.xyz/integrate-merkl/user-rewards). Both of its functions throw AppError
 * `upstream_*`.
 */
export function createMerkl(ask: Upstream) {
  async function fetchRows(account: string, chainIds: readonly number[]): Promise<Row[]> {
    const answer = await ask({
      path: `/v4/users/${account.toLowerCase()}/rewards`,
      query: { chainId: chainIds.join() },
    })
    return parseAnswer(UserRewards, requireAccepted(answer)).flatMap(({ chain, rewards }) =>
      chainIds.includes(chain.id) ? rewards.map((row) => ({ chainId: chain.id, row })) : [],
    )
  }

  /**
   * Fetches an account's rewards on all chains in one request. If Merkl refuses that, perhaps because it does not know one chain, fetches
   * each chain separately.
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
    /** Fetches the rewards of an account on all chains. Those with an unclaimed amount come first. */
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

    /** Fetches the live reward campaigns of a chain, by address of the vault. */
    async fetchCampaigns(chainId: number): Promise<Map<string, Campaign[]>> {
      const found: Opportunity[] = []
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const query = { chainId: `${chainId}`, status: 'LIVE', items: `${PAGE_SIZE}`, page: `${page}` }
        const answer = await ask({ path: '/v4/opportunities', query })
        const rows = parseAnswer(z.array(z.unknown()), requireAccepted(answer))
        found.push(...parseRows(Opportunity, rows))
        if (rows.length < PAGE_SIZE) break
      }
      // Campaigns for borrowers do not pay holders of vault shares.
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

/** Returns the response unchanged. Throws `upstream_unavailable` if Merkl refuses our key. */
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
    // The text `reason` contains the addresses that a reward came through, such as `…~MorphoVault_ERC20_0x…`. The last one is the vault of
    // the account.
    const vault = AnyAddress.safeParse(reason.match(/0x[0-9a-f]{40}(?![0-9a-f])/gi)?.at(-1)).data
    const isKept = vault && (vault in vaults || Object.keys(vaults).length < MAX_VAULTS)
    if (isKept && claimed > 0n) vaults[vault] = (vaults[vault] ?? 0n) + claimed
  }
  return { ...row, chainId, token: token.address, symbol: token.symbol, proof: proofs, vaults }
}

/**
 * Merges the opportunities of a vault, Merkl's groups of campaigns, into one campaign per token. An opportunity's rate is divided among its
 * tokens by their daily value.
 */
function mergeOpportunities(opportunities: readonly Opportunity[]): Campaign[] {
  const campaigns = new Map<string, Campaign>()
  // The same opportunity can be on two pages of the response, so duplicates are removed.
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
  // Divided rates are rounded to four decimals, as precise as Merkl's rates.
  return [...campaigns.values()].map(({ apr, ...campaign }) => ({ ...campaign, apr: apr && Number(apr.toFixed(4)) }))
}
