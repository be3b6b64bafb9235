import * as z from 'zod'
import { ChainId } from '../../../lib/chain/registry.ts'
import { Address, Amount, Timestamp, UserAddress } from '../../../lib/core/codecs.ts'
import { AGREEMENT_ERRORS } from '../../../lib/core/errors.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { TransactionsReply } from '../../../lib/prepare/transactions-reply.ts'
import { LeftOutReason } from '../../../lib/rewards/responses.ts'

export const contract = {
  method: 'POST',
  path: '/defi-vaults/v1/defi/rewards/claim',
  title: 'Prepare rewards claim',
  summary:
    "Builds and simulates the claim of a user's rewards on one chain, proven by the chain's root. At most 10 tokens a claim.",
  tag: 'Vaults',
  caller: 'client',
  budget: 'withdrawals',
  uses: { cache: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'], config: true },
  request: {
    body: z.strictObject({
      userAddress: UserAddress,
      chainId: ChainId.describe('Chain of the rewards'),
      tokens: field(z.array(Address).min(1).max(50), 'invalid_tokens')
        .optional()
        .describe('Tokens to claim, from `GET …/rewards`; all if left out'),
    }),
  },
  response: TransactionsReply.extend({
    protocol: z.literal('merkl'),
    chainId: ChainId.describe('Chain of the rewards'),
    rewards: z
      .array(z.object({ token: Address, amount: Amount.describe("Amount that it pays, in the token's smallest unit") }))
      .describe('Rewards that the transaction claims'),
    leftOut: z
      .array(
        z.object({
          token: Address,
          reason: LeftOutReason.describe(
            '`not_yet_claimable`: not in the tree that pays now. `paid_to_another_account`: the user has set another recipient at the contract. `reverts`, `does_not_transfer`: the token failed in the dry run. `claim_again`: it has room in the next claim. `not_found`: the list of rewards does not have it',
          ),
          claimableAt: Timestamp.nullable().describe('Time from which it can be claimed; null if unknown'),
        }),
      )
      .describe('Rewards that it does not claim'),
  }),
  errors: ['no_claimable_rewards', 'too_many_requests', ...AGREEMENT_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot claim rewards.',
} as const satisfies EndpointContract
