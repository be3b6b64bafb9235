import * as z from 'zod'
import { ChainErrors, DepositResponse } from '../../../lib/activity/responses.ts'
import { ChainIdText } from '../../../lib/chain/registry.ts'
import { Address, numberText, UserAddress, VaultAddress } from '../../../lib/codecs.ts'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/user/{userAddress}/deposits',
  summary: "Lists a user's deposits into the client's vaults, newest first, page by page.",
  tag: 'Activity',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], config: true },
  request: {
    path: z.object({ userAddress: UserAddress }),
    query: z.object({
      limit: field(numberText(1, 100), 'invalid_limit').default(50).describe('1 to 100'),
      cursor: field(z.string().max(400), 'invalid_cursor').optional().describe('nextCursor of the page before'),
      vaultAddress: VaultAddress.optional(),
      chainId: ChainIdText.optional(),
      status: field(z.enum(['pending', 'claimable', 'completed', 'cancelled']), 'invalid_status').optional(),
    }),
  },
  response: z.object({
    userAddress: Address,
    totalRecords: z.number().int().describe('All deposits that match, on whatever page'),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
    deposits: z.array(DepositResponse),
    errors: ChainErrors,
  }),
  errors: ['upstream_bad_answer', 'upstream_unavailable', 'upstream_timeout'],
  cacheControl: 'no-store',
  impact: 'Users cannot see their deposit history.',
} as const satisfies EndpointContract
