import type { BlockHeader } from '../../../lib/chain/logs.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { logger } from '../../../lib/logger.ts'
import { protocolOf } from '../../../lib/protocols/protocols.ts'
import { vaultType } from '../../../lib/protocols/vaults.ts'
import type { Services } from '../../../lib/services.ts'
import { type Yield, yieldText } from '../../../lib/vaults/apy.ts'
import { readOverviews } from '../../../lib/vaults/overview.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import type { StateAsOf, VaultState } from '../../../lib/vaults/vault-state.ts'
import type { contract } from './contract.ts'

/** A vault as the list shows it. What is undefined or null is not known at the moment. */
type ListedVault = {
  readonly vault: Vault
  /** As of the state that is shown. */
  readonly apy: Yield | null
  readonly hasCap: boolean | undefined
  readonly state: VaultState | undefined
  readonly asOf: StateAsOf | undefined
}

type Dependencies = Services<'readerOf' | 'states' | 'yieldOf'>

/**
 * Returns the function that lists vaults with their live state, chains side by side, one round trip each. A chain that
 * cannot be read gives its vaults' last recorded states and yields, with their own time, and never holds up the others.
 */
export function listVaults({ readerOf, states, yieldOf }: Dependencies) {
  async function readChain(chainId: number, vaults: readonly Vault[]): Promise<ListedVault[]> {
    const [{ block, blocks, overviews }] = await Promise.all([
      readOverviews(readerOf(chainId), vaults),
      // What a yield compares with is looked up meanwhile, and remembered.
      ...vaults.map((vault) => yieldOf(vault, undefined, undefined)),
    ])
    return Promise.all(
      vaults.map(async (vault, index) => {
        const overview = overviews[index]
        if (!overview) return (await lastRecorded([vault]))[0] ?? unknownVault(vault)
        const { sharePrice, hasCap, state } = overview
        const asOf = stateAsOf(blocks[index] ?? block)
        return { vault, apy: await yieldOf(vault, sharePrice, asOf.timestamp), hasCap, state, asOf }
      }),
    )
  }

  async function lastRecorded(vaults: readonly Vault[]): Promise<ListedVault[]> {
    const recorded = await states.get(vaults).catch((error: unknown) => {
      logger.error('recorded states not read', { error })
      return []
    })
    return Promise.all(
      vaults.map(async (vault, index) => {
        const { state, asOf } = recorded[index] ?? {}
        // Made of what was recorded alone: an old price and the time of now are not a yield.
        const apy = await yieldOf(vault, state?.sharePrice ?? undefined, asOf?.timestamp)
        return { vault, apy, hasCap: undefined, state, asOf: asOf && { ...asOf, stale: true } }
      }),
    )
  }

  return async ({ client: { vaults } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    if (vaults.length === 0) throw new AppError('no_vaults_configured')
    const byChain = Map.groupBy(vaults, ({ chainId }) => chainId)
    const listed = await Promise.all(
      [...byChain].map(([chainId, ofChain]) =>
        readChain(chainId, ofChain).catch((error: unknown) => {
          logger.warn('chain not read, serving its last recorded states', { chainId, reason: String(error) })
          return lastRecorded(ofChain)
        }),
      ),
    )
    const byVault = new Map(listed.flat().map((entry) => [entry.vault, entry]))
    return { success: true, data: vaults.flatMap((vault) => byVault.get(vault) ?? []).map(toReply) }
  }
}

function stateAsOf({ number, timestamp }: BlockHeader): StateAsOf {
  return { blockNumber: Number(number), timestamp: new Date(Number(timestamp) * 1000), stale: false }
}

function unknownVault(vault: Vault): ListedVault {
  return { vault, apy: null, hasCap: undefined, state: undefined, asOf: undefined }
}

function toReply({ vault, apy, hasCap, state, asOf }: ListedVault): Reply<typeof contract>['data'][number] {
  const type = vaultType(vault)
  const roles = protocolOf(vault).roles?.(vault)
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
    APY: yieldText(apy),
    apy,
    asset: { symbol: vault.assetSymbol, decimals: vault.assetDecimals },
    shareDecimals: vault.shareDecimals,
    totalAssets: state?.totalAssets ?? null,
    stateAsOf: asOf ?? null,
    ...(type === 'async' && {
      protocol: vault.protocol,
      curatorAddress: state?.safe ?? roles?.safe,
      valuationManager: state?.valuationManager ?? roles?.valuationManager,
      vaultState: state,
    }),
  }
}
