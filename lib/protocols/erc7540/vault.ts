import * as z from 'zod'
import type { RequestKind } from '../request-kind.ts'
import { TokenizedVault } from '../tokenized-vault.ts'

/** What the chain told of an asynchronous vault when it was added, by what it says of itself (ERC-165). */
export const Erc7540Vault = TokenizedVault.extend({
  protocol: z.literal('erc7540'),
  /** Whether deposits are by request, or give shares at once. */
  isDepositAsync: z.boolean(),
  /** Whether redemptions are by request, or paid at once; vaults that were added before this was asked have it. */
  isRedemptionAsync: z.boolean().default(true),
  /** Whether pending requests can be taken back (ERC-7887). */
  cancelsDeposits: z.boolean(),
  cancelsRedemptions: z.boolean(),
})
export type Erc7540Vault = z.output<typeof Erc7540Vault>

/** Whether pending requests of a kind can be taken back. */
export function canCancel({ cancelsDeposits, cancelsRedemptions }: Erc7540Vault, kind: RequestKind): boolean {
  return kind === 'deposit' ? cancelsDeposits : cancelsRedemptions
}
