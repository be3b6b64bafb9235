import * as z from 'zod'
import type { Rpc, RpcOutcome, RpcRequest } from '../../../lib/chain/rpc.ts'
import { badResponse } from '../../../lib/core/errors.ts'
import { TOKEN_PROGRAMS, type UndatedBalances } from '../../../lib/portfolio/wallet-balances.ts'

/**
 * Balances of each wallet on Solana, and the rent of an account without data in lamports. The rent is undefined if the
 * node does not report it.
 */
export type SolanaBalances = { readonly wallets: readonly UndatedBalances[]; readonly rent: bigint | undefined }

const MAX_UINT64 = 2n ** 64n - 1n

const RENT: RpcRequest = { method: 'getMinimumBalanceForRentExemption', params: [0] }

const Lamports = z.number().int().nonnegative().transform(BigInt)
const Balance = z.object({ value: Lamports })
const Accounts = z.object({ value: z.array(z.unknown()) })
const AnyAccount = z.object({ pubkey: z.string() }).catch({ pubkey: 'an account without an address' })
/** Token account in `jsonParsed` form (https://solana.com/docs/rpc/http/gettokenaccountsbyowner). An invalid amount becomes null. */
const TokenAccount = z
  .object({
    account: z.object({
      data: z.object({
        parsed: z.object({
          info: z.object({
            mint: z.string().min(1),
            tokenAmount: z
              .object({
                amount: z
                  .string()
                  .regex(/^\d{1,20}$/)
                  .transform(BigInt)
                  .refine((amount) => amount <= MAX_UINT64),
                decimals: z.number().int().min(0).max(255),
              })
              .nullable()
              .catch(null),
          }),
        }),
      }),
    }),
  })
  .transform(({ account }) => account.data.parsed.info)

/**
 * Reads the balances of these Solana wallets: SOL and the tokens of both token programs. One JSON-RPC batch also reads
 * the rent, even without a wallet. Throws AppError `upstream_*` if a wallet's SOL is not reported.
 */
export async function readSolanaBalances(rpc: Rpc, wallets: readonly string[]): Promise<SolanaBalances> {
  const [rent, ...outcomes] = await rpc([RENT, ...wallets.flatMap(callsOf)])
  return {
    rent: parseOutcome(Lamports, rent),
    wallets: wallets.map((wallet, index) => {
      const [balance, ...programs] = outcomes.slice(index * callsOf(wallet).length)
      const native = parseOutcome(Balance, balance)?.value
      if (native === undefined) throw badResponse('SOL balance missing')
      return { native, shares: {}, ...sumAccounts(programs) }
    }),
  }
}

function callsOf(wallet: string): RpcRequest[] {
  return [
    { method: 'getBalance', params: [wallet] },
    ...TOKEN_PROGRAMS.map((programId) => ({
      method: 'getTokenAccountsByOwner',
      params: [wallet, { programId }, { encoding: 'jsonParsed' }],
    })),
  ]
}

/** Adds up the token accounts of each mint. A mint with an invalid account goes to `unread`, because its sum would be wrong. */
function sumAccounts(programs: readonly (RpcOutcome | undefined)[]): Pick<UndatedBalances, 'tokens' | 'unread'> {
  const tokens = new Map<string, { balance: bigint; decimals: number }>()
  const unread = new Set<string>()
  for (const [index, program] of TOKEN_PROGRAMS.entries()) {
    const accounts = parseOutcome(Accounts, programs[index])?.value
    if (!accounts) unread.add(program)
    for (const account of accounts ?? []) {
      const { mint = AnyAccount.parse(account).pubkey, tokenAmount } = TokenAccount.safeParse(account).data ?? {}
      const { balance = 0n, decimals = tokenAmount?.decimals } = tokens.get(mint) ?? {}
      if (tokenAmount && tokenAmount.decimals === decimals) {
        tokens.set(mint, { balance: balance + tokenAmount.amount, decimals })
      } else {
        unread.add(mint)
      }
    }
  }
  const read = [...tokens].filter(([mint, { balance }]) => !unread.has(mint) && balance > 0n)
  return { tokens: Object.fromEntries(read), unread: [...unread] }
}

function parseOutcome<Schema extends z.ZodType>(
  schema: Schema,
  outcome: RpcOutcome | undefined,
): z.output<Schema> | undefined {
  return outcome && 'result' in outcome ? schema.safeParse(outcome.result).data : undefined
}
