import * as z from 'zod'
import { Wallet } from '../../../lib/accounts/wallet.ts'
import { AGREEMENT_ERRORS } from '../../../lib/core/errors.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'POST',
  path: '/auth/wallets',
  title: 'Link wallet',
  summary: "Links a wallet to the user. The wallet's signature proves that the user controls it.",
  tag: 'Accounts',
  caller: 'user',
  uses: { users: ['GetItem', 'UpdateItem'], config: true, rateLimits: true },
  request: {
    body: z.strictObject({
      message: field(z.string().min(1).max(2000), 'missing_or_invalid_message').describe(
        'Message of POST /auth/wallets/init, unchanged',
      ),
      signature: field(z.string().min(1).max(10_000), 'invalid_signature').describe(
        'Signature: hexadecimal for EVM, base58 for Solana',
      ),
    }),
  },
  response: Wallet,
  status: 201,
  errors: [
    'challenge_expired_or_used',
    'wallet_already_linked',
    'too_many_wallets',
    'too_many_requests',
    ...AGREEMENT_ERRORS,
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot link wallets.',
} as const satisfies EndpointContract
