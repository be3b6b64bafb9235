import * as z from 'zod'
import { KycStatus } from '../../../lib/accounts/user.ts'
import { ChainKey } from '../../../lib/chain/registry.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { Currency } from '../../../lib/markets/currency.ts'
import { BalanceEntry } from '../../../lib/portfolio/balance.ts'
import { WalletsResponse } from '../../../lib/portfolio/responses.ts'

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/allBalances',
  title: 'List balances',
  summary: "Returns all balances of the user's wallets on all chains, with their values.",
  tag: 'Portfolio',
  caller: 'user',
  uses: { users: ['GetItem'], cache: ['BatchGetItem', 'BatchWriteItem', 'UpdateItem', 'PutItem'], config: true },
  request: { query: z.object({ currency: Currency.default('usd') }) },
  response: WalletsResponse.extend({
    tokens: z
      .record(ChainKey, z.array(BalanceEntry))
      .describe("Balances by chain key: the chain's coin for each linked wallet's chain, and every token held"),
    missing: z
      .partialRecord(ChainKey, z.array(z.enum(['unlisted_tokens'])))
      .optional()
      .describe('Parts for which the service has no source, by chain key; listed tokens are always there'),
    kyc: z.object({ status: KycStatus.describe('Status of the identity check') }).describe("The user's identity check"),
    smartgaz: z.number().describe('Remaining allowance for network fees that the service pays, in the currency'),
    smartgaz_available: z.boolean().describe('True if the exchange rate is known; without it smartgaz is 0'),
    solana_rent: z.number().describe('SOL that must stay in a Solana account'),
  }),
  errors: UPSTREAM_ERRORS,
  cacheControl: 'no-store',
  impact: 'Users cannot see their balances.',
} as const satisfies EndpointContract
