import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import type { Overview } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

/** Overviews of vaults, with the blocks at which they were read; `block` is the earliest of these. */
type Overviews = {
  readonly block: BlockHeader
  readonly blocks: readonly BlockHeader[]
  readonly overviews: readonly (Overview | undefined)[]
  /** Returns the earliest block, for the response to name. Throws `upstream_*`. */
  readonly evidence: () => Promise<Evidence>
}

/** Read plans by vault. A reader recognizes a repeated read by its plan object, so each vault keeps the same one. */
const plans = new WeakMap<VaultOnChain, ReadPlan<Overview>>()

function planOf(vault: VaultOnChain): ReadPlan<Overview> {
  const plan = plans.get(vault) ?? getProtocol(vault).overview(vault)
  plans.set(vault, plan)
  return plan
}

/**
 * Reads the overviews of one chain's vaults at block `at`, by default the latest. This takes one round trip, with one RPC call per 100
 * vaults. A vault that cannot be read is undefined and costs further requests. Throws `upstream_*`.
 */
export async function readOverviews(
  reader: ChainReader,
  vaults: readonly VaultOnChain[],
  at?: bigint,
): Promise<Overviews> {
  const { values, ...read } = await reader.readEach(vaults.map(planOf), { at, withHash: true })
  return { ...read, overviews: values }
}
