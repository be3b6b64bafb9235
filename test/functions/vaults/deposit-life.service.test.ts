import { getAddress } from 'viem'
import { describe, expect } from 'vitest'
import type { LagoonGeneration } from '../../../sandbox/deploy.ts'
import { type RpcCall, revertCalls } from '../../support/chain-answers.ts'
import { type HttpReply, type Service, test, USERS } from '../../support/service.ts'
import {
  type Asset,
  expectFairGas,
  expectSuccess,
  openLagoonVault,
  openYieldVault,
  ROLES,
  sharesFor,
  type TestVault,
} from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB, CAROL] = USERS

const ASSETS = ['USDC', 'DAI', 'USDT'] as const
const VIRTUAL_SHARES = { USDC: 10n ** 12n, DAI: 1n, USDT: 10n ** 12n, WETH: 1n }
const UPPER_APPROVE = 70_000
const UPPER_DEPOSIT = 500_000

type LagoonCase = { readonly label: string; readonly generation: LagoonGeneration; readonly entryRate: number }

const BEFORE_SYNC: LagoonCase[] = [
  { label: '0.1', generation: '0.1', entryRate: 0 },
  { label: '0.4', generation: '0.4', entryRate: 0 },
]
const WITH_SYNC: LagoonCase[] = [
  { label: '0.5', generation: '0.5', entryRate: 0 },
  { label: '0.6', generation: '0.6', entryRate: 0 },
  { label: '0.6 with an entry fee', generation: '0.6', entryRate: 37 },
]
const ALL = [...BEFORE_SYNC, ...WITH_SYNC]
/** One Lagoon version for each way in which vaults store requests. */
const EPOCHS = ALL.filter(({ label }) => ['0.1', '0.5', '0.6 with an entry fee'].includes(label))
/** Gives each Lagoon version only one token, because the service handles tokens in the same way for all versions. */
const withAssets = (cases: readonly LagoonCase[]) =>
  cases.map((lagoon, index) => ({ ...lagoon, asset: ASSETS[index % ASSETS.length] ?? 'USDC' }))

/** Opens a vault with a share price that is not round, because the vault gained assets after another account's deposit. */
async function openSeasonedVault(
  service: Service,
  options: Omit<LagoonCase, 'label'> & { asset: Asset; chainId?: number },
): Promise<TestVault> {
  const { generation, entryRate, asset, chainId = 8453 } = options
  const vault = await openLagoonVault(service, { generation, entryRate, asset, chainId })
  await vault.request(BOB.address, vault.units('1000.000007'))
  await vault.settle()
  await vault.settle(vault.units('123.456789'))
  return vault
}

/** Makes a node refuse eth_call with a third parameter, which is the state override. */
function refuseOverrides(wire: RecordingProxy): void {
  wire.rewrite = (answer, request) => {
    const calls: RpcCall[] = JSON.parse(request)
    const items: { id: number }[] = JSON.parse(answer)
    const refused = ({ id }: { id: number }) =>
      calls.some((call) => call.id === id && call.method === 'eth_call' && call.params.length === 3)
    const error = { code: -32602, message: 'too many arguments, want at most 2' }
    return JSON.stringify(items.map((item) => (refused(item) ? { jsonrpc: '2.0', id: item.id, error } : item)))
  }
}

/** Functions of the vault that the service does not need for the status of a requested deposit. */
const NOT_OF_DEPOSITS = [
  'pendingRedeemRequest(uint256,address)',
  'claimableRedeemRequest(uint256,address)',
  'maxWithdraw(address)',
  'totalAssets()',
  'totalSupply()',
  'convertToAssets(uint256)',
  'allowance(address,address)',
]

async function rateOf(vault: TestVault) {
  const [totalAssets, totalSupply] = await Promise.all([vault.read('totalAssets'), vault.read('totalSupply')])
  return { totalAssets, totalSupply, virtualShares: VIRTUAL_SHARES[vault.asset] }
}

async function statusOf(vault: TestVault) {
  const { status, body } = await vault.status(ALICE)
  expect(status).toBe(200)
  expect(body).toMatchObject({ vaultAddress: vault.address, userAddress: ALICE.address, chainId: vault.chain.chainId })
  return body
}

async function depositAndSend(vault: TestVault, amount: bigint): Promise<HttpReply> {
  const reply = await vault.deposit(ALICE, amount)
  expect(reply.status).toBe(200)
  const receipts = await vault.send(ALICE, reply)
  expectSuccess(receipts)
  expectFairGas(reply, receipts)
  return reply
}

async function claimAndSend(vault: TestVault): Promise<HttpReply> {
  const reply = await vault.claim(ALICE)
  expect(reply.status).toBe(200)
  const receipts = await vault.send(ALICE, reply)
  expectSuccess(receipts)
  expectFairGas(reply, receipts)
  return reply
}

function feeInBasisPoints({ body }: HttpReply, amount: bigint): number {
  return Math.round((Number(body.deposit.fee) / Number(amount)) * 10_000)
}

function expectWithinOnePercent(estimate: bigint, value: bigint) {
  expect(Number(estimate) / Number(value)).toBeGreaterThan(0.99)
  expect(Number(estimate) / Number(value)).toBeLessThan(1.01)
}

describe('the life of a deposit', () => {
  test.for(withAssets(ALL))(
    'A deposit into a Lagoon $label vault of $asset is pending, then claimable with the exact shares of its claim, then deposited',
    async ({ asset, generation, entryRate }, { service }) => {
      const vault = await openSeasonedVault(service, { generation, entryRate, asset })
      const amount = vault.units('1234.567891')
      const balance = await vault.balanceOf(ALICE.address)
      expect(await statusOf(vault)).toMatchObject({ status: 'no_active_deposit', nextPollAfterMs: null })

      const deposit = await depositAndSend(vault, amount)
      expect(deposit.body).toMatchObject({
        approval: [{ to: vault.token, value: '0' }],
        operations: [{ to: vault.address, value: '0' }],
        protocol: 'lagoon',
        chainId: 8453,
        isCrossChain: false,
        isAsync: true,
      })
      expect(deposit.body.deposit).toMatchObject({ assets: `${amount}`, isEstimate: true })
      expect(feeInBasisPoints(deposit, amount)).toBe(entryRate)
      expect(await vault.balanceOf(ALICE.address)).toBe(balance - amount)
      expect(await vault.allowance(ALICE.address)).toBe(0n)
      // Carol's deposit in the same epoch must not count as Alice's.
      await vault.request(CAROL.address, vault.units('77.000001'))
      expect(await statusOf(vault)).toMatchObject({
        status: 'pending',
        statusDescription: 'Deposit request submitted, awaiting curator settlement.',
        amounts: { pendingDeposit: `${amount}`, claimableShares: '0', currentShares: '0' },
        vault: { depositEpochId: 3, isTotalAssetsValid: false },
        nextPollAfterMs: 30_000,
      })

      const { totalSupply, virtualShares } = await rateOf(vault)
      const { totalAssets } = await vault.settle(vault.units('3.141593'))
      const shares = sharesFor(amount, { totalAssets, totalSupply, virtualShares }, entryRate)
      expectWithinOnePercent(BigInt(deposit.body.deposit.shares), shares)
      expect(await statusOf(vault)).toMatchObject({
        status: 'claimable',
        amounts: { pendingDeposit: '0', claimableShares: `${shares}`, currentShares: '0' },
        vault: { depositEpochId: 5 },
        // The status changes only when the user claims, so polling is useless.
        nextPollAfterMs: null,
      })

      const claim = await claimAndSend(vault)
      expect(claim.body).toMatchObject({
        approval: [],
        operations: [{ to: vault.address, value: '0' }],
        protocol: 'lagoon',
        chainId: 8453,
        isCrossChain: false,
        isAsync: true,
        claimable: { assets: `${amount}`, shares: `${shares}` },
      })
      expect(await vault.read('balanceOf', ALICE.address)).toBe(shares)
      expect(await statusOf(vault)).toMatchObject({
        status: 'deposited',
        amounts: { pendingDeposit: '0', claimableShares: '0', currentShares: `${shares}` },
        nextPollAfterMs: null,
      })
    },
  )

  test.for(withAssets(WITH_SYNC))(
    'While its valuation is valid, a deposit into a Lagoon $label vault of $asset gives its exact shares instantly',
    async ({ asset, generation, entryRate }, { service }) => {
      const vault = await openSeasonedVault(service, { generation, entryRate, asset })
      await vault.settleForADay(vault.units('3.141593'))
      const amount = vault.units('1234.567891')
      const balance = await vault.balanceOf(ALICE.address)
      const shares = sharesFor(amount, await rateOf(vault), entryRate)

      const reply = await depositAndSend(vault, amount)
      expect(reply.body).toMatchObject({
        ...{ protocol: 'lagoon', isAsync: false, isCrossChain: false },
        deposit: { shares: `${shares}`, assets: `${amount}`, isEstimate: false },
      })
      expect(feeInBasisPoints(reply, amount)).toBe(entryRate)
      expect(await vault.balanceOf(ALICE.address)).toBe(balance - amount)
      expect(await vault.read('balanceOf', ALICE.address)).toBe(shares)
      expect(await statusOf(vault)).toMatchObject({
        status: 'deposited',
        amounts: { pendingDeposit: '0', claimableShares: '0', currentShares: `${shares}` },
        vault: { depositEpochId: 3, isTotalAssetsValid: true },
      })
    },
  )

  test.for(ASSETS.map((asset) => ({ asset })))(
    'A deposit into a synchronous vault of $asset gives its exact shares instantly',
    async ({ asset }, { service }) => {
      const vault = await openYieldVault(service, { asset })
      // Assets in the vault before the first deposit make a share price that is not round.
      await vault.mint(vault.address, 1_234_567n)
      const amount = vault.units('1234.567891')
      const balance = await vault.balanceOf(ALICE.address)

      const { body } = await depositAndSend(vault, amount)
      expect(body).toMatchObject({ protocol: 'erc4626', chainId: 8453, isAsync: false, isCrossChain: false })
      expect(await vault.balanceOf(ALICE.address)).toBe(balance - amount)
      const firstRate = { totalAssets: 1_234_567n, totalSupply: 0n, virtualShares: 1n }
      const shares = sharesFor(amount, firstRate)
      expect(body.deposit).toEqual({ shares: `${shares}`, assets: `${amount}`, fee: '0', isEstimate: false })
      expect(await vault.read('balanceOf', ALICE.address)).toBe(shares)

      const rate = { ...(await rateOf(vault)), virtualShares: 1n }
      await depositAndSend(vault, 7_000_000n)
      const both = sharesFor(amount, firstRate) + sharesFor(7_000_000n, rate)
      expect(await vault.read('balanceOf', ALICE.address)).toBe(both)
    },
  )

  test.for(EPOCHS)('Deposits into a Lagoon $label vault in one epoch add up', async (lagoon, { service }) => {
    const vault = await openSeasonedVault(service, { ...lagoon, asset: 'USDC' })
    await depositAndSend(vault, 1_000_003n)
    await depositAndSend(vault, 2_000_004n)
    expect(await statusOf(vault)).toMatchObject({ status: 'pending', amounts: { pendingDeposit: '3000007' } })

    const { totalSupply, virtualShares } = await rateOf(vault)
    const { totalAssets } = await vault.settle()
    const shares = sharesFor(3_000_007n, { totalAssets, totalSupply, virtualShares }, lagoon.entryRate)
    const { body } = await claimAndSend(vault)
    expect(body.claimable).toEqual({ assets: '3000007', shares: `${shares}` })
    expect(await vault.read('balanceOf', ALICE.address)).toBe(shares)
  })

  test.for(EPOCHS)(
    'A deposit into a Lagoon $label vault after a settlement also claims the settled one',
    async (lagoon, { service }) => {
      const vault = await openSeasonedVault(service, { ...lagoon, asset: 'USDC' })
      await depositAndSend(vault, 5_000_005n)
      await vault.settle()
      const claimable = (await statusOf(vault)).amounts.claimableShares

      await depositAndSend(vault, 6_000_006n)
      expect(await vault.read('balanceOf', ALICE.address)).toBe(BigInt(claimable))
      expect(await statusOf(vault)).toMatchObject({
        status: 'pending',
        amounts: { pendingDeposit: '6000006', claimableShares: '0', currentShares: claimable },
      })

      const { totalSupply, virtualShares } = await rateOf(vault)
      const { totalAssets } = await vault.settle(999_999n)
      const shares = sharesFor(6_000_006n, { totalAssets, totalSupply, virtualShares }, lagoon.entryRate)
      await claimAndSend(vault)
      expect(await vault.read('balanceOf', ALICE.address)).toBe(BigInt(claimable) + shares)
    },
  )

  test('The shares of a claim follow the price of its own settlement, not a later one', async ({ service }) => {
    const vault = await openSeasonedVault(service, { generation: '0.5', entryRate: 0, asset: 'USDC' })
    await depositAndSend(vault, 5_000_005n)
    await vault.settle()
    const claimable = (await statusOf(vault)).amounts.claimableShares
    await vault.request(BOB.address, 10_000_000n)
    await vault.settle(500_000_000n)
    await vault.settle(500_000_000n)

    expect((await statusOf(vault)).amounts.claimableShares).toBe(claimable)
    const { body } = await claimAndSend(vault)
    expect(body.claimable).toEqual({ assets: '5000005', shares: claimable })
    expect(await vault.read('balanceOf', ALICE.address)).toBe(BigInt(claimable))
  })

  test.for([
    { node: 'a node', refuses: false },
    { node: 'a node that refuses state overrides', refuses: true },
  ])(
    'A paused 0.6 vault shows settled amounts after fees in the first read, also through $node',
    async ({ refuses }, { coldService, service }) => {
      const rates = { managementRate: 100, performanceRate: 1_000, entryRate: 137, exitRate: 199, haircutRate: 0 }
      const vault = await openLagoonVault(service, { generation: '0.6', ...rates })
      await vault.request(ALICE.address, 9_000_001n)
      await vault.settle()
      await vault.act(ALICE.address, 'deposit', 9_000_001n, ALICE.address, ALICE.address)
      await vault.act(ALICE.address, 'requestRedeem', 3n * 10n ** 18n + 1n, ALICE.address, ALICE.address)
      await vault.request(ALICE.address, 4_000_003n)
      await vault.settle(1_234_567n)
      // The settled request keeps its own rate and fees, although the vault's fees change afterwards.
      await vault.act(ROLES.admin, 'updateRates', { ...rates, entryRate: 1, exitRate: 1 })
      await vault.settle(7_654_321n)
      const claimableShares = `${await vault.read('maxMint', ALICE.address)}`
      const claimableRedeemAssets = `${await vault.read('maxWithdraw', ALICE.address)}`
      await vault.act(ROLES.admin, 'pause')
      if (refuses) refuseOverrides(coldService.rpc[8453] as RecordingProxy)

      const cold = { key: vault.key }
      const path = `/defi-vaults/v1/defi/user/${ALICE.address}/positions/${vault.address}`
      const position = await coldService.call('GET', path, cold)
      expect(position.body.amounts).toMatchObject({ claimableShares, claimableRedeemAssets })
      const status = `/defi-vaults/v1/defi/vault/${vault.address}/deposit-status?userAddress=${ALICE.address}`
      expect((await coldService.call('GET', status, cold)).body.amounts).toMatchObject({ claimableShares })
    },
  )

  test('Deposits work although a vault does not report redemptions, its value or allowances', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    await vault.request(ALICE.address, 3_000_000n)
    await vault.settle()
    const status = await statusOf(vault)
    const { claimable } = (await vault.claim(ALICE)).body

    revertCalls(service.rpc[8453] as RecordingProxy, NOT_OF_DEPOSITS)
    expect(await statusOf(vault)).toEqual(status)
    const { body } = await vault.claim(ALICE)
    expect(body).toMatchObject({ claimable, simulation: { status: 'unavailable' } })
  })

  test('A claim needs no pending amount, and a deposit no claimable amount', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    await vault.request(ALICE.address, 3_000_000n)
    await vault.settle()
    const { claimable } = (await vault.claim(ALICE)).body
    revertCalls(service.rpc[8453] as RecordingProxy, ['pendingDepositRequest(uint256,address)', 'balanceOf(address)'])
    expect((await vault.claim(ALICE)).body).toMatchObject({ claimable })

    revertCalls(service.rpc[8453] as RecordingProxy, ['claimableDepositRequest(uint256,address)'])
    expect((await vault.deposit(ALICE, 1_000_000n)).status).toBe(200)
  })

  test("A deposit takes place only on its vault's chain", async ({ service }) => {
    const vault = await openSeasonedVault(service, { generation: '0.6', entryRate: 0, asset: 'DAI', chainId: 42161 })
    service.rpc[8453]?.reset()
    const { body } = await depositAndSend(vault, vault.units('2.5'))
    expect(body.chainId).toBe(42161)
    expect(await statusOf(vault)).toMatchObject({
      status: 'pending',
      amounts: { pendingDeposit: '2500000000000000000' },
    })
    await vault.settle()
    const claim = await claimAndSend(vault)
    expect(claim.body.chainId).toBe(42161)
    expect(await vault.read('balanceOf', ALICE.address)).toBe(BigInt(claim.body.claimable.shares))
    expect(service.rpc[8453]?.bodies).toEqual([])
  })
})

describe('approvals', () => {
  const AMOUNT = 5_000_000n
  const approving = (vault: TestVault, amount: bigint) => ({
    chainId: vault.chain.chainId,
    to: vault.token,
    // The calldata begins with the selector of approve(address,uint256).
    data: `0x095ea7b3${vault.address.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`,
    value: '0',
  })

  const KINDS: { kind: string; open: (service: Service, asset: Asset) => Promise<TestVault> }[] = [
    {
      kind: 'an async vault',
      open: (service, asset) => openLagoonVault(service, { generation: '0.5', asset }),
    },
    { kind: 'a sync vault', open: (service, asset) => openYieldVault(service, { asset }) },
  ]
  const all = KINDS.flatMap((kind) => ASSETS.map((asset) => ({ ...kind, asset })))
  const tether = all.filter(({ asset }) => asset === 'USDT')
  const ordinary = [all[0], all[4]].flatMap((one) => one ?? [])
  const cases = [...ordinary, ...tether]

  test.for(cases)(
    'A deposit of $asset into $kind without an allowance comes with one approval of exactly its amount',
    async ({ asset, open }, { service }) => {
      const vault = await open(service, asset)
      const { body } = await depositAndSend(vault, AMOUNT)
      expect(body.approval).toEqual([approving(vault, AMOUNT)])
      expect(await vault.allowance(ALICE.address)).toBe(0n)
    },
  )

  test('A deposit with a larger allowance needs no approval', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.approve(ALICE.address, AMOUNT + 1n)
    const { body } = await depositAndSend(vault, AMOUNT)
    expect(body.approval).toEqual([])
    expect(await vault.allowance(ALICE.address)).toBe(1n)
  })

  test.for(ordinary)(
    'An allowance of $asset that is one unit too small is replaced by one approval for $kind',
    async ({ asset, open }, { service }) => {
      const vault = await open(service, asset)
      await vault.approve(ALICE.address, AMOUNT - 1n)
      const { body } = await depositAndSend(vault, AMOUNT)
      expect(body.approval).toEqual([approving(vault, AMOUNT)])
      expect(await vault.allowance(ALICE.address)).toBe(0n)
    },
  )

  test.for(tether)(
    'An allowance of $asset that is one unit too small is first set to zero for $kind',
    async ({ asset, open }, { service }) => {
      const vault = await open(service, asset)
      await vault.approve(ALICE.address, AMOUNT - 1n)
      const { body } = await depositAndSend(vault, AMOUNT)
      expect(body.approval).toEqual([approving(vault, 0n), approving(vault, AMOUNT)])
      expect(await vault.allowance(ALICE.address)).toBe(0n)
    },
  )

  test('An allowance for or by another account does not count', async ({ service }) => {
    const [vault, other] = await Promise.all([openYieldVault(service), openYieldVault(service)])
    await vault.approve(BOB.address, AMOUNT)
    await other.approve(ALICE.address, AMOUNT)
    const { body } = await depositAndSend(vault, AMOUNT)
    expect(body.approval).toEqual([approving(vault, AMOUNT)])
  })
})

describe('deposits beyond the balance', () => {
  const POOR = { address: getAddress('0x1234567890abcdef1234567890abcdef12345678') }
  const cases = [
    { kind: 'Lagoon 0.5', asset: 'DAI', reason: 'ERC20InsufficientBalance' },
    { kind: 'sync', asset: 'USDT', reason: 'reverted without a reason' },
  ] as const

  test.for(cases)(
    "A deposit above the user's $asset into a $kind vault has the token's error and the upper gas estimate",
    async ({ kind, asset, reason }, { service }) => {
      const generation = kind === 'sync' ? undefined : (kind.slice(-3) as LagoonGeneration)
      const vault = generation
        ? await openLagoonVault(service, { generation, asset })
        : await openYieldVault(service, { asset })
      await vault.mint(POOR.address, 99n)

      const { status, body } = await vault.deposit(POOR, (await vault.balanceOf(POOR.address)) + 1n)
      expect(status).toBe(200)
      expect(body.simulation).toEqual({ status: 'reverted', reason })
      expect(body.approval).toHaveLength(1)
      expect(body.operations).toHaveLength(1)
      expect(body.estimatedGas).toBe(`${UPPER_APPROVE + UPPER_DEPOSIT}`)
    },
  )

  test('The upper estimate counts the approvals: none with an allowance, two with a USDT-like reset', async ({
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5', asset: 'USDT' })
    const tooMuch = (await vault.balanceOf(ALICE.address)) + 1n
    await vault.approve(ALICE.address, tooMuch)
    const covered = await vault.deposit(ALICE, tooMuch)
    const reset = await vault.deposit(ALICE, tooMuch + 1n)

    expect(covered.body).toMatchObject({ approval: [], simulation: { status: 'reverted' } })
    expect(covered.body.estimatedGas).toBe(`${UPPER_DEPOSIT}`)
    expect(reset.body.approval).toHaveLength(2)
    expect(reset.body.simulation.status).toBe('reverted')
    expect(reset.body.estimatedGas).toBe(`${2 * UPPER_APPROVE + UPPER_DEPOSIT}`)
  })
})

describe('addresses', () => {
  test('Addresses in lower case give the same responses, checksummed', async ({ service }) => {
    const write = (address: string) => address.toLowerCase()
    const vault = await openLagoonVault(service, { generation: '0.4' })
    const alice = { address: write(ALICE.address) as typeof ALICE.address }
    const deposit = await vault.deposit(alice, 1_000_000n, { vaultAddress: write(vault.address) })
    expect(deposit.status).toBe(200)
    expect(deposit.body.approval).toMatchObject([{ to: vault.token }])
    expect(deposit.body.operations).toMatchObject([{ to: vault.address }])
    expect(deposit.body).toEqual((await vault.deposit(ALICE, 1_000_000n)).body)
    expectSuccess(await vault.send(ALICE, deposit))

    const { body } = await vault.status(alice, write(vault.address))
    expect(body).toMatchObject({ vaultAddress: vault.address, userAddress: ALICE.address, status: 'pending' })
    await vault.settle()
    const claim = await vault.claim(alice, write(vault.address))
    expect(claim.body.operations).toMatchObject([{ to: vault.address }])
    expectSuccess(await vault.send(ALICE, claim))
  })
})
