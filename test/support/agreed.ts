import { createAgreementOf } from '../../lib/chain/agree.ts'
import { createAgreedReader } from '../../lib/chain/agreed-reader.ts'
import type { ChainReader } from '../../lib/chain/reader.ts'
import type { EvmChain } from '../../lib/chain/registry.ts'
import type { Rpc } from '../../lib/chain/rpc.ts'

/** Creates a ChainReader that returns a value only if two of the nodes in `rpcs` return the same value. */
export function createAgreedReaderOf(chain: EvmChain, rpcs: readonly Rpc[]): ChainReader {
  return createAgreedReader(
    createAgreementOf(() => ({ chain, rpcs })),
    chain,
    rpcs.length,
  )
}
