import * as z from 'zod'
import { ChainErrors, PositionResponse } from '../../../lib/activity/responses.ts'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { Address, UserAddress } from '../../../lib/core/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/user/{userAddress}/positions',
  title: 'List positions',
  summary: "Lists a user's positions in the client's vaults: amounts deposited, withdrawn, held and earned.",
  tag: 'Activity',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], config: true },
  request: { path: z.object({ userAddress: UserAddress }) },
  response: z.object({
    userAddress: Address,
    totalRecords: z.number().int().describe('Number of positions'),
    positions: z.array(PositionResponse),
    errors: ChainErrors,
    evidence: EvidenceList,
  }),
  errors: UPSTREAM_ERRORS,
  cacheControl: 'no-store',
  impact: 'Users cannot see their positions.',
} as const satisfies EndpointContract
