import * as z from 'zod'
import { DepositResponse } from '../../../lib/activity/entry-responses.ts'
import { HistoryPage, HistoryQuery } from '../../../lib/activity/responses.ts'
import { UserAddress } from '../../../lib/core/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/user/{userAddress}/deposits',
  title: 'List deposits',
  summary: "Lists a user's deposits into the client's vaults, newest first, page by page.",
  tag: 'Activity',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], config: true },
  request: {
    path: z.object({ userAddress: UserAddress }),
    query: HistoryQuery,
  },
  response: HistoryPage.extend({ deposits: z.array(DepositResponse) }),
  errors: UPSTREAM_ERRORS,
  cacheControl: 'no-store',
  impact: 'Users cannot see their deposit history.',
} as const satisfies EndpointContract
