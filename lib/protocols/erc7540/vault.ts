import * as z from 'zod'
import type { RequestKind } from '../request-kind.ts'
import { TokenizedVault } from '../tokenized-vault.ts'

/** Properties of an asynchronous vault, read when it was added from its own report (ERC-165). */
export const Erc7540Vault = TokenizedVault.extend({
  protocol: z.literal('erc7540'),
  /** True if deposits are requests; false if they give shares immediately. */
  isDepositAsync: z.boolean(),
  /** True if redemptions are requests; false if they are paid immediately. Vaults recorded before this field existed get true. */
  isRedemptionAsync: z.boolean().default(true),
  /** True if pending requests can be cancelled (ERC-7887). */
  cancelsDeposits: z.boolean(),
  cancelsRedemptions: z.boolean(),
})
export type Erc7540Vault = z.output<typeof Erc7540Vault>

/** Returns whether pending requests of this kind can be cancelled. */
export function canCancel({ cancelsDeposits, cancelsRedemptions }: Erc7540Vault, kind: RequestKind): boolean {
  return kind === 'deposit' ? cancelsDeposits : cancelsRedemptions
}
