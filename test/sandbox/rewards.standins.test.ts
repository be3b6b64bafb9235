import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  maxUint208,
  numberToHex,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { readContract, simulateContract } from 'viem/actions'
import { test as base, describe, expect } from 'vitest'
import * as z from 'zod'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import { startChain } from '../../sandbox/chains.ts'
import { deployHostileToken, deployToken, type HarmfulBehavior, setHarm } from '../../sandbox/deploy.ts'
import { startProviders } from '../../sandbox/providers.ts'
import { createRelayer } from '../../sandbox/relayer.ts'
import { rewardTree } from '../../sandbox/reward-tree.ts'
import { createRewardOperator, DISTRIBUTOR, distributorAbi, installDistributor } from '../../sandbox/rewards.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'
import { createChainClient } from '../support/chain-client.ts'
import { TOKEN_ABI } from '../support/oracles.ts'
import { createChainSnapshotTaker, createStateRestorer } from '../support/restore.ts'
import { catchErrorName } from './harness.ts'

const [ALICE, BOB, CAROL] = ACCOUNTS.users.map(({ address }) => address) as [Address, Address, Address]
const CHAIN = 8453
const HOUR = 3600
/** These vaults have no contract, because only the names of reward campaigns contain their addresses. */
const [COVE, HARBOR, CAUSEWAY, OTHER] = ['11', '22', '33', '44'].map((byte) => getAddress(`0x${byte.repeat(20)}`)) as [
  ...[Address, Address, Address, Address],
]
const LEAF = parseAbiParameters('address user, address token, uint256 amount')
const HOSTILE = parseAbi(['function decimals() view returns (uint8)'])

const Amount = z.string().regex(/^\d+$/).transform(BigInt)
const Sums = z.object({ amount: Amount, claimed: Amount, pending: Amount })
const Rewards = z.array(
  z.strictObject({
    chain: z.strictObject({ id: z.int(), name: z.string(), endOfDisputePeriod: z.int() }),
    rewards: z.array(
      Sums.extend({
        root: z.string(),
        distributionChainId: z.int(),
        recipient: z.string(),
        proofs: z.array(z.custom<Hex>()),
        token: z.object({
          address: z.custom<Address>(),
          symbol: z.string(),
          decimals: z.int(),
          price: z.number().nullable(),
        }),
        breakdowns: z.array(Sums.extend({ reason: z.string(), campaignId: z.string() })),
      }),
    ),
  }),
)
type Row = z.output<typeof Rewards>[number]['rewards'][number]

const Opportunity = z.object({
  identifier: z.string(),
  apr: z.number(),
  aprRecord: z.object({ breakdowns: z.array(z.object({ identifier: z.string(), value: z.number() })) }).nullable(),
  rewardsRecord: z.object({
    breakdowns: z.array(
      z.object({ token: z.object({ symbol: z.string(), price: z.number() }), onChainCampaignId: z.string() }),
    ),
  }),
  latestCampaignEnd: z.string().regex(/^\d{10}$/),
})

type Claim = { user?: Address; from?: Address; amount?: bigint; proof?: readonly Hex[]; token?: Address }

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('world', { scope: 'file' }, async ({}, { onCleanup }) => {
    const chain = await startChain({ chainId: CHAIN })
    onCleanup(chain.stop)
    await installDistributor(chain)
    const options = { name: 'Morpho Token', symbol: 'MORPHO', decimals: 18 }
    const [morpho, usdc, hostile] = await Promise.all([
      deployToken(chain, options),
      deployToken(chain, { name: 'USD Coin', symbol: 'USDC', decimals: 6 }),
      deployHostileToken(chain, 'none'),
    ])
    const token = (address: Address, symbol: string, decimals: number) => ({
      ...{ chainId: CHAIN, address, symbol, name: symbol, decimals },
    })
    const vault = (address: Address, name: string, type: 'sync' | 'async') => ({
      ...({
        chainId: CHAIN,
        address,
        name,
        type,
        protocol: type === 'sync' ? 'erc4626' : 'lagoon',
        asset: usdc,
      } as const),
    })
    const rewarded = {
      ...chain,
      tokens: [token(usdc, 'USDC', 6)],
      rewardToken: token(morpho, 'MORPHO', 18),
      vaults: [
        vault(COVE, 'Cove USDC Savings', 'sync'),
        vault(HARBOR, 'Harbor USDC', 'async'),
        vault(CAUSEWAY, 'Causeway USDC', 'async'),
        vault(OTHER, 'Skiff USDT Savings', 'sync'),
      ],
    }
    return { chain, rewarded, morpho, usdc, hostile, restore: createStateRestorer([createChainSnapshotTaker(chain)]) }
  })
  /** Local chain without a Merkle root of rewards, its reward operator, and a local Merkl API. The API's clock stands still. */
  .extend('standins', async ({ world }, { onCleanup }) => {
    const { chain, rewarded, restore } = world
    await restore('no tree', async () => undefined)
    const time = { now: Date.UTC(2026, 10, 21, 12) }
    const rewards = createRewardOperator({ chains: [chain] })
    const relayer = createRelayer({ chains: [] })
    const providers = await startProviders({
      ...{ secrets: {}, chains: [rewarded], relayer, rewards },
      now: () => time.now,
    })
    onCleanup(providers.stop)
    const client = createChainClient(chain)

    /** Advances the clock by `passes` milliseconds. Then requests a path of the Merkl API. */
    const ask = async (path: string, { passes = 1000 } = {}) => {
      time.now += passes
      const response = await fetch(`${providers.url}/merkl/v4/${path}`)
      return { status: response.status, headers: response.headers, body: await response.json() }
    }
    const listOf = async (user: Address) =>
      Rewards.parse((await ask(`users/${user.toLowerCase()}/rewards?chainId=${CHAIN}`)).body)
    const rowOf = async (user: Address, token = world.morpho): Promise<Row> => {
      const row = (await listOf(user))[0]?.rewards.find(({ token: { address } }) => address === token)
      if (!row) throw new Error('The source shows no such reward')
      return row
    }
    const claimOf = (row: Row, { user = ALICE, from = user, ...changes }: Claim = {}) => ({
      ...({ address: DISTRIBUTOR, abi: distributorAbi, functionName: 'claim', account: from } as const),
      args: [
        [user],
        [changes.token ?? row.token.address],
        [changes.amount ?? row.amount],
        [changes.proof ?? row.proofs],
      ] as const,
    })
    return {
      ...{ ...world, providers, rewards, time, ask, listOf, rowOf },
      reward: (account: Address, amount: bigint, { token = world.morpho, vault = COVE } = {}) => ({
        ...{ account, token, vault, amount },
      }),
      refusalOf: (row: Row, changes?: Claim) => catchErrorName(simulateContract(client, claimOf(row, changes))),
      claim: async (row: Row, changes?: Claim) => {
        const call = claimOf(row, changes)
        await simulateContract(client, call)
        await transact(chain, [{ label: 'claim', from: call.account, to: DISTRIBUTOR, data: encodeFunctionData(call) }])
      },
      /** Sends a reward claim with this gas limit. Returns the used gas, also if the claim reverts. */
      gasOf: async (row: Row, gas: bigint) => {
        const { account: from, address: to, ...call } = claimOf(row)
        const transaction = { from, to, data: encodeFunctionData(call), gas: numberToHex(gas) }
        const [receipt] = await callRpc(chain, [{ method: 'eth_sendTransactionSync', params: [transaction] }])
        return BigInt(z.object({ gasUsed: z.string() }).parse(receipt).gasUsed)
      },
      send: async (functionName: 'setClaimRecipient', from: Address, args: readonly [Address, Address]) => {
        const data = encodeFunctionData({ abi: distributorAbi, functionName, args })
        await transact(chain, [{ label: functionName, from, to: DISTRIBUTOR, data }])
      },
      balanceOf: (account: Address, token = world.morpho) =>
        readContract(client, { address: token, abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] }),
      decimalsOf: (token: Address) => readContract(client, { address: token, abi: HOSTILE, functionName: 'decimals' }),
      pass: async (seconds: number) => {
        await callRpc(chain, [
          { method: 'evm_increaseTime', params: [seconds] },
          { method: 'evm_mine', params: [] },
        ])
      },
    }
  })

test('A tree of any size proves each of its leaves, and no other', () => {
  const leafOf = (index: number) => ({ user: ALICE, token: getAddress(numberToHex(index, { size: 20 })), amount: 7n })
  const fold = (leaf: ReturnType<typeof leafOf>, proof: readonly Hex[]) =>
    proof.reduce(
      (node, sibling) => keccak256(concat([node, sibling].sort())),
      keccak256(encodeAbiParameters(LEAF, [leaf.user, leaf.token, leaf.amount])),
    )
  for (const size of [1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33]) {
    const leaves = Array.from({ length: size }, (_, index) => leafOf(index))
    const { root, proofOf } = rewardTree(leaves)
    for (const leaf of leaves) expect(fold(leaf, proofOf(leaf))).toBe(root)
    expect(() => proofOf(leafOf(size))).toThrow('no such leaf')
  }
  expect(() => rewardTree([])).toThrow('needs a leaf')
})

describe('A claim with the proofs of the source', () => {
  test('pays exactly the amount granted since the last claim for any number of leaves', async ({ standins }) => {
    const { rewards, reward, rowOf, claim, balanceOf } = standins
    const accounts = [ALICE, BOB, CAROL, ...ACCOUNTS.states.map(({ address }) => address)]
    let granted = 0n
    for (let count = 1; count <= accounts.length; count += 3) {
      await rewards.grant(
        CHAIN,
        accounts.slice(0, count).map((account, index) => reward(account, 10n ** 18n + BigInt(index))),
      )
      granted += 10n ** 18n
      const row = await rowOf(ALICE)
      expect(row).toMatchObject({ amount: granted, pending: 0n })
      await claim(row)
      expect(await balanceOf(ALICE)).toBe(granted)
    }
    expect(granted).toBe(4n * 10n ** 18n)
  })

  test('pays nothing the second time and does not fail', async ({ standins }) => {
    const { rewards, reward, rowOf, claim, balanceOf } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n), reward(BOB, 7n)])
    await claim(await rowOf(ALICE))
    await claim(await rowOf(ALICE))
    expect(await balanceOf(ALICE)).toBe(5n)
  })

  test('pays the recipient that the user set for the token, or for all tokens', async ({ standins }) => {
    const { rewards, reward, rowOf, claim, balanceOf, send, morpho } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n)])
    await send('setClaimRecipient', ALICE, [BOB, numberToHex(0, { size: 20 })])
    await claim(await rowOf(ALICE))
    await send('setClaimRecipient', ALICE, [CAROL, morpho])
    await rewards.grant(CHAIN, [reward(ALICE, 2n)])
    await claim(await rowOf(ALICE))
    expect(await Promise.all([ALICE, BOB, CAROL].map((account) => balanceOf(account)))).toEqual([0n, 5n, 2n])
  })
})

describe('The contract refuses', () => {
  test('a claim before the first tree', async ({ standins: { rowOf, rewards, reward, refusalOf } }) => {
    rewards.addPending(CHAIN, [reward(ALICE, 5n)])
    expect(await refusalOf(await rowOf(ALICE))).toBe('InvalidUninitializedRoot')
  })

  test('another amount, token, proof or user than the leaf has', async ({ standins }) => {
    const { rewards, reward, rowOf, refusalOf, usdc } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n), reward(BOB, 7n), reward(CAROL, 9n)])
    const row = await rowOf(ALICE)
    const [sibling = '0x', ...rest] = row.proofs
    for (const lie of [
      { amount: 6n },
      { token: usdc },
      { user: BOB },
      { proof: [] },
      { proof: rest },
      { proof: [...rest, sibling] },
      { proof: [...row.proofs, sibling] },
      { proof: (await rowOf(BOB)).proofs },
    ]) {
      expect(
        await refusalOf(row, lie),
        JSON.stringify(lie, (_, value) => String(value)),
      ).toBe('InvalidProof')
    }
  })

  test('a sender who is not the user', async ({ standins: { rewards, reward, rowOf, refusalOf } }) => {
    await rewards.grant(CHAIN, [reward(ALICE, 5n)])
    expect(await refusalOf(await rowOf(ALICE), { from: BOB })).toBe('NotWhitelisted')
  })

  test('an amount beyond 208 bits, and one below what was claimed', async ({ standins }) => {
    const { rewards, reward, rowOf, refusalOf, claim } = standins
    await rewards.grant(CHAIN, [reward(ALICE, maxUint208 + 1n), reward(BOB, 3n)])
    expect(await refusalOf(await rowOf(ALICE))).toBe(`SafeCastOverflowedUintDowncast 208 ${maxUint208 + 1n}`)
    await claim(await rowOf(BOB), { user: BOB })
    await rewards.grant(CHAIN, [reward(BOB, -1n)])
    expect(await refusalOf(await rowOf(BOB), { user: BOB })).toBe('Panic 17')
  })
})

describe('A new tree', () => {
  test('pays after its dispute period of two hours from the next full hour, when its proofs become valid', async ({
    standins,
  }) => {
    const { rewards, reward, listOf, rowOf, refusalOf, claim, balanceOf, pass } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n), reward(BOB, 7n)])
    const old = await rowOf(ALICE)
    await rewards.grant(CHAIN, [reward(ALICE, 3n)], { inDisputePeriod: true })
    const [list] = await listOf(ALICE)
    expect((list?.chain.endOfDisputePeriod ?? 0) % HOUR).toBe(0)
    const row = await rowOf(ALICE)
    expect([row.amount, row.root === old.root]).toEqual([8n, false])
    expect(await refusalOf(row)).toBe('InvalidProof')
    await claim(old)
    await pass(3 * HOUR)
    expect(await refusalOf(old)).toBe('InvalidProof')
    await claim(row)
    expect(await balanceOf(ALICE)).toBe(8n)
  })

  test('has no effect while disputed, and a valid dispute restores the last tree', async ({ standins }) => {
    const { rewards, reward, rowOf, refusalOf, claim, balanceOf, pass } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n)])
    await expect(rewards.dispute(CHAIN)).rejects.toThrow('Reverted: disputeTree')
    await rewards.grant(CHAIN, [reward(ALICE, 3n)], { inDisputePeriod: true })
    await rewards.dispute(CHAIN)
    await pass(3 * HOUR)
    expect(await refusalOf(await rowOf(ALICE))).toBe('InvalidProof')
    for (const prevented of [() => rewards.grant(CHAIN, [reward(ALICE, 1n)]), () => rewards.revoke(CHAIN)]) {
      await expect(prevented()).rejects.toThrow('Reverted')
    }
    await rewards.resolve(CHAIN, true)
    await expect(rewards.resolve(CHAIN, true)).rejects.toThrow('Reverted: resolveDispute')
    await claim(await rowOf(ALICE))
    expect(await balanceOf(ALICE)).toBe(5n)
  })

  test('restarts its dispute period after an invalid dispute', async ({ standins }) => {
    const { rewards, reward, rowOf, refusalOf, claim, pass } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n)])
    await rewards.grant(CHAIN, [reward(ALICE, 3n)], { inDisputePeriod: true })
    await rewards.dispute(CHAIN)
    await pass(3 * HOUR)
    await rewards.resolve(CHAIN, false)
    expect(await refusalOf(await rowOf(ALICE))).toBe('InvalidProof')
    await pass(3 * HOUR)
    await claim(await rowOf(ALICE))
  })

  test('that is revoked pays no one, and the last tree pays again', async ({ standins }) => {
    const { rewards, reward, rowOf, refusalOf, claim, balanceOf } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n)])
    await rewards.grant(CHAIN, [reward(ALICE, 3n)])
    const revoked = await rowOf(ALICE)
    await rewards.revoke(CHAIN)
    expect(await refusalOf(revoked)).toBe('InvalidProof')
    await claim(await rowOf(ALICE))
    expect(await balanceOf(ALICE)).toBe(5n)
  })
})

describe('A hostile token', () => {
  test.for<[HarmfulBehavior, string]>([
    ['callsBack', 'ReentrantCall'],
    ['reverts', 'Error HostileToken: no transfer'],
  ])('that %s makes the claim fail: %s', async ([harm, refusal], { standins }) => {
    const { chain, hostile, rewards, reward, rowOf, refusalOf, claim } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n, { token: hostile })])
    const row = await rowOf(ALICE, hostile)
    await setHarm(chain, hostile, harm)
    expect(await refusalOf(row)).toBe(refusal)
    await setHarm(chain, hostile, 'none')
    await claim(row)
  })

  test('that burns gas leaves a sixty-fourth of it', async ({ standins }) => {
    const { chain, hostile, rewards, reward, rowOf, refusalOf, gasOf } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n, { token: hostile })])
    await setHarm(chain, hostile, 'burnsGas')
    const row = await rowOf(ALICE, hostile)
    expect(await refusalOf(row)).toBe('execution reverted')
    expect(await gasOf(row, 1_000_000n)).toBeGreaterThan(980_000n)
  })

  test('that moves nothing is claimed without a payment', async ({ standins }) => {
    const { chain, hostile, rewards, reward, rowOf, claim, balanceOf } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n, { token: hostile })])
    await setHarm(chain, hostile, 'movesNothing')
    await claim(await rowOf(ALICE, hostile))
    expect(await balanceOf(ALICE, hostile)).toBe(0n)
  })

  test('that changes its decimals reports the new ones in the next block', async ({ standins }) => {
    const { chain, hostile, decimalsOf, pass } = standins
    await setHarm(chain, hostile, 'changesDecimals')
    const before = await decimalsOf(hostile)
    await pass(1)
    expect(await decimalsOf(hostile)).not.toBe(before)
  })
})

describe('The source of rewards', () => {
  test('shows an account with nothing as an empty list, on chains without campaigns too', async ({ standins }) => {
    const { ask } = standins
    for (const chainId of [`${CHAIN}`, '1', `1,${CHAIN}`]) {
      expect(await ask(`users/${BOB}/rewards?chainId=${chainId}`)).toMatchObject({ status: 200, body: [] })
    }
  })

  test('refuses unknown chains and bad addresses with 400', async ({ standins: { ask } }) => {
    for (const path of [
      `users/${BOB}/rewards`,
      `users/${BOB}/rewards?chainId=8454`,
      `users/${BOB}/rewards?chainId=${CHAIN},8454`,
      `users/0x12/rewards?chainId=${CHAIN}`,
      'opportunities?chainId=8454',
      `opportunities?chainId=${CHAIN}&items=101`,
      `opportunities?chainId=${CHAIN}&page=-1`,
    ]) {
      expect((await ask(path)).status, path).toBe(400)
    }
  })

  test('responds 429 without Retry-After to the eleventh request in a second, whatever it asks', async ({
    standins: { ask },
  }) => {
    const paths = [`users/${BOB}/rewards?chainId=${CHAIN}`, `opportunities?chainId=${CHAIN}`]
    const statuses: number[] = []
    for (let request = 0; request < 10; request += 1) {
      statuses.push((await ask(paths[request % 2] ?? '', { passes: request === 0 ? 1000 : 1 })).status)
    }
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 200))
    const refused = await ask(paths[0] ?? '', { passes: 0 })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null])
    expect((await ask(paths[0] ?? '', { passes: 991 })).status).toBe(200)
    expect((await ask(paths[0] ?? '', { passes: 0 })).status).toBe(429)
  })

  test('shows what an account claimed up to five minutes late', async ({ standins }) => {
    const { rewards, reward, rowOf, claim, time } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n)])
    await claim(await rowOf(ALICE))
    time.now += 290_000
    expect((await rowOf(ALICE)).claimed).toBe(0n)
    time.now += 10_000
    expect((await rowOf(ALICE)).claimed).toBe(5n)
  })

  test('can show the effective tree instead of the newest, with the rest pending', async ({ standins }) => {
    const { rewards, reward, rowOf, claim } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n)])
    await rewards.grant(CHAIN, [reward(ALICE, 3n)], { inDisputePeriod: true })
    expect(await rowOf(ALICE)).toMatchObject({ amount: 8n, pending: 0n })
    rewards.settings.shows = 'effective'
    const row = await rowOf(ALICE)
    expect(row).toMatchObject({ amount: 5n, pending: 3n })
    await claim(row)
  })

  test('shows rewards outside every tree as pending, without proofs', async ({ standins }) => {
    const { rewards, reward, rowOf } = standins
    await rewards.grant(CHAIN, [reward(BOB, 5n)])
    rewards.addPending(CHAIN, [reward(ALICE, 4n), reward(BOB, 2n)])
    expect(await rowOf(ALICE)).toMatchObject({ amount: 0n, pending: 4n, proofs: [] })
    await rewards.grant(CHAIN, [reward(ALICE, 1n)])
    expect(await rowOf(BOB)).toMatchObject({ amount: 5n, pending: 2n })
  })

  test('has a price only for tokens that the market knows', async ({ standins }) => {
    const { hostile, rewards, reward, rowOf } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n), reward(ALICE, 5n, { token: hostile })])
    expect((await rowOf(ALICE)).token.price).toBeGreaterThan(0)
    expect((await rowOf(ALICE, hostile)).token.price).toBeNull()
  })

  test('names the vaults that a reward is from', async ({ standins }) => {
    const { rewards, reward, rowOf } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n), reward(ALICE, 2n, { vault: HARBOR })])
    expect((await rowOf(ALICE)).breakdowns).toMatchObject([
      { reason: `MorphoVault_${COVE}`, amount: 5n, claimed: 0n, pending: 0n },
      { reason: `ERC20_${HARBOR}`, amount: 2n, claimed: 0n, pending: 0n },
    ])
  })

  test('forgets a tree that a reorganisation removes', async ({ standins }) => {
    const { chain, rewards, reward, rowOf } = standins
    await rewards.grant(CHAIN, [reward(ALICE, 5n)])
    await rewards.grant(CHAIN, [reward(ALICE, 3n)], { inDisputePeriod: true })
    await callRpc(chain, [{ method: 'anvil_reorg', params: [1, []] }])
    expect(await rowOf(ALICE)).toMatchObject({ amount: 5n })
  })

  test('lists live programmes in pages: for a vault with two tokens, an unmeasured one and none', async ({
    standins: { ask, time },
  }) => {
    const page = async (index: number) =>
      z.array(Opportunity).parse((await ask(`opportunities?chainId=${CHAIN}&status=LIVE&items=100&page=${index}`)).body)
    const pages = [await page(0), await page(1), await page(2)]
    expect(pages.map(({ length }) => length)).toEqual([100, 23, 0])
    const find = (vault: Address) => pages.flat().find(({ identifier }) => identifier === vault)
    const cove = find(COVE)
    const ids = cove?.rewardsRecord.breakdowns.map(({ onChainCampaignId }) => onChainCampaignId)
    expect(cove?.rewardsRecord.breakdowns.map(({ token }) => token.symbol).sort()).toEqual(['MORPHO', 'USDC'])
    expect(cove?.aprRecord?.breakdowns.map(({ identifier }) => identifier)).toEqual(ids)
    expect(cove?.apr).toBeCloseTo(cove?.aprRecord?.breakdowns.reduce((sum, { value }) => sum + value, 0) ?? 0)
    expect(pages[1]?.some(({ identifier }) => identifier === HARBOR)).toBe(true)
    expect(find(CAUSEWAY)).toMatchObject({ apr: 0, aprRecord: null })
    expect(find(OTHER)).toBeUndefined()
    time.now += 32 * 86_400_000
    expect(await page(0)).toEqual([])
  })
})
