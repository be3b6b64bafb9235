import * as z from 'zod'
import type { Rpc, RpcOutcome, RpcRequest } from '../../../lib/chain/rpc.ts'
import { badAnswer } from '../../../lib/errors.ts'

/** What wallets hold together on Solana, and what an account there costs. */
export type SolanaBalances = {
  /** In lamports. */
  readonly native: bigint
  /** By mint, over all accounts of both token programs; the decimals are the chain's own. */
  readonly tokens: ReadonlyMap<string, { readonly amount: bigint; readonly decimals: number }>
  /** What must stay in an account, in lamports; undefined when the node does not tell. */
  readonly rent: bigint | undefined
  /**
   * The token programs that did not answer, the mints of which an account was not understood, and the accounts of which
   * not even the mint was: unknown is not zero.
   */
  readonly unread: readonly string[]
}

/** The programs that tokens belong to: Token and Token-2022. */
export const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
] as const

const MAX_UINT64 = 2n ** 64n - 1n

const RENT: RpcRequest = { method: 'getMinimumBalanceForRentExemption', params: [0] }

const Lamports = z.number().int().nonnegative().transform(BigInt)
const Balance = z.object({ value: Lamports })
const Accounts = z.object({ value: z.array(z.unknown()) })
const AnyAccount = z.object({ pubkey: z.string() }).catch({ pubkey: 'an account without an address' })
/** An account as `jsonParsed` tells it; an amount that it does not tell is null (https://solana.com/docs/rpc/http/gettokenaccountsbyowner). */
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
 * What these wallets hold on Solana: SOL and the tokens of both programs, all in one JSON-RPC batch with the rent, which
 * is asked for without a wallet too. Throws AppError `upstream_*` when the node does not tell a wallet's SOL.
 */
export async function readSolanaBalances(rpc: Rpc, wallets: readonly string[]): Promise<SolanaBalances> {
  const [rent, ...outcomes] = await rpc([RENT, ...wallets.flatMap(callsOf)])
  const ofWallets = wallets.map((wallet, index) => {
    const [balance, ...programs] = outcomes.slice(index * callsOf(wallet).length)
    return {
      balance: parseOutcome(Balance, balance)?.value,
      programs: TOKEN_PROGRAMS.map((_, program) => parseOutcome(Accounts, programs[program])?.value),
    }
  })
  const native = ofWallets.reduce((sum, { balance }) => {
    if (balance === undefined) throw badAnswer('SOL is not told')
    return sum + balance
  }, 0n)
  const programs = TOKEN_PROGRAMS.map((id, program) => ({ id, accounts: ofWallets.map((of) => of.programs[program]) }))
  return { native, rent: parseOutcome(Lamports, rent), ...sumAccounts(programs) }
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

type ProgramAccounts = { readonly id: string; readonly accounts: readonly (readonly unknown[] | undefined)[] }

/** The accounts of each mint as one amount; a mint of which one account is not understood is unread. */
function sumAccounts(programs: readonly ProgramAccounts[]): Pick<SolanaBalances, 'tokens' | 'unread'> {
  const tokens = new Map<string, { amount: bigint; decimals: number }>()
  const unread = new Set<string>()
  for (const { id, accounts } of programs) {
    if (accounts.includes(undefined)) {
      unread.add(id)
      continue
    }
    for (const account of accounts.flatMap((list) => list ?? [])) {
      const { mint = AnyAccount.parse(account).pubkey, tokenAmount } = TokenAccount.safeParse(account).data ?? {}
      const { amount = 0n, decimals = tokenAmount?.decimals } = tokens.get(mint) ?? {}
      if (tokenAmount && tokenAmount.decimals === decimals) {
        tokens.set(mint, { amount: amount + tokenAmount.amount, decimals })
      } else {
        unread.add(mint)
      }
    }
  }
  for (const mint of unread) tokens.delete(mint)
  return { tokens, unread: [...unread] }
}

function parseOutcome<Schema extends z.ZodType>(
  schema: Schema,
  outcome: RpcOutcome | undefined,
): z.output<Schema> | undefined {
  return outcome && 'result' in outcome ? schema.safeParse(outcome.result).data : undefined
}
