import type * as z from 'zod'
import type { Evidence } from '../chain/evidence.ts'
import { toBlockFields } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { logger } from '../core/logger.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { ContractTerms } from '../protocols/terms.ts'
import { vaultType } from '../protocols/vault-on-chain.ts'
import type { StateAsOf, VaultState } from '../protocols/vault-state.ts'
import { formatAnnualYield } from './apy.ts'
import type { Pin } from './pin.ts'
import type { PinCache } from './pins.ts'
import type { VaultResponse } from './response.ts'
import { createOverviewReader } from './shared-overviews.ts'
import type { StateStore } from './state-store.ts'
import { buildResponseTerms } from './terms.ts'
import type { Vault, VaultKey } from './vault.ts'
import type { RecordedYields } from './yields.ts'

type LiveVault = {
  readonly vault: Vault
  /** Yields up to the share price in `state`, and the seconds that requests waited for settlements. */
  readonly recorded: RecordedYields
  readonly hasCap: boolean | undefined
  readonly terms: ContractTerms | undefined
  readonly state: VaultState | undefined
  readonly asOf: StateAsOf | undefined
  readonly evidence: Evidence | undefined
}

type TokenValue = (
  token: { readonly chainId: number; readonly address: string; readonly decimals: number },
  amount: bigint,
) => number | null

type Response = z.output<typeof VaultResponse>

/**
 * Returns a function that reads vaults with their present yields and states. All chains are read in parallel, each in
 * one RPC round trip, which concurrent requests share. If a chain cannot be read, its vaults show their last recorded
 * states and yields, with the time of recording.
 */
export function createLiveVaultReader({
  getReader,
  states,
  pins,
  getYield,
  getTokenValues,
  getCampaigns,
  now,
}: {
  readonly getReader: (chainId: number) => ChainReader
  readonly states: Pick<StateStore, 'get'>
  readonly pins: Pick<PinCache, 'list'>
  readonly getYield: (vault: VaultKey, price: bigint | undefined, at?: Date) => Promise<RecordedYields>
  /** Returns a function that values token amounts in US dollars. Never rejects; unknown values are null. */
  readonly getTokenValues: (chainIds: Iterable<number>) => Promise<TokenValue>
  /** Returns a function that lists a vault's reward campaigns. Never rejects; unknown campaigns are null. */
  readonly getCampaigns: (chainIds: Iterable<number>) => Promise<(vault: Vault) => Response['rewards']>
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
}) {
  const readOverviews = createOverviewReader({ getReader, now })

  async function readChain(chainId: number, vaults: readonly Vault[]): Promise<LiveVault[]> {
    const [read] = await Promise.all([
      readOverviews(chainId, vaults),
      // These calls only cache the earlier prices while the chain is read. The calls of `getYield` below then need not
      // wait.
      ...vaults.map((vault) => getYield(vault, undefined, undefined)),
    ])
    const live = vaults.map(async (vault): Promise<LiveVault[]> => {
      const { overview, block } = read.of(vault.address)
      if (!overview) return lastRecorded([vault])
      const { sharePrice, hasCap, terms, state } = overview
      const [asOf, { evidence }] = [{ ...toBlockFields(block), stale: false }, read]
      const recorded = await getYield(vault, sharePrice, asOf.timestamp)
      return [{ vault, recorded, hasCap, terms, state, asOf, evidence }]
    })
    return (await Promise.all(live)).flat()
  }

  async function lastRecorded(vaults: readonly Vault[]): Promise<LiveVault[]> {
    const last = await states.get(vaults).catch((error: unknown) => {
      logger.error('recorded states not read', { error })
      return []
    })
    return Promise.all(
      vaults.map(async (vault, index) => {
        const { state, asOf, told } = last[index] ?? {}
        // The recorded price is old, so the yield must end at the time of recording, not now.
        const recorded = await getYield(vault, state?.sharePrice ?? undefined, asOf?.timestamp)
        const evidence = asOf && told && { chainId: vault.chainId, ...asOf, ...told }
        const unread = { hasCap: undefined, terms: undefined }
        return { vault, recorded, ...unread, state, asOf: asOf && { ...asOf, stale: true }, evidence }
      }),
    )
  }

  return async (vaults: readonly Vault[]): Promise<{ vaults: Response[]; evidence: Evidence[] }> => {
    const byChain = Map.groupBy(vaults, ({ chainId }) => chainId)
    const pinned = pins.list(vaults).catch((error: unknown) => {
      logger.error('pins not read', { error })
      return []
    })
    const valued = getTokenValues(byChain.keys())
    const rewarded = getCampaigns(byChain.keys())
    const listed = await Promise.all(
      [...byChain].map(([chainId, ofChain]) =>
        readChain(chainId, ofChain).catch((error: unknown) => {
          logger.warn('chain not read, serving its last recorded states', { chainId, reason: String(error) })
          return lastRecorded(ofChain)
        }),
      ),
    )
    const byVault = new Map(listed.flat().map((entry) => [entry.vault, entry]))
    const [pinOf, usdOf, rewardsOf] = [await pinned, await valued, await rewarded]
    const blocks = listed.flat().flatMap(({ evidence }) => evidence ?? [])
    return {
      vaults: vaults.flatMap((vault, index) => {
        const live = byVault.get(vault)
        return live ? [{ ...toResponse(live, pinOf[index], usdOf), rewards: rewardsOf(vault) }] : []
      }),
      evidence: [...new Map(blocks.map((block) => [block.blockHash, block])).values()],
    }
  }
}

function toResponse(
  { vault, recorded, hasCap, terms, state, asOf }: LiveVault,
  pin: Pin | undefined,
  usdOf: TokenValue,
): Omit<Response, 'rewards'> {
  const { waits, ...yields } = recorded
  const type = vaultType(vault)
  const asset = { chainId: vault.chainId, address: vault.asset, decimals: vault.assetDecimals }
  const totalAssets = state?.totalAssets ?? null
  const roles = getProtocol(vault).roles?.(vault)
  return {
    poolId: vault.poolId,
    chainId: vault.chainId,
    name: vault.name,
    logo_url: vault.logoUrl,
    riskProfile: vault.riskProfile,
    riskProtocol: vault.riskProtocol,
    poolAddress: vault.address,
    depositTokenAddress: vault.asset,
    yieldTokenAddress: vault.shareToken,
    type,
    MaxCap: hasCap ?? vault.hasCap,
    description: vault.description,
    APY: formatAnnualYield(yields),
    ...yields,
    asset: { symbol: vault.assetSymbol, decimals: vault.assetDecimals },
    shareDecimals: vault.shareDecimals,
    totalAssets,
    totalAssetsUsd: totalAssets === null ? null : usdOf(asset, totalAssets),
    terms: buildResponseTerms(vault, terms, waits),
    hasChanged: pin ? pin.changedAt !== undefined : null,
    pinnedAt: pin?.pinnedAt ?? null,
    stateAsOf: asOf ?? null,
    protocol: vault.protocol,
    ...(type === 'async' && {
      curatorAddress: state?.safe ?? roles?.safe ?? null,
      valuationManager: state?.valuationManager ?? roles?.valuationManager ?? null,
      vaultState: state ?? null,
    }),
  }
}
