import * as z from 'zod'
import { Timestamp, TransactionHash } from '../codecs.ts'
import { ChainId } from './registry.ts'

/** Which block of a chain an answer rests on, and how many hosts told it. */
export const Evidence = z
  .object({
    chainId: ChainId,
    blockNumber: z.number().int().describe('The block; of several that were read, the earliest'),
    blockHash: TransactionHash.describe('Its hash'),
    timestamp: Timestamp.describe('Its time'),
    nodes: z
      .number()
      .int()
      .describe(
        'How many nodes of different hosts told the same of all that the answer rests on; of two that were some blocks apart, the block is that of the older one',
      ),
  })
  .meta({ id: 'Evidence', description: 'Which block of a chain an answer rests on, and how many hosts told it' })
export type Evidence = z.output<typeof Evidence>

/** For answers: one for each chain that was read. */
export const EvidenceList = z
  .array(Evidence)
  .describe('What the answer rests on: for each chain that was read, the block, and how many hosts told it')
