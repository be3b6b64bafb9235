import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import type { Overview } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

/** Overviews, each with its block, and the earliest of these. */
type Overviews = {
  readonly block: BlockHeader
  readonly blocks: readonly BlockHeader[]
  readonly overviews: readonly (Overview | undefined)[]
  /** The earliest block as answers have it. Throws `upstream_*`. */
  readonly evidence: () => Promise<Evidence>
}

/** The plans of vaults: a reader knows by them that it has read the same before. */
const plans = new WeakMap<VaultOnChain, ReadPlan<Overview>>()

function planOf(vault: VaultOnChain): ReadPlan<Overview> {
  const plan = plans.get(vault) ?? getProtocol(vault).overview(vault)
  plans.set(vault, plan)
  return plan
}

/**
 * The overviews of vaults of one chain in one round trip, one RPC call for every 100 of them, each with the block that it
 * is of (the latest unless told) and the earliest of these; undefined for a vault that cannot be read, which costs more.
 * Throws `upstream_*`.
 */
export async function readOverviews(
  reader: ChainReader,
  vaults: readonly VaultOnChain[],
  at?: bigint,
): Promise<Overviews> {
  const { values, ...read } = await reader.readEach(vaults.map(planOf), { at, withHash: true })
  return { ...read, overviews: values }
}
