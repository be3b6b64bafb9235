import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSolanaBalances } from '../../../functions/portfolio/all-balances/solana.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import type { RpcRequest } from '../../../lib/chain/rpc.ts'
import { TOKEN_PROGRAMS } from '../../../lib/portfolio/wallet-balances.ts'

const ALICE = 'A11ce11111111111111111111111111111111111111'
const BOB = 'Bob1111111111111111111111111111111111111111'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const PYUSD = '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo'
const [TOKEN, TOKEN_2022] = TOKEN_PROGRAMS

type Answers = (request: RpcRequest) => unknown

function nodeOf(answers: Answers) {
  const batches: RpcRequest[][] = []
  const answering: typeof fetch = async (_, init) => {
    const calls: (RpcRequest & { id: number })[] = JSON.parse(String(init?.body))
    batches.push(calls)
    const items = calls.map(({ id, ...call }) => {
      const result = answers(call)
      const error = { code: -32010, message: 'excluded from account secondary indexes' }
      return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }
    })
    return new Response(JSON.stringify(items))
  }
  return { batches, rpc: createRpc(['https://node.example'], { fetch: answering, random: () => 0, now: () => 0 }) }
}

function account(mint: string, amount: string, decimals = 6) {
  const tokenAmount = { amount, decimals, uiAmount: Number(amount) / 10 ** decimals, uiAmountString: 'any' }
  const info = { isNative: false, mint, owner: ALICE, state: 'initialized', tokenAmount }
  const data = { parsed: { info, type: 'account' }, program: 'spl-token', space: 165 }
  return { account: { data, executable: false, lamports: 2039280, owner: TOKEN, rentEpoch: 2 ** 64 }, pubkey: 'any' }
}

type Holdings = { readonly sol?: unknown; readonly accounts?: Readonly<Record<string, unknown>> }

/**
 * Builds a node's results for these wallets. The holdings list a wallet's token accounts by token program. The wallet
 * has no accounts of other programs.
 */
function holding(wallets: Readonly<Record<string, Holdings>>, rent: unknown = 650_240): Answers {
  const context = { apiVersion: '3.0.6', slot: 381_000_000 }
  return ({ method, params: [wallet, filter] }) => {
    if (method === 'getMinimumBalanceForRentExemption') return rent
    const { sol = 0, accounts = {} } = wallets[String(wallet)] ?? {}
    if (method === 'getBalance') return { context, value: sol }
    const { programId } = filter as { programId: string }
    if (Object.hasOwn(accounts, programId)) {
      return accounts[programId] === undefined ? undefined : { context, value: accounts[programId] }
    }
    return { context, value: [] }
  }
}

function read(answers: Answers, wallets: readonly string[] = [ALICE]) {
  return readSolanaBalances(nodeOf(answers).rpc, wallets)
}

async function readAlice(answers: Answers) {
  const [balances] = (await read(answers)).wallets
  if (!balances) throw new Error('There is no wallet.')
  return balances
}

describe('The balance of wallets on Solana', () => {
  test('is SOL and the tokens of both programs for each wallet, summed over accounts', async () => {
    const answers = holding({
      [ALICE]: {
        sol: 1_500_000_000,
        accounts: {
          [TOKEN]: [account(USDC, '1000000'), account(USDC, '18446744073709551614'), account('empty', '0', 0)],
          [TOKEN_2022]: [account(PYUSD, '7')],
        },
      },
      [BOB]: { sol: 1, accounts: { [TOKEN]: [account(USDC, '5')] } },
    })
    expect(await read(answers, [ALICE, BOB])).toEqual({
      rent: 650_240n,
      wallets: [
        {
          native: 1_500_000_000n,
          tokens: {
            [USDC]: { balance: 18_446_744_073_710_551_614n, decimals: 6 },
            [PYUSD]: { balance: 7n, decimals: 6 },
          },
          shares: {},
          unread: [],
        },
        { native: 1n, tokens: { [USDC]: { balance: 5n, decimals: 6 } }, shares: {}, unread: [] },
      ],
    })
  })

  test('is read in one request', async () => {
    const { rpc, batches } = nodeOf(holding({}))
    await readSolanaBalances(rpc, [ALICE, BOB])
    expect(batches.map((calls) => calls.map(({ method }) => method))).toEqual([
      [
        'getMinimumBalanceForRentExemption',
        ...['getBalance', 'getTokenAccountsByOwner', 'getTokenAccountsByOwner'],
        ...['getBalance', 'getTokenAccountsByOwner', 'getTokenAccountsByOwner'],
      ],
    ])
  })

  test('is empty without a wallet, and the rent is read', async () => {
    expect(await read(holding({}), [])).toEqual({ wallets: [], rent: 650_240n })
  })

  test('is the sum of all accounts, however they are spread over programs', async () => {
    const anyAccounts = fc.array(
      fc.record({
        program: fc.constantFrom(TOKEN, TOKEN_2022),
        // A mint belongs to only one token program, so each program has mints of its own.
        mint: fc.constantFrom('one', 'two', 'three'),
        amount: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
      }),
      { maxLength: 30 },
    )
    await fc.assert(
      fc.asyncProperty(anyAccounts, async (accounts) => {
        const ofProgram = TOKEN_PROGRAMS.map((program) => [
          program,
          accounts
            .filter((one) => one.program === program)
            .map(({ mint, amount }) => account(`${program} ${mint}`, amount.toString())),
        ])
        const { tokens, unread } = await readAlice(holding({ [ALICE]: { accounts: Object.fromEntries(ofProgram) } }))
        const sums: Record<string, bigint> = {}
        for (const { program, mint, amount } of accounts) {
          sums[`${program} ${mint}`] = (sums[`${program} ${mint}`] ?? 0n) + amount
        }
        expect(Object.fromEntries(Object.entries(tokens).map(([mint, { balance }]) => [mint, balance]))).toEqual(sums)
        expect(unread).toEqual([])
      }),
    )
  })

  test('is known for ten thousand accounts', async () => {
    const accounts = Array.from({ length: 10_000 }, (_, i) => account(`mint ${i % 4000}`, '1'))
    const tokens = Object.values((await readAlice(holding({ [ALICE]: { accounts: { [TOKEN]: accounts } } }))).tokens)
    expect(tokens).toHaveLength(4000)
    expect(tokens.reduce((sum, { balance }) => sum + balance, 0n)).toBe(10_000n)
  })

  test('is unknown, and not smaller, for a mint with an invalid account', async () => {
    const wrong = [
      account('negative', '-1'),
      account('fraction', '1.5'),
      account('beyond', '18446744073709551616'),
      account('too many decimals', '1', 256),
      { account: { data: { parsed: { info: { mint: 'no amount' } } } } },
    ]
    const accounts = [
      account('negative', '5'),
      ...wrong,
      account(USDC, '1'),
      account('two', '1', 6),
      account('two', '1', 7),
    ]
    const { tokens, unread } = await readAlice(holding({ [ALICE]: { accounts: { [TOKEN]: accounts } } }))
    expect(tokens).toEqual({ [USDC]: { balance: 1n, decimals: 6 } })
    expect(unread).toEqual(['negative', 'fraction', 'beyond', 'too many decimals', 'no amount', 'two'])
  })

  test.for<[unknown, string]>([
    [null, 'an account without an address'],
    [7, 'an account without an address'],
    [{}, 'an account without an address'],
    [{ pubkey: 'Any', account: null }, 'Any'],
    [{ pubkey: 'Any', account: { data: ['AAAA', 'base64'] } }, 'Any'],
  ])('is incomplete with the account %j', async ([nonsense, expected]) => {
    const accounts = { [TOKEN_2022]: [account(PYUSD, '1'), nonsense] }
    const { tokens, unread } = await readAlice(holding({ [ALICE]: { accounts } }))
    expect(tokens).toEqual({ [PYUSD]: { balance: 1n, decimals: 6 } })
    expect(unread).toEqual([expected])
  })

  test.for<[string, unknown]>([
    ['refuses', undefined],
    ['returns null for', null],
    ['returns a text for', 'none'],
  ])('is unknown for a program that the node %s', async ([, accounts]) => {
    const answers = holding({
      [ALICE]: { sol: 5, accounts: { [TOKEN]: accounts, [TOKEN_2022]: [account(PYUSD, '1')] } },
    })
    expect(await readAlice(answers)).toMatchObject({
      native: 5n,
      tokens: { [PYUSD]: { balance: 1n, decimals: 6 } },
      unread: [TOKEN],
    })
  })

  test.for([null, -1, 0.5, '7', {}])('fails when the SOL of a wallet is %j', async (sol) => {
    await expect(read(holding({ [ALICE]: { sol: 1 }, [BOB]: { sol } }), [ALICE, BOB])).rejects.toMatchObject({
      code: 'upstream_bad_answer',
    })
  })

  test('is known even if the rent is not', async () => {
    expect(await read(holding({ [ALICE]: { sol: 1 } }, null))).toMatchObject({
      wallets: [{ native: 1n }],
      rent: undefined,
    })
  })
})
