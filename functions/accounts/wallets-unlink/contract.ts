import * as z from 'zod'
import { WalletAddress } from '../../../lib/accounts/wallet.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { ClientsEnv, UsersEnv } from '../../../lib/frame/env.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/wallets/{address}',
  summary: 'Takes a linked wallet from the user.',
  tag: 'Accounts',
  caller: 'user',
  env: z.object({ ...ClientsEnv.shape, ...UsersEnv.shape }),
  request: { path: z.object({ address: WalletAddress }) },
  invalid: { address: 'missing_or_invalid_address' },
  response: z.undefined(),
  status: 204,
  errors: ['wallet_not_found'],
  cacheControl: 'no-store',
  impact: 'Users cannot unlink wallets.',
} as const satisfies EndpointContract
