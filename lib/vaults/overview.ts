import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import type { Overview } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

/** Overviews with their blocks; `block` is the earliest. */
type Overviews = {
  readonly block: BlockHeader
  readonly blocks: readonly BlockHeader[]
  readonly overviews: readonly (Overview | undefined)[]
  /** Returns the earliest block for responses. Throws `upstream_*`. */
  readonly evidence: () => Promise<Evidence>
}

/** Read plans by vault: a reader recognizes a repeated read by its plan. */
const plans = new WeakMap<VaultOnChain, ReadPlan<Overview>>()

function planOf(vault: VaultOnChain): ReadPlan<Overview> {
  const plan = plans.get(vault) ?? getProtocol(vault).overview(vault)
  plans.set(vault, plan)
  return plan
}

/**
 * Reads the overviews of one chain's vaults at a block, the latest by default: one round trip, with one RPC call per
 * 100 vaults. An unreadable vault is undefined and costs further requests. Throws `upstream_*`.
 */
export async function readOverviews(
  reader: ChainReader,
  vaults: readonly VaultOnChain[],
  at?: bigint,
): Promise<Overviews> {
  const { values, ...read } = await reader.readEach(vaults.map(planOf), { at, withHash: true })
  return { ...read, overviews: values }
}
