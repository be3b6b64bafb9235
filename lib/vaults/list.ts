import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { logger } from '../logger.ts'
import type { Yield } from './apy.ts'
import { readOverviews } from './overview.ts'
import type { StateStore } from './state-store.ts'
import type { Vault } from './vault.ts'
import type { StateAsOf, VaultState } from './vault-state.ts'

/** A vault as the list shows it. What is undefined or null is not known at the moment. */
export type ListedVault = {
  readonly vault: Vault
  /** As of the state that is shown. */
  readonly apy: Yield | null
  readonly hasCap: boolean | undefined
  readonly state: VaultState | undefined
  readonly asOf: StateAsOf | undefined
}

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly states: Pick<StateStore, 'get'>
  /** The yield of a vault whose shares had this price at that moment; null where it is not known. */
  readonly yieldOf: (vault: Vault, sharePrice: bigint | undefined, at: Date | undefined) => Promise<Yield | null>
}

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

  return async (vaults: readonly Vault[]): Promise<ListedVault[]> => {
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
    return vaults.flatMap((vault) => byVault.get(vault) ?? [])
  }
}

function stateAsOf({ number, timestamp }: BlockHeader): StateAsOf {
  return { blockNumber: Number(number), timestamp: new Date(Number(timestamp) * 1000), stale: false }
}

function unknownVault(vault: Vault): ListedVault {
  return { vault, apy: null, hasCap: undefined, state: undefined, asOf: undefined }
}
