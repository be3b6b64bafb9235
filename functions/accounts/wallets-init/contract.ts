import * as z from 'zod'
import { WalletAddress, WalletChain } from '../../../lib/accounts/wallet.ts'
import { ChainId } from '../../../lib/chain/registry.ts'
import { Timestamp } from '../../../lib/codecs.ts'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/wallets/init',
  title: 'Start linking wallet',
  summary: 'Returns the message that a wallet signs to be linked to the user; takes a login of the last ten minutes.',
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['PutItem'], relyingParty: true },
  request: {
    headers: z.object({
      origin: field(z.string(), 'missing_or_invalid_address')
        .optional()
        .describe('Sent by browsers: the page that the text names'),
    }),
    body: z.strictObject({
      address: WalletAddress.describe('With its EIP-55 checksum or in one case, or in base58 for Solana'),
      chain: WalletChain.describe('Of which kind of chains'),
      chainId: ChainId.default(1).describe(
        'Where a contract account is deployed, or will be; plain accounts need none',
      ),
    }),
  },
  response: z.object({
    message: z.string().describe('EIP-4361 for EVM, the same idea for Solana'),
    expiresAt: Timestamp,
  }),
  errors: ['fresh_login_required'],
  cacheControl: 'no-store',
  impact: 'Users cannot start to link wallets.',
} as const satisfies EndpointContract
