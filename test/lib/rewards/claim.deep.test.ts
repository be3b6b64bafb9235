import fc from 'fast-check'
import { type Address, encodeFunctionData, getAddress, type Hex, pad, toHex, zeroHash } from 'viem'
import { readContract } from 'viem/actions'
import { test as base, describe, expect } from 'vitest'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { createChainReader } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { prepareRewardsClaim } from '../../../lib/rewards/claim.ts'
import type { ReportedReward } from '../../../lib/rewards/merkl.ts'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import { type LocalChain, startChain } from '../../../sandbox/chains.ts'
import { deployHostileToken, deployToken } from '../../../sandbox/deploy.ts'
import { rewardTree } from '../../../sandbox/reward-tree.ts'
import { DISTRIBUTOR, distributorAbi, installDistributor } from '../../../sandbox/rewards.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { createChainClient } from '../../support/chain-client.ts'
import { TOKEN_ABI } from '../../support/oracles.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const BASE = evmChain(8453) as EvmChain
const FUNDS = 2n ** 230n
const MAX_AMOUNT = 10n ** 30n

type RewardLeaf = Parameters<typeof rewardTree>[0][number]

type World = {
  readonly chain: LocalChain
  /** Tokens of rewards. Transfers of `good` tokens succeed, and transfers of `bad` tokens fail. */
  readonly good: readonly Address[]
  readonly bad: readonly Address[]
}

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('world', { scope: 'file' }, async ({}, { onCleanup }): Promise<World> => {
    const chain = await startChain({ chainId: 8453 })
    onCleanup(chain.stop)
    await installDistributor(chain)
    await callRpc(chain, [{ method: 'anvil_autoImpersonateAccount', params: [true] }])
    const good = [
      await deployToken(chain, { name: 'Morpho Token', symbol: 'MORPHO', decimals: 18 }),
      await deployToken(chain, { name: 'USD Coin', symbol: 'USDC', decimals: 6 }),
      await deployHostileToken(chain, 'changesDecimals'),
    ]
    const bad = [
      await deployHostileToken(chain, 'burnsGas'),
      await deployHostileToken(chain, 'callsBack'),
      await deployHostileToken(chain, 'reverts'),
      await deployHostileToken(chain, 'movesNothing'),
    ]
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [DISTRIBUTOR, FUNDS] })
    const from = ACCOUNTS.admin.address
    await transact(
      chain,
      [...good, ...bad].map((to) => ({ label: 'mint', from, to, data })),
    )
    return { chain, good, bad }
  })
  .extend('reader', ({ world }) =>
    createChainReader(BASE, createRpc([world.chain.rpcUrl], { fetch, random: () => 0, now: () => performance.now() })),
  )

const call = (
  functionName: 'updateTree' | 'endDisputePeriod' | 'setClaimRecipient' | 'claim',
  args: readonly unknown[],
) =>
  // The cast is safe, because the contract would refuse wrong arguments.
  encodeFunctionData({ abi: distributorAbi, functionName, args } as Parameters<typeof encodeFunctionData>[0])

async function post({ chain }: World, root: Hex) {
  const from = ACCOUNTS.admin.address
  const send = (data: Hex) => ({ label: 'tree', from, to: DISTRIBUTOR, data })
  await transact(chain, [
    send(call('updateTree', [{ merkleRoot: root, ipfsHash: zeroHash }])),
    send(call('endDisputePeriod', [])),
  ])
}

async function balances({ chain, good, bad }: World, user: Address): Promise<Map<Address, bigint>> {
  const read = async (token: Address) => {
    const args = [user] as const
    return [
      token,
      await readContract(createChainClient(chain), { address: token, abi: TOKEN_ABI, functionName: 'balanceOf', args }),
    ] as const
  }
  return new Map(await Promise.all([...good, ...bad].map(read)))
}

const amount = fc.bigInt({ min: 1n, max: MAX_AMOUNT })
/** Rewards of a user. `token` is an index in a list of tokens. Some rewards are already paid. */
const EARNED = fc.uniqueArray(fc.record({ token: fc.nat(6), amount, isPaid: fc.boolean() }), {
  minLength: 1,
  maxLength: 7,
  selector: ({ token }) => token,
})
type Earned = (typeof EARNED extends fc.Arbitrary<infer Of> ? Of : never)[number]

const LIES = {
  none: (reward: ReportedReward) => reward,
  more: (reward: ReportedReward) => ({ ...reward, amount: reward.amount + 1n }),
  less: (reward: ReportedReward) => ({ ...reward, amount: reward.amount - 1n }),
  paid: (reward: ReportedReward) => ({ ...reward, claimed: reward.amount }),
  unpaid: (reward: ReportedReward) => ({ ...reward, claimed: 0n }),
  noProof: (reward: ReportedReward) => ({ ...reward, proof: [] }),
  longProof: (reward: ReportedReward) => ({ ...reward, proof: [...reward.proof, pad(toHex(1n))] }),
  proofOfOther: (reward: ReportedReward, other: ReportedReward) => ({ ...reward, proof: other.proof }),
  pending: (reward: ReportedReward) => ({ ...reward, pending: 2n ** 200n }),
} as const
type Lie = keyof typeof LIES
const LIE = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Lie>('none') },
  { weight: 8, arbitrary: fc.constantFrom(...(Object.keys(LIES) as Lie[])) },
)
const USERS = fc.array(fc.record({ earned: EARNED, lies: fc.array(LIE, { minLength: 7, maxLength: 7 }) }), {
  minLength: 10,
  maxLength: 10,
})

let accountCount = 0
function someAccount(): Address {
  accountCount += 1
  return getAddress(pad(toHex(0xacc0000000 + accountCount), { size: 20 }))
}

describe('A claim of rewards', () => {
  test('pays 1,000 users of random trees exactly the returned amounts, despite lies of the source', async ({
    world,
    reader,
  }) => {
    const tokens = [...world.good, ...world.bad]
    let claims = 0
    await fc.assert(
      fc.asyncProperty(USERS, async (users) => {
        const accounts = users.map((user) => ({ ...user, account: someAccount() }))
        const leafOf = (user: Address, { token, amount }: Earned): RewardLeaf => ({
          ...{ user, token: tokens[token] ?? user, amount },
        })
        const tree = rewardTree(accounts.flatMap(({ account, earned }) => earned.map((one) => leafOf(account, one))))
        await post(world, tree.root)
        for (const { account, earned, lies } of accounts) {
          await callRpc(world.chain, [{ method: 'anvil_setBalance', params: [account, toHex(10n ** 20n)] }])
          const truth = earned.map((one): ReportedReward => {
            const leaf = leafOf(account, one)
            const { token, amount } = leaf
            const claimed = one.isPaid && world.good.includes(token) ? amount : 0n
            return {
              chainId: 8453,
              token,
              symbol: '',
              amount,
              claimed,
              pending: 0n,
              proof: [...tree.proofOf(leaf)],
              vaults: {},
            }
          })
          const paid = truth.filter(({ claimed }) => claimed > 0n)
          await transact(
            world.chain,
            paid.map(({ token, amount, proof }) => {
              const data = call('claim', [[account], [token], [amount], [proof]])
              return { label: 'claim before', from: account, to: DISTRIBUTOR, data }
            }),
          )
          const reported = truth.map((reward, index) => {
            const lie = lies[index] ?? 'none'
            return LIES[lie](reward, truth[(index + 1) % truth.length] ?? reward)
          })
          const isTrue = (index: number) => ['none', 'unpaid', 'pending'].includes(lies[index] ?? 'none')
          const due = truth.filter(
            ({ token, claimed }, index) => isTrue(index) && claimed === 0n && world.good.includes(token),
          )
          const result = await prepareRewardsClaim(reader, account, { rewards: reported }).catch(
            (error: unknown) => error,
          )
          if (result instanceof Error) {
            expect(result).toBeInstanceOf(AppError)
            expect(result).toMatchObject({ code: 'no_claimable_rewards' })
            expect(due).toEqual([])
            continue
          }
          const prepared = result as Awaited<ReturnType<typeof prepareRewardsClaim>>
          expect(prepared.simulation).toEqual({ status: 'success' })
          const handedOut = new Map(prepared.rewards.map(({ token, amount }) => [token, amount]))
          expect([...handedOut.keys()]).toEqual(expect.arrayContaining(due.map(({ token }) => token)))
          const before = await balances(world, account)
          const [{ to, data } = { to: account, data: '0x' as const }] = prepared.operations
          await transact(world.chain, [{ label: 'claim', from: account, to, data }])
          const after = await balances(world, account)
          for (const token of tokens) {
            expect((after.get(token) ?? 0n) - (before.get(token) ?? 0n)).toBe(handedOut.get(token) ?? 0n)
          }
          claims += handedOut.size
        }
      }),
      { numRuns: scaleSampleCount(100), endOnFailure: true },
    )
    expect(claims).toBeGreaterThan(scaleSampleCount(300))
  })
})
