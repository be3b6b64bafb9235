import * as z from 'zod'
import { ChainErrors } from '../../../lib/activity/responses.ts'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { ChainIdText } from '../../../lib/chain/registry.ts'
import { Address, UserAddress } from '../../../lib/core/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { RewardResponse } from '../../../lib/rewards/responses.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/user/{userAddress}/rewards',
  title: 'List rewards',
  summary:
    'Lists the rewards that campaigns pay a user on top of vault yields. It reads all supported chains that the key may use, and the chain proves claimable amounts.',
  tag: 'Activity',
  caller: 'client',
  uses: {
    cache: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'],
    // The handler adds the account to the watched accounts. The job refresh-rewards then publishes events about its rewards.
    deposits: ['BatchGetItem', 'UpdateItem'],
    config: true,
  },
  request: {
    path: z.object({ userAddress: UserAddress }),
    query: z.object({ chainId: ChainIdText.optional().describe('Only rewards on this chain') }),
  },
  response: z.object({
    userAddress: Address,
    rewards: z.array(RewardResponse).describe('Without tokens that look like spam'),
    errors: ChainErrors.describe('Reasons why rewards are missing, all or some of a chain, by chain id'),
    evidence: EvidenceList,
  }),
  errors: ['too_many_requests', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see their rewards.',
} as const satisfies EndpointContract
