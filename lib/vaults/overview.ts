import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import type { Overview } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

/** Overviews (price, terms and state) of vaults, and the block at which each was read. `block` is the earliest of the blocks. */
type Overviews = {
  readonly block: BlockHeader
  readonly blocks: readonly BlockHeader[]
  readonly overviews: readonly (Overview | undefined)[]
  /** Returns the earliest block with its hash, which the API response names as its source. Throws `upstream_*`. */
  readonly evidence: () => Promise<Evidence>
}

/**
 * Read plan (batch of contract calls) of each vault. A chain reader recognizes a repeated read by its plan object, so
 * the object is reused.
 */
const plans = new WeakMap<VaultOnChain, ReadPlan<Overview>>()

function planOf(vault: VaultOnChain): ReadPlan<Overview> {
  const plan = plans.get(vault) ?? getProtocol(vault).overview(vault)
  plans.set(vault, plan)
  return plan
}

/**
 * Reads the overviews (price, terms and state) of one chain's vaults at block `at`, by default the latest. This takes
 * one HTTP request, with one RPC call per 100 vaults. The overview of an unreadable vault is undefined, and takes
 * further requests. Throws `upstream_*`.
 */
export async function readOverviews(
  reader: ChainReader,
  vaults: readonly VaultOnChain[],
  at?: bigint,
): Promise<Overviews> {
  const { values, ...read } = await reader.readEach(vaults.map(planOf), { at, withHash: true })
  return { ...read, overviews: values }
}
