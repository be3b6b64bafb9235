import * as z from 'zod'
import { Timestamp, TransactionHash } from '../core/codecs.ts'
import { ChainId } from './registry.ts'

/** Block of a chain that a response is based on, and the number of hosts that confirm it. */
export const Evidence = z
  .object({
    chainId: ChainId,
    blockNumber: z.number().int().describe('Block number; the earliest if the service read several blocks'),
    blockHash: TransactionHash.describe('Block hash'),
    timestamp: Timestamp.describe('Block time'),
    nodes: z
      .number()
      .int()
      .describe(
        'Number of hosts that returned the same data. If two nodes are at different heights, the block is the lower one',
      ),
  })
  .meta({ id: 'Evidence', description: 'Block that the response is based on, and the number of hosts that confirm it' })
export type Evidence = z.output<typeof Evidence>

/** Blocks that a response is based on: one entry for each chain that was read. */
export const EvidenceList = z
  .array(Evidence)
  .describe('Per chain read: the block that the response is based on, and the number of hosts')
