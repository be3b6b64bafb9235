import * as z from 'zod'
import { Address, Timestamp } from '../core/codecs.ts'
import { field } from '../core/field.ts'
import { decodeBase58 } from './base58.ts'

/** Kind of chain on which a wallet works: any EVM chain, or Solana. */
export const WalletChain = field(z.enum(['evm', 'solana']), 'missing_or_invalid_chain')
type WalletChain = z.output<typeof WalletChain>

/** A wallet linked to a user, who has proven control of it with a signature. */
export const Wallet = z
  .object({
    address: z.string().describe('EVM address with EIP-55 checksum, or Solana address in base58'),
    chain: WalletChain.describe('Kind of chain'),
    linkedAt: Timestamp,
  })
  .meta({ id: 'Wallet', description: 'A wallet that the user has proven to control' })
export type Wallet = z.output<typeof Wallet>

/** Lists the addresses of the wallets that are on this kind of chain, sorted. */
export function listAddresses({ kind }: { readonly kind: WalletChain }, wallets: readonly Wallet[]): string[] {
  return wallets
    .filter(({ chain }) => chain === kind)
    .map(({ address }) => address)
    .sort()
}

/**
 * Address of a wallet, parsed with its kind of chain. An EVM address must have a valid checksum or a single case. A
 * Solana address is base58.
 */
export const WalletAddress = field(
  z
    .string()
    .max(64)
    .transform((text, context): { address: string; chain: WalletChain } => {
      const evm = Address.safeDecode(text)
      if (evm.success) return { address: evm.data, chain: 'evm' }
      if (decodeBase58(text, 32)) return { address: text, chain: 'solana' }
      context.issues.push({
        code: 'custom',
        message: 'must be an EVM address with a correct checksum, or a Solana address in base58',
        input: text,
      })
      return z.NEVER
    }),
  'missing_or_invalid_address',
)
