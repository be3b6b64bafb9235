import * as z from 'zod'
import { ChainKey } from '../../../lib/chain/registry.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { NftCollection } from '../../../lib/portfolio/nft.ts'
import { WalletsResponse } from '../../../lib/portfolio/responses.ts'

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/nft',
  title: 'List NFTs',
  summary: "Lists the NFTs in the user's wallets on all chains, by collection.",
  tag: 'Portfolio',
  caller: 'user',
  uses: { users: ['GetItem'], cache: ['BatchGetItem', 'BatchWriteItem', 'UpdateItem', 'PutItem'], config: true },
  request: {},
  response: WalletsResponse.extend({
    nfts: z.record(ChainKey, z.array(NftCollection)).describe('NFTs by chain key'),
  }),
  errors: ['too_many_requests', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see their NFTs.',
} as const satisfies EndpointContract
