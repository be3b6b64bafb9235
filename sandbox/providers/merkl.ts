import {
  type Address,
  concat,
  getAddress,
  type Hex,
  isAddress,
  isAddressEqual,
  keccak256,
  parseUnits,
  slice,
  toHex,
} from 'viem'
import { CHAINS, evmChain } from '../../lib/chain/registry.ts'
import type { LocalToken, LocalVault, LocalWorld } from '../chains/world.ts'
import type { LocalChain } from '../chains.ts'
import { createFakeService, type FakeRequest, type FakeService, type ProviderReply } from '../fake.ts'
import type { RewardOperator } from '../rewards.ts'
import { DAY_MS, type MadeUpMarket, roundToTenDigits } from './market.ts'

/** Local chain whose tokens and vaults the fake of Merkl lists. A chain without `rewardToken` has no reward campaigns. */
export type RewardedChain = LocalChain &
  Pick<LocalWorld, 'tokens' | 'unlisted' | 'rewardToken'> &
  Partial<Pick<LocalWorld, 'vaults'>>

/** Vault with its reward campaigns. `apr` is the yearly rate in percent; null if Merkl has not measured the rate yet. */
type Programme = {
  readonly vault: Pick<LocalVault, 'address' | 'name' | 'type'>
  readonly campaigns: readonly { readonly token: LocalToken; readonly apr: number | null }[]
}

const MAX_ITEMS = 100
const CAMPAIGN_DAYS = 30
const DAYS_A_YEAR = 365
/** Assumed value of each vault in US dollars, from which the daily rewards are computed. */
const TVL = 1_000_000
/** Campaign rates in percent per year, by vault name and token symbol; null for a rate that is not measured yet. */
const CAMPAIGNS: Readonly<Record<string, Readonly<Record<string, number | null>>>> = {
  'Cove USDC Savings': { MORPHO: 2.4, USDC: 0.9 },
  'Harbor USDC': { MORPHO: 1.35 },
  'Causeway USDC': { MORPHO: null },
  'Mooring DAI Savings': { MORPHO: 3.1 },
}
/** Number of invented vaults with a campaign on each chain. It exceeds the page size of 100, so that clients must read several pages. */
const OTHER_PROGRAMMES = 120

/**
 * Returns a fake of Merkl's v4 API under the path /merkl (https://api.merkl.xyz/docs), with a limit of requests per second. Campaigns,
 * rates and error messages are invented. `now` is in epoch milliseconds.
 */
export function fakeMerkl(options: {
  readonly chains: readonly RewardedChain[]
  readonly rewards: RewardOperator
  readonly market: MadeUpMarket
  readonly now: () => number
}): FakeService {
  const { chains, rewards, market, now } = options
  const endsAt = Math.ceil(now() / DAY_MS + CAMPAIGN_DAYS) * DAY_MS
  const recent: number[] = []
  const claimed = new Map<string, { readonly amount: bigint; readonly at: number }>()

  /** Counts a request. Returns false if the last second already had the maximum number of requests. */
  const take = () => {
    while (recent[0] !== undefined && recent[0] <= now() - 1000) recent.shift()
    if (recent.length >= rewards.settings.requestsPerSecond) return false
    recent.push(now())
    return true
  }
  const describeToken = (chain: RewardedChain, address: Address) => {
    const token = tokensOf(chain).find((one) => one.address.toLowerCase() === address.toLowerCase())
    const coin = market.coinAt(evmChain(chain.chainId)?.coinGeckoPlatform ?? '', address)
    const { symbol = 'OTHER', decimals = 18 } = token ?? {}
    const price = coin ? (market.priceAt(coin, 'usd', now()) ?? null) : null
    return { address: getAddress(address), chainId: chain.chainId, symbol, decimals, price }
  }
  /** Returns an account's claimed amount, which may be minutes old, as in the real Merkl API. */
  const claimedOf = async (chain: RewardedChain, account: Address, token: Address) => {
    const key = [chain.chainId, account, token].join().toLowerCase()
    const cachedClaim = claimed.get(key)
    if (cachedClaim && now() - cachedClaim.at < rewards.settings.claimedLagSeconds * 1000) return cachedClaim.amount
    const amount = await rewards.readClaimed(chain.chainId, account, token)
    claimed.set(key, { amount, at: now() })
    return amount
  }

  const listRewards = async (account: string, { query }: FakeRequest): Promise<ProviderReply> => {
    const ids = knownChainIds(query)
    if (!isAddress(account, { strict: false })) return refuse('Invalid address')
    if (ids === undefined) return refuse('Invalid chainId')
    const rewarded = chains.filter(({ chainId, rewardToken }) => ids.includes(chainId) && rewardToken)
    return ok((await Promise.all(rewarded.map((chain) => listOn(chain, account)))).flat())
  }

  const listOn = async (chain: RewardedChain, account: Address): Promise<object[]> => {
    const id = chain.chainId
    const { root, endOfDisputePeriod, rewards: shown } = await rewards.readShownRewards(id, account)
    if (shown.length === 0) return []
    const about = { root, distributionChainId: id, recipient: getAddress(account) }
    const rows = shown.map(async ({ token, parts, proofs, ...sums }) => {
      const claimed = await claimedOf(chain, account, token)
      let rest = claimed
      const breakdowns = parts.map(({ vault, amount, pending }) => {
        const paid = rest < amount ? rest : amount
        rest -= paid
        const { reason } = kindOf(chain.vaults?.find(({ address }) => isAddressEqual(address, vault)))
        const ids = { reason: `${reason}_${vault}`, campaignId: campaignId(vault, token) }
        return { ...ids, ...asTexts({ amount, claimed: paid, pending }) }
      })
      return { ...about, ...asTexts({ ...sums, claimed }), proofs, token: describeToken(chain, token), breakdowns }
    })
    return [{ chain: { id, name: evmChain(id)?.name, endOfDisputePeriod }, rewards: await Promise.all(rows) }]
  }

  const describeProgramme = (chain: RewardedChain, { vault, campaigns }: Programme) => {
    const { type, action } = kindOf(vault)
    const rates = campaigns.flatMap(({ token, apr }) =>
      apr === null ? [] : [{ type: 'CAMPAIGN', identifier: campaignId(vault.address, token.address), value: apr }],
    )
    const apr = roundToTenDigits(rates.reduce((sum, { value }) => sum + value, 0))
    const paid = campaigns.map(({ token, apr }) => {
      const value = roundToTenDigits((TVL * (apr ?? 1)) / 100 / DAYS_A_YEAR)
      const onChainCampaignId = campaignId(vault.address, token.address)
      const described = describeToken(chain, token.address)
      const amount = parseUnits((value / (described.price ?? 1)).toFixed(6), token.decimals).toString()
      const ownId = BigInt(slice(onChainCampaignId, 0, 6)).toString()
      return { token: described, value, amount, campaignId: ownId, onChainCampaignId }
    })
    const total = roundToTenDigits(paid.reduce((sum, { value }) => sum + value, 0))
    const timestamp = `${Math.floor(now() / 1000)}`
    return {
      id: BigInt(slice(campaignId(vault.address, vault.address), 0, 8)).toString(),
      ...{ chainId: chain.chainId, type, identifier: vault.address, explorerAddress: vault.address },
      ...{ name: `Deposit into ${vault.name}`, status: 'LIVE', action, apr, tvl: TVL, dailyRewards: total },
      ...{ liveCampaigns: campaigns.length, latestCampaignEnd: `${endsAt / 1000}` },
      aprRecord: rates.length === 0 ? null : { cumulated: apr, timestamp, breakdowns: rates },
      rewardsRecord: { total, breakdowns: paid },
    }
  }

  const listOpportunities = ({ query }: FakeRequest): ProviderReply => {
    const [id] = knownChainIds(query) ?? []
    const status = query.get('status')
    const [size, index] = [Number(query.get('items') ?? 20), Number(query.get('page') ?? 0)]
    if (id === undefined) return refuse('Invalid chainId')
    if (!(size >= 1 && size <= MAX_ITEMS && index >= 0)) return refuse('Invalid items or page')
    const chain = chains.find(({ chainId }) => chainId === id)
    const isLive = now() < endsAt && (status === null || status === 'LIVE')
    const described = chain && isLive ? programmesOf(chain).map((programme) => describeProgramme(chain, programme)) : []
    described.sort((left, right) => right.apr - left.apr)
    return ok(described.slice(index * size, (index + 1) * size))
  }

  return createFakeService('/merkl', async (question) => {
    const [version, area, account = '', list] = question.parts
    if (!take()) return { status: 429, body: { error: 'Too many requests' } }
    if (version === 'v4' && area === 'users' && list === 'rewards') return listRewards(account, question)
    if (version === 'v4' && area === 'opportunities') return listOpportunities(question)
    return { status: 404, body: { error: 'Not found' } }
  })
}

function programmesOf({ vaults = [], rewardToken, ...chain }: RewardedChain): Programme[] {
  if (!rewardToken) return []
  const tokens = tokensOf({ ...chain, rewardToken })
  const local = vaults.flatMap((vault) => {
    const rates = Object.entries(CAMPAIGNS[vault.name] ?? {})
    const campaigns = tokens.flatMap((token) =>
      rates.flatMap(([symbol, apr]) => (symbol === token.symbol ? [{ token, apr }] : [])),
    )
    return campaigns.length === 0 ? [] : [{ vault, campaigns }]
  })
  const others = Array.from({ length: OTHER_PROGRAMMES }, (_, index) => {
    const name = `Other vault ${index + 1}`
    const vault = { address: getAddress(slice(keccak256(toHex(name)), 12)), name, type: 'sync' } as const
    return { vault, campaigns: [{ token: rewardToken, apr: roundToTenDigits(5 - index * 0.03) }] }
  })
  return [...local, ...others]
}

function tokensOf({ tokens, unlisted = [], rewardToken }: Omit<RewardedChain, keyof LocalChain>): LocalToken[] {
  return [...tokens, ...unlisted, ...(rewardToken ? [rewardToken] : [])]
}

function kindOf(vault: Pick<LocalVault, 'type'> | undefined) {
  return vault?.type === 'sync'
    ? { type: 'MORPHOVAULT', action: 'LEND', reason: 'MorphoVault' }
    : { type: 'ERC20LOGPROCESSOR', action: 'HOLD', reason: 'ERC20' }
}

function campaignId(vault: Address, token: Address): Hex {
  return keccak256(concat([vault, token]))
}

function knownChainIds(query: URLSearchParams): number[] | undefined {
  const ids = (query.get('chainId') ?? '').split(',').map((text) => {
    return CHAINS.find(({ id, kind }) => kind === 'evm' && `${id}` === text)?.id
  })
  return ids.every((id) => id !== undefined) ? ids : undefined
}

function asTexts(amounts: Readonly<Record<string, bigint>>) {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, amount.toString()]))
}

function ok(body: unknown): ProviderReply {
  return { status: 200, body }
}

function refuse(message: string): ProviderReply {
  return { status: 400, body: { error: message } }
}
