import { createAgreementOf } from '../../lib/chain/agree.ts'
import { createAgreedReader } from '../../lib/chain/agreed-reader.ts'
import type { ChainReader } from '../../lib/chain/reader.ts'
import type { EvmChain } from '../../lib/chain/registry.ts'
import type { Rpc } from '../../lib/chain/rpc.ts'

/** The reader of a chain that returns only what two of these hosts agree on. */
export function agreedReaderOf(chain: EvmChain, rpcs: readonly Rpc[]): ChainReader {
  return createAgreedReader(
    createAgreementOf(() => ({ chain, rpcs })),
    chain,
    rpcs.length,
  )
}
