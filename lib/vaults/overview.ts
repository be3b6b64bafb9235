import type { BlockHeader } from '../chain/logs.ts'
import { type ChainReader, mapQuery, type Query } from '../chain/reader.ts'
import { erc4626Vault } from './erc4626.ts'
import { lagoonVault } from './lagoon.ts'
import type { Vault, VaultOnChain } from './vault.ts'
import { buildVaultState, type VaultState } from './vault-state.ts'

/** What the list shows of a vault besides its record. */
type Overview = {
  /** What one whole share is worth, in the asset's smallest unit. */
  readonly sharePrice: bigint | undefined
  readonly hasCap: boolean | undefined
  readonly state: VaultState
}

const NO_CAP = 2n ** 256n - 1n

const OVERVIEWS: Record<Vault['kind'], (vault: VaultOnChain) => Query<Overview>> = {
  erc4626: (vault) =>
    mapQuery(erc4626Vault(vault), ({ sharePrice, totalAssets, hasCap }) => ({
      sharePrice,
      hasCap,
      state: buildVaultState({ sharePrice, totalAssets }),
    })),
  lagoon: (vault) =>
    mapQuery(lagoonVault(vault), ({ state, generation, maxCap }) => ({
      sharePrice: state.sharePrice ?? undefined,
      hasCap: generation === 'unknown' ? undefined : maxCap !== undefined && maxCap !== NO_CAP,
      state,
    })),
}

/**
 * The overviews of vaults of one chain in one round trip, one RPC call for every 100 of them, each with the block that it
 * is of (the latest unless told) and the earliest of these; undefined for a vault that cannot be read, which costs more.
 * Throws `upstream_*`.
 */
export async function readOverviews(
  reader: ChainReader,
  vaults: readonly (VaultOnChain & Pick<Vault, 'kind'>)[],
  at?: bigint,
): Promise<{ block: BlockHeader; blocks: readonly BlockHeader[]; overviews: readonly (Overview | undefined)[] }> {
  const queries = vaults.map((vault) => OVERVIEWS[vault.kind](vault))
  const { block, blocks, values } = await reader.readEach(queries, { at })
  return { block, blocks, overviews: values }
}
