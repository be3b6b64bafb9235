import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { TransactionHash } from '../codecs.ts'

/** The transaction on another chain with which a deposit began. */
export const DepositSource = z
  .object({ chainId: ChainId, transactionHash: TransactionHash })
  .meta({ id: 'DepositSource', description: 'Origin of a deposit from another chain' })
export type DepositSource = z.output<typeof DepositSource>
