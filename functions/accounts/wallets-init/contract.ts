import * as z from 'zod'
import { WalletAddress, WalletChain } from '../../../lib/accounts/wallet.ts'
import { ChainId } from '../../../lib/chain/registry.ts'
import { Timestamp } from '../../../lib/core/codecs.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/wallets/init',
  title: 'Start linking wallet',
  summary:
    "Returns the message that links a wallet once the wallet signs it. The session's login must be at most ten minutes old.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['PutItem'], relyingParty: true },
  request: {
    headers: z.object({
      origin: field(z.string(), 'missing_or_invalid_address')
        .optional()
        .describe('Page that the message names; browsers send it'),
    }),
    body: z.strictObject({
      address: WalletAddress.describe('EVM address (EIP-55 checksum, or all one case) or Solana address in base58'),
      chain: WalletChain.describe('Kind of chain'),
      chainId: ChainId.default(1).describe(
        'Chain where a contract account is, or will be, deployed; plain accounts need none',
      ),
    }),
  },
  response: z.object({
    message: z.string().describe('EIP-4361 text for EVM, a similar text for Solana'),
    expiresAt: Timestamp,
  }),
  errors: ['fresh_login_required'],
  cacheControl: 'no-store',
  impact: 'Users cannot start to link wallets.',
} as const satisfies EndpointContract
