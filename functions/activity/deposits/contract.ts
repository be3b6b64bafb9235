import * as z from 'zod'
import { ChainErrors, DepositResponse } from '../../../lib/activity/responses.ts'
import { ChainIdText } from '../../../lib/chain/registry.ts'
import { Address, numberText, UserAddress } from '../../../lib/codecs.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { ChainsEnv, ClientsEnv, DepositsEnv } from '../../../lib/frame/env.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/user/{userAddress}/deposits',
  summary: "Lists a user's deposits into the client's vaults, newest first, page by page.",
  tag: 'Activity',
  caller: 'client',
  env: z.object({ ...ClientsEnv.shape, ...DepositsEnv.shape, ...ChainsEnv.shape }),
  request: {
    path: z.object({ userAddress: UserAddress }),
    query: z.object({
      limit: numberText(1, 100).default(50).describe('1 to 100'),
      cursor: z.string().max(400).optional().describe('nextCursor of the page before'),
      vaultAddress: Address.optional(),
      chainId: ChainIdText.optional(),
      status: z.enum(['pending', 'claimable', 'completed', 'cancelled']).optional(),
    }),
  },
  invalid: {
    userAddress: 'missing_or_invalid_user_address',
    limit: 'invalid_limit',
    cursor: 'invalid_cursor',
    vaultAddress: 'missing_or_invalid_vault_address',
    chainId: 'missing_or_invalid_chain_id',
    status: 'invalid_status',
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
