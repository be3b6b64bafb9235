import { type Hex, isHex } from 'viem'
import * as z from 'zod'
import { Address, Amount } from '../codecs.ts'

/** A transaction for the caller to sign: `value` is in the native coin's smallest unit. */
export const Transaction = z
  .object({
    to: Address.describe('Contract to call'),
    data: z
      .string()
      .meta({ pattern: '^0x([0-9a-f]{2})*$' })
      .refine((text): text is Hex => isHex(text))
      .describe('Encoded calldata'),
    value: Amount.describe('Native coin to send, in its smallest unit'),
  })
  .meta({ id: 'Transaction', description: 'A transaction to sign' })
export type Transaction = z.output<typeof Transaction>
