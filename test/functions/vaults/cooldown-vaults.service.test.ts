import { decodeFunctionData } from 'viem'
import { getBlock } from 'viem/actions'
import { describe, expect } from 'vitest'
import { type Preparation, verifyTransactions } from '../../../client/src/verify.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { createChainClient } from '../../support/chain-client.ts'
import { sendToCooldownVault } from '../../support/cooldown.ts'
import { expectError } from '../../support/errors.ts'
import { listEvents } from '../../support/received-events.ts'
import { createUserViews, recordAllBlocks, scanRecords } from '../../support/records.ts'
import { test as base, type HttpReply, type Service, USERS } from '../../support/service.ts'
import { expectSuccess, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'
import { YIELD_VAULT_ABI } from '../../support/yield-vault-abi.ts'

const [ALICE, BOB] = USERS
const WEEK = 7 * 86_400

const test = base.extend('vault', ({ service }) =>
  service.restore('vault', async () => {
    const vault = await openYieldVault(service, { make: 'cooldown' })
    await recordAllBlocks(vault.chain)
    await vault.mint(ALICE.address, vault.units('1000'))
    expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, vault.units('1000'))))
    // Assets minted to the vault raise the share price to a number that is not round, so that rounding errors show.
    await vault.mint(vault.address, vault.units('77.777777'))
    return vault
  }),
)

async function clockOf({ chain }: TestVault): Promise<number> {
  return Number((await getBlock(createChainClient(chain))).timestamp)
}

async function passTime({ chain }: TestVault, seconds: number) {
  await callRpc(chain, [{ method: 'evm_increaseTime', params: [seconds] }])
  await callRpc(chain, [{ method: 'anvil_mine', params: ['0x1'] }])
}

const callsIn = ({ body }: HttpReply) =>
  body.operations.map(({ data }: { data: `0x${string}` }) => {
    const { functionName, args } = decodeFunctionData({ abi: YIELD_VAULT_ABI, data })
    return [functionName, ...(args ?? [])]
  })

async function send(vault: TestVault, preparation: Preparation, amountInput: object, reply: HttpReply) {
  const input = { vaultAddress: vault.address, userAddress: ALICE.address, ...amountInput }
  expect(verifyTransactions(preparation, input, reply.body)).toMatchObject({ ok: true })
  const receipts = await vault.send(ALICE, reply)
  expectSuccess(receipts)
  return receipts.at(-1)?.transactionHash
}

async function withdraw(vault: TestVault, amountInput: object) {
  const reply = await vault.withdraw(ALICE, amountInput)
  expect(reply.status).toBe(200)
  return { body: reply.body, calls: callsIn(reply), hash: await send(vault, 'withdraw', amountInput, reply) }
}

const claim = async (vault: TestVault) =>
  send(vault, 'claim', { kind: 'withdrawal' }, await vault.claimWithdrawal(ALICE))

async function show(service: Service, vault: TestVault, { address } = ALICE) {
  const views = createUserViews(service, vault.key)
  const { status, claimableAt, amounts } = (await vault.withdrawStatus({ address })).body
  const { withdrawals } = (await views.withdrawals(address)).body
  const { positions } = (await views.positions(address)).body
  const oldestFirst = withdrawals.toReversed().map(withoutYield)
  return { status, claimableAt, amounts, withdrawals: oldestFirst, position: positions.map(withoutYield)[0] }
}

const withoutYield = ({ apy: _, annualYield: __, vault: ___, ...rest }: HttpReply['body']) => rest

/** Returns Alice's data. Asserts that they are the same before and after the job records the vault's events. */
async function showBoth(service: Service, vault: TestVault) {
  const live = await show(service, vault)
  await recordAllBlocks(vault.chain)
  expect(await show(service, vault)).toEqual(live)
  return live
}

const timeAt = (seconds: number) => new Date(seconds * 1000).toISOString()

describe('A cooldown vault', () => {
  test('is listed as one with instant deposits', async ({ service, vault }) => {
    const { body } = await vault.list()
    expect(body.data).toMatchObject([
      { poolAddress: vault.address, type: 'sync', protocol: 'cooldown', totalAssets: '1077777777' },
    ])
    expect((await vault.deposit(ALICE, 1n)).body).toMatchObject({ protocol: 'cooldown', isAsync: false })
    expectError(await vault.status(ALICE), 'deposit_status_not_applicable')
    expectError(await vault.claim(ALICE), 'claim_not_applicable')
    expect(await show(service, vault)).toMatchObject({ status: 'no_active_withdrawal', claimableAt: null })
  })

  test('pays a withdrawal after its cooldown, which a second one restarts', async ({ service, vault }) => {
    const first = await withdraw(vault, { amount: '100000000' })
    expect(first.calls).toEqual([['cooldownAssets', 100_000_000n]])
    const { shares } = first.body.withdrawal
    expect(first.body).toMatchObject({
      isAsync: true,
      withdrawal: { assets: '100000000', fee: '0', isEstimate: false, prolongs: null },
    })
    const firstEnd = (await clockOf(vault)) + WEEK
    const pending = await showBoth(service, vault)
    expect(pending).toMatchObject({
      status: 'pending',
      claimableAt: timeAt(firstEnd),
      amounts: {
        pendingAssets: '100000000',
        pendingRedeemShares: shares,
        claimableAssets: '0',
        claimableShares: '0',
      },
      withdrawals: [
        { status: 'pending', assets: '100000000', shares, transactionHash: first.hash, claimTransactionHash: null },
      ],
      position: { totalDepositedAssets: '1000000000', totalWithdrawnAssets: '0' },
    })
    const refused = await vault.claimWithdrawal(ALICE)
    expectError(refused, 'no_claimable_withdrawal', ['vaultAddress'])
    expect(refused.body.details[0].issue).toContain(timeAt(firstEnd))

    await passTime(vault, WEEK / 2)
    const second = await withdraw(vault, { shares: '50000000' })
    expect(second.calls).toEqual([['cooldownShares', 50_000_000n]])
    expect(second.body.withdrawal).toMatchObject({
      shares: '50000000',
      isEstimate: false,
      prolongs: { assets: '100000000', claimableAt: timeAt(firstEnd) },
    })
    const all = 100_000_000n + BigInt(second.body.withdrawal.assets)
    const end = (await clockOf(vault)) + WEEK
    const both = await showBoth(service, vault)
    expect(both).toMatchObject({
      claimableAt: timeAt(end),
      amounts: { pendingAssets: `${all}`, pendingRedeemShares: `${BigInt(shares) + 50_000_000n}` },
      withdrawals: [{ status: 'pending' }, { status: 'pending', assets: second.body.withdrawal.assets }],
    })
    expect(BigInt(both.position.currentValue)).toBeGreaterThanOrEqual(1_077_777_770n)

    await passTime(vault, WEEK)
    const over = await showBoth(service, vault)
    expect(over).toMatchObject({
      status: 'claimable',
      claimableAt: null,
      amounts: { pendingAssets: '0', claimableAssets: `${all}`, claimableShares: `${BigInt(shares) + 50_000_000n}` },
      withdrawals: [{ status: 'claimable' }, { status: 'claimable' }],
    })
    const reply = await vault.claimWithdrawal(ALICE)
    expect(callsIn(reply)).toEqual([['unstake', ALICE.address]])
    expect(reply.body.claimable).toEqual({ assets: `${all}`, shares: null })
    const before = await vault.balanceOf(ALICE.address)
    const paidBy = await claim(vault)
    expect((await vault.balanceOf(ALICE.address)) - before).toBe(all)
    const paid = await showBoth(service, vault)
    expect(paid).toMatchObject({
      status: 'withdrawn',
      amounts: { pendingAssets: '0', pendingRedeemShares: '0', claimableAssets: '0' },
      withdrawals: [
        { status: 'completed', amounts: { paidAssets: '100000000' }, claimTransactionHash: paidBy },
        { status: 'completed', amounts: { paidShares: '50000000' }, claimTransactionHash: paidBy },
      ],
      position: { totalWithdrawnAssets: `${all}` },
    })
    expectError(await vault.claimWithdrawal(ALICE), 'no_claimable_withdrawal')

    const events = await listEvents(service, vault.key)
    expect(events.map(({ type }) => type)).toEqual([
      'deposit.completed',
      'withdrawal.pending',
      'withdrawal.pending',
      'withdrawal.claimable',
      'withdrawal.claimable',
      'withdrawal.completed',
      'withdrawal.completed',
    ])
    const [oldest, other] = paid.withdrawals
    const completed = events
      .slice(-2)
      .map(({ data }) => [data['withdrawalId'], data['assets'], data['transactionHash']])
    expect(completed).toEqual([
      [oldest.withdrawalId, '100000000', paidBy],
      [other.withdrawalId, `${all - 100_000_000n}`, paidBy],
    ])
    expect(events.at(-1)?.data['entry']).toMatchObject({ status: 'completed', claimTransactionHash: paidBy })
  })

  test('withdraws the maximum by shares', async ({ vault }) => {
    const { calls, body } = await withdraw(vault, { max: true })
    expect(calls).toEqual([['cooldownShares', 1_000_000_000n]])
    expect(body.withdrawal).toMatchObject({ shares: '1000000000', isEstimate: false })
    expect(await vault.read('balanceOf', ALICE.address)).toBe(0n)
  })

  test('pays as ERC-4626 without a cooldown, and pays pending withdrawals immediately', async ({ service, vault }) => {
    await withdraw(vault, { amount: '100000000' })
    await sendToCooldownVault(vault, ROLES.admin, 'setCooldownDuration', 0)
    expect(await showBoth(service, vault)).toMatchObject({
      status: 'claimable',
      amounts: { claimableAssets: '100000000' },
    })
    const { body, calls } = await withdraw(vault, { amount: '7000000' })
    expect([calls, body.isAsync]).toEqual([[['withdraw', 7_000_000n, ALICE.address, ALICE.address]], false])
    await claim(vault)
    expect(await showBoth(service, vault)).toMatchObject({
      status: 'withdrawn',
      withdrawals: [{ status: 'completed' }, { status: 'completed', assets: '7000000' }],
      position: { totalWithdrawnAssets: '107000000' },
    })
  })

  test('counts a payment to another account as paid to its user, not to that account', async ({ service, vault }) => {
    await withdraw(vault, { amount: '100000000' })
    await passTime(vault, WEEK)
    await showBoth(service, vault)
    await sendToCooldownVault(vault, ALICE.address, 'unstake', BOB.address)
    const paid = {
      status: 'withdrawn',
      withdrawals: [{ status: 'completed', amounts: { paidAssets: '100000000' }, claimTransactionHash: null }],
      position: { totalWithdrawnAssets: '100000000' },
    }
    expect(await showBoth(service, vault)).toMatchObject(paid)
    expect(await show(service, vault, BOB)).toMatchObject({ status: 'no_active_withdrawal', withdrawals: [] })
    expect((await show(service, vault, BOB)).position).toBeUndefined()
    const events = await listEvents(service, vault.key)
    expect(events.map(({ type, data }) => [type, data['userAddress']])).toEqual(
      ['deposit.completed', 'withdrawal.pending', 'withdrawal.claimable'].map((type) => [type, ALICE.address]),
    )
    // The job deletes its record of the paid request after the block of its last read has become final.
    await recordAllBlocks(vault.chain)
    expect([...(await scanRecords(service)).keys()].filter((key) => key.includes(' OPEN#'))).toEqual([])

    // The next payment is smaller than the sum of all requests. The service cannot know which requests it pays.
    await withdraw(vault, { amount: '30000000' })
    await passTime(vault, WEEK)
    await claim(vault)
    expect((await showBoth(service, vault)).withdrawals).toMatchObject([
      { status: 'completed', claimTransactionHash: null },
      { status: 'completed', assets: '30000000', claimTransactionHash: null },
    ])
  })
})
