import * as z from 'zod'
import { WalletAddress, WalletChain } from '../../../lib/accounts/wallet.ts'
import { ChainId } from '../../../lib/chain/registry.ts'
import { Timestamp } from '../../../lib/codecs.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { ClientsEnv, LimitsEnv, RelyingPartyEnv, UsersEnv } from '../../../lib/frame/env.ts'

export const contract = {
  method: 'POST',
  path: '/auth/wallets/init',
  summary: 'Gives the text that a wallet has to sign to be linked to the user.',
  tag: 'Accounts',
  caller: 'user',
  env: z.object({ ...ClientsEnv.shape, ...UsersEnv.shape, ...RelyingPartyEnv.shape, ...LimitsEnv.shape }),
  request: {
    headers: z.object({ origin: z.string().optional().describe('Sent by browsers: the page that the text names') }),
    body: z.strictObject({
      address: WalletAddress,
      chain: WalletChain,
      chainId: ChainId.default(1).describe(
        'Where a contract account is deployed, or will be; plain accounts need none',
      ),
    }),
  },
  invalid: {
    origin: 'missing_or_invalid_address',
    address: 'missing_or_invalid_address',
    chain: 'missing_or_invalid_chain',
    chainId: 'missing_or_invalid_chain_id',
  },
  response: z.object({
    message: z.string().describe('EIP-4361 for EVM, the same idea for Solana'),
    expiresAt: Timestamp,
  }),
  errors: ['too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Users cannot start to link wallets.',
} as const satisfies EndpointContract
