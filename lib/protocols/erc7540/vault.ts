import * as z from 'zod'
import type { RequestKind } from '../request-kind.ts'
import { TokenizedVault } from '../tokenized-vault.ts'

/** Properties of an ERC-7540 vault, read from its ERC-165 interfaces when an operator added it. */
export const Erc7540Vault = TokenizedVault.extend({
  protocol: z.literal('erc7540'),
  isDepositAsync: z.boolean(),
  /** False if redemptions are paid immediately. Older records without this field count as true. */
  isRedemptionAsync: z.boolean().default(true),
  /** True if pending deposit requests can be cancelled (ERC-7887). `cancelsRedemptions` is the same for redemption requests. */
  cancelsDeposits: z.boolean(),
  cancelsRedemptions: z.boolean(),
})
export type Erc7540Vault = z.output<typeof Erc7540Vault>

/** Returns true if the vault's pending requests of this kind can be cancelled. */
export function canCancel({ cancelsDeposits, cancelsRedemptions }: Erc7540Vault, kind: RequestKind): boolean {
  return kind === 'deposit' ? cancelsDeposits : cancelsRedemptions
}
