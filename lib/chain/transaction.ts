import { type Hex, isHex, numberToHex } from 'viem'
import * as z from 'zod'
import { Address, Amount } from '../core/codecs.ts'
import { ChainId } from './registry.ts'

const CallData = z
  .string()
  .meta({ pattern: '^0x([0-9a-f]{2})*$' })
  .refine((text): text is Hex => isHex(text))
  .describe('Encoded calldata')

/** A transaction for the caller to sign; `value` is in the native coin's smallest unit. */
export const ChainTransaction = z
  .object({
    chainId: ChainId.describe('Chain to send it on'),
    to: Address.describe('Contract to call'),
    data: CallData,
    value: Amount.describe('Native coin to send, in its smallest unit'),
  })
  .meta({ id: 'Transaction', description: 'A transaction to sign' })

/** A transaction without its chain id, for code that handles one chain. `value` is in the native coin's smallest unit. */
export type Transaction = Omit<z.output<typeof ChainTransaction>, 'chainId'>

/** A number as wallets expect it: hexadecimal digits without leading zeros in JSON, a bigint in memory. */
const HexNumber = z.codec(z.string().meta({ pattern: '^0x(0|[1-9a-f][0-9a-f]*)$' }), z.bigint().nonnegative(), {
  decode: (text, context) => {
    if (/^0x(0|[1-9a-f][0-9a-f]*)$/.test(text)) return BigInt(text)
    context.issues.push({ code: 'custom', message: 'must be a hexadecimal number', input: text })
    return z.NEVER
  },
  encode: (value) => numberToHex(value),
})

/** Transactions as the single parameter of `wallet_sendCalls` (https://eips.ethereum.org/EIPS/eip-5792). */
export const WalletCalls = z
  .object({
    version: z.literal('2.0.0'),
    chainId: HexNumber.describe('Chain to send them on'),
    from: Address.describe('Account that sends them'),
    atomicRequired: z.boolean().describe('True for several transactions: the wallet executes all or none'),
    calls: z
      .array(
        z.object({
          to: Address.describe('Contract to call'),
          data: CallData,
          value: HexNumber.describe('Native coin to send, in its smallest unit'),
        }),
      )
      .describe('Calls in order of execution, approvals first'),
  })
  .meta({ id: 'WalletCalls', description: 'Parameter of `wallet_sendCalls` (EIP-5792)' })
export type WalletCalls = z.output<typeof WalletCalls>
