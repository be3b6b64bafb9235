import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { TransactionHash } from '../core/codecs.ts'

/** Transaction on another chain that started a deposit into a vault. */
export const DepositSource = z
  .object({ chainId: ChainId, transactionHash: TransactionHash })
  .meta({ id: 'DepositSource', description: 'Origin of a deposit from another chain' })
export type DepositSource = z.output<typeof DepositSource>
