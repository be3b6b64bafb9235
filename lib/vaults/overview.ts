import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { Overview } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

/**
 * The overviews of vaults of one chain in one round trip, one RPC call for every 100 of them, each with the block that it
 * is of (the latest unless told) and the earliest of these; undefined for a vault that cannot be read, which costs more.
 * Throws `upstream_*`.
 */
export async function readOverviews(
  reader: ChainReader,
  vaults: readonly VaultOnChain[],
  at?: bigint,
): Promise<{ block: BlockHeader; blocks: readonly BlockHeader[]; overviews: readonly (Overview | undefined)[] }> {
  const plans = vaults.map((vault) => getProtocol(vault).overview(vault))
  const { block, blocks, values } = await reader.readEach(plans, { at })
  return { block, blocks, overviews: values }
}
