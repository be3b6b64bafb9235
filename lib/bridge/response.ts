import * as z from 'zod'
import { Amount, Timestamp } from '../codecs.ts'

/** What the bridge offers for a transfer, as callers are told it. */
export const BridgeQuote = z
  .object({
    inputAmount: Amount.describe("What is sent, in the source token's smallest unit"),
    outputAmount: Amount.describe("What arrives, in the destination token's smallest unit"),
    feeTotal: Amount.describe("In the source token's smallest unit"),
    expectedFillSeconds: z.number().describe('How long it is expected to take'),
    expiresAt: Timestamp.describe('Send the transactions before'),
  })
  .meta({ id: 'BridgeQuote', description: 'What the bridge offers' })
