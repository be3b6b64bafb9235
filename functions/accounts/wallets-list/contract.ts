import * as z from 'zod'
import { Wallet } from '../../../lib/accounts/wallet.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/auth/wallets',
  title: 'List wallets',
  summary: "Lists the user's linked wallets, oldest link first.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem'] },
  request: {},
  response: z.object({ wallets: z.array(Wallet) }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Users cannot see which wallets they have linked.',
} as const satisfies EndpointContract
