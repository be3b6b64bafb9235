import * as z from 'zod'
import { WalletAddress } from '../../../lib/accounts/wallet.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'DELETE',
  path: '/auth/wallets/{address}',
  title: 'Unlink wallet',
  summary: 'Unlinks a wallet from the user.',
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'UpdateItem'] },
  request: { path: z.object({ address: WalletAddress.describe('Address from the list') }) },
  response: z.undefined(),
  status: 204,
  errors: ['wallet_not_found'],
  cacheControl: 'no-store',
  impact: 'Users cannot unlink wallets.',
} as const satisfies EndpointContract
