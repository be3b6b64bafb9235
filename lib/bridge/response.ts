import * as z from 'zod'
import { Amount, Timestamp } from '../core/codecs.ts'

/** Response field: the bridge's quote for a transfer. */
export const BridgeQuote = z
  .object({
    inputAmount: Amount.describe("Amount sent, in the source token's smallest unit"),
    outputAmount: Amount.describe("Amount that arrives, in the destination token's smallest unit"),
    feeTotal: Amount.describe("Total fee, in the source token's smallest unit"),
    expectedFillSeconds: z.number().describe('Expected seconds until the transfer arrives'),
    expiresAt: Timestamp.describe('Send the transactions before this time'),
  })
  .meta({ id: 'BridgeQuote', description: 'Quote of the bridge' })
