import * as z from 'zod'
import { KycStatus } from '../../../lib/accounts/user.ts'
import { ChainKey } from '../../../lib/chain/registry.ts'
import { UPSTREAM_ERRORS } from '../../../lib/errors.ts'
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
  uses: { users: ['GetItem'], cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'], config: true },
  request: { query: z.object({ currency: Currency.default('usd') }) },
  response: WalletsResponse.extend({
    tokens: z
      .record(ChainKey, z.array(BalanceEntry))
      .describe(
        "By the chain's key: the coin of each chain that the user has a wallet for, and every token held there",
      ),
    kyc: z
      .object({ status: KycStatus.describe("How far the check of the user's identity is") })
      .describe('Know your customer'),
    smartgaz: z.number().describe('What is left of the network fees that are paid for the user, in the currency'),
    smartgaz_available: z
      .boolean()
      .describe('Whether the rate of the currency is known; without it smartgaz is 0. Additive'),
    solana_rent: z.number().describe('SOL that must stay in an account on Solana and cannot be spent'),
  }),
  errors: UPSTREAM_ERRORS,
  cacheControl: 'no-store',
  impact: 'Users cannot see what they have.',
} as const satisfies EndpointContract
