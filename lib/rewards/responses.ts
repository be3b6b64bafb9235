import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, Timestamp } from '../core/codecs.ts'

/** Reward of a user in one token on one chain, in API responses. */
export const RewardResponse = z
  .object({
    chainId: ChainId,
    token: Address.describe('Token that is paid'),
    symbol: z.string().nullable().describe("The token's own symbol; null if it has none"),
    decimals: z.number().int().nullable().describe("The token's decimals; null if it has none"),
    amount: Amount.describe(
      "Amount that a claim pays now, in the token's smallest unit. Proven: its proof leads to the root on the chain. A token that wraps another pays the other, less its fee",
    ),
    pending: Amount.describe("Earned but not claimable yet, in the token's smallest unit, as Merkl reports it"),
    claimed: Amount.describe("Total paid so far, in the token's smallest unit, read from the chain"),
    usd: z.number().nullable().describe('`amount` in US dollars; null if the price is unknown'),
    claimableAt: Timestamp.nullable().describe(
      'Time from which a claim also pays the part of `pending` that is in the newest tree; null if nothing waits there, or while that tree is disputed',
    ),
    recipient: Address.describe(
      "Account that the contract pays. `POST …/rewards/claim` claims the reward only if this is the user's own account",
    ),
  })
  .meta({ id: 'Reward', description: 'Tokens that campaigns of vaults pay a user' })

/** Minimum value in US dollars of a reward for which clients get a webhook event. */
export const MIN_REWARD_USD = 1

/** Reasons why a reward is not part of a claim. */
export const LeftOutReason = z.enum([
  'not_yet_claimable',
  'paid_to_another_account',
  'reverts',
  'does_not_transfer',
  'claim_again',
  'not_found',
])
export type LeftOutReason = z.output<typeof LeftOutReason>
