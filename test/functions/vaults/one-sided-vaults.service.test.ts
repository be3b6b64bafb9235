import { decodeFunctionData } from 'viem'
import { describe, expect } from 'vitest'
import { ASYNC_VAULT_ABI } from '../../sandbox/async-vault-abi.ts'
import { expectError } from '../../support/errors.ts'
import { readConsistentViews } from '../../support/records.ts'
import { type HttpReply, test, USERS } from '../../support/service.ts'
import { expectFairGas, expectSuccess, openAsyncVault, ROLES, type TestAsyncVault } from '../../support/vaults.ts'

const [ALICE] = USERS
const ONE = 10n ** 6n

const callsIn = ({ body }: HttpReply) =>
  body.operations.map(({ data }: { data: `0x${string}` }) => {
    const { functionName, args } = decodeFunctionData({ abi: ASYNC_VAULT_ABI, data })
    return [functionName, args?.[0]]
  })

async function send(vault: TestAsyncVault, reply: HttpReply) {
  const balances = async () => [await vault.balanceOf(ALICE.address), await vault.sharesOf(ALICE.address)] as const
  const before = await balances()
  const receipts = await vault.send(ALICE, reply)
  expectSuccess(receipts)
  expectFairGas(reply, receipts)
  const after = await balances()
  return { assets: after[0] - before[0], shares: after[1] - before[1] }
}

describe('a vault with deposits by request and instant withdrawals', () => {
  test('is registered and listed as an asynchronous one', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'deposits' })
    expect((await vault.list()).body.data).toMatchObject([
      {
        poolAddress: vault.address,
        yieldTokenAddress: vault.address,
        type: 'async',
        protocol: 'erc7540',
        MaxCap: false,
      },
    ])
  })

  test('takes a deposit, gives its shares after settlement, and pays them instantly, to the unit', async ({
    service,
  }) => {
    const vault = await openAsyncVault(service, { make: 'deposits' })
    await vault.mint(ALICE.address, 100n * ONE)
    const requested = await vault.deposit(ALICE, 100n * ONE)
    expect(requested.body).toMatchObject({ isAsync: true })
    expect(callsIn(requested)).toEqual([['requestDeposit', 100n * ONE]])
    expect(await send(vault, requested)).toEqual({ assets: -100n * ONE, shares: 0n })
    expect((await vault.status(ALICE)).body).toMatchObject({
      status: 'pending',
      amounts: { pendingDeposit: `${100n * ONE}`, claimableShares: '0', currentShares: '0' },
    })
    expectError(await vault.claim(ALICE), 'no_claimable_deposit')
    expectError(await vault.cancel(ALICE, 'deposit'), 'request_can_no_longer_be_cancelled')
    expect((await readConsistentViews(service, vault, ALICE.address)).deposits).toMatchObject([{ status: 'pending' }])

    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 100n * ONE, 99_999_999n)
    expect((await vault.status(ALICE)).body).toMatchObject({
      status: 'claimable',
      amounts: { pendingDeposit: '0', claimableShares: '99999999' },
    })
    const claim = await vault.claim(ALICE)
    expect(claim.body.claimable).toEqual({ assets: `${100n * ONE}`, shares: '99999999' })
    expect(await send(vault, claim)).toEqual({ assets: 0n, shares: 99_999_999n })
    expect((await vault.status(ALICE)).body).toMatchObject({
      status: 'deposited',
      amounts: { claimableShares: '0', currentShares: '99999999' },
    })

    await vault.mint(vault.address, 7_654_321n)
    const byAmount = await vault.withdraw(ALICE, { amount: '20000001' })
    expect(byAmount.body).toMatchObject({ isAsync: false, withdrawal: { assets: '20000001', isEstimate: false } })
    expect(callsIn(byAmount)).toEqual([['withdraw', 20_000_001n]])
    expect(await send(vault, byAmount)).toEqual({
      assets: 20_000_001n,
      shares: -BigInt(byAmount.body.withdrawal.shares),
    })
    const byShares = await vault.withdraw(ALICE, { shares: '30000003' })
    expect(byShares.body).toMatchObject({ isAsync: false, withdrawal: { shares: '30000003', isEstimate: false } })
    expect(callsIn(byShares)).toEqual([['redeem', 30_000_003n]])
    expect(await send(vault, byShares)).toEqual({
      assets: BigInt(byShares.body.withdrawal.assets),
      shares: -30_000_003n,
    })
    const { position, withdrawals } = await readConsistentViews(service, vault, ALICE.address)
    expect(withdrawals).toMatchObject(
      [byShares, byAmount].map(({ body: { withdrawal } }) => ({
        status: 'completed',
        assets: withdrawal.assets,
        shares: withdrawal.shares,
      })),
    )
    const paid = BigInt(byAmount.body.withdrawal.assets) + BigInt(byShares.body.withdrawal.assets)
    expect(position).toMatchObject({ totalDepositedAssets: `${100n * ONE}`, totalWithdrawnAssets: `${paid}` })

    const rest = await vault.withdraw(ALICE, { max: true })
    const { assets } = await send(vault, rest)
    expect(`${assets}`).toBe(rest.body.withdrawal.assets)
    expect(await vault.sharesOf(ALICE.address)).toBe(0n)
    const end = await readConsistentViews(service, vault, ALICE.address)
    expect(end.position).toMatchObject({
      totalWithdrawnAssets: `${paid + assets}`,
      currentValue: '0',
      earnedAssets: `${paid + assets - 100n * ONE}`,
    })
    expect(end.deposits).toMatchObject([{ status: 'completed', amounts: { currentShares: '0', claimableShares: '0' } }])
  })

  test('pays the maximum including settled deposits, which are claimed first', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'deposits' })
    await vault.mint(ALICE.address, 50n * ONE)
    await send(vault, await vault.deposit(ALICE, 50n * ONE))
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 30n * ONE, 30n * ONE)
    const reply = await vault.withdraw(ALICE, { max: true })
    expect(reply.body.withdrawal).toMatchObject({ shares: `${30n * ONE}`, isEstimate: false })
    expect(callsIn(reply)).toEqual([
      ['mint', 30n * ONE],
      ['redeem', 30n * ONE],
    ])
    expect(await send(vault, reply)).toEqual({ assets: BigInt(reply.body.withdrawal.assets), shares: 0n })
    const refused = await vault.withdraw(ALICE, { max: true })
    expectError(refused, 'amount_exceeds_balance', ['max'])
    expect((await readConsistentViews(service, vault, ALICE.address)).withdrawals).toMatchObject([
      { status: 'completed' },
    ])
  })

  test('has no withdrawals to claim, to cancel or to wait for', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'deposits' })
    expectError(await vault.withdrawStatus(ALICE), 'withdraw_status_not_applicable')
    expectError(await vault.claimWithdrawal(ALICE), 'claim_not_applicable')
    expectError(await vault.cancel(ALICE, 'withdrawal'), 'cancel_not_applicable')
  })
})

test('A vault with instant deposits has none to claim, to cancel or to wait for', async ({ service }) => {
  const vault = await openAsyncVault(service, { make: 'redemptions' })
  expect((await vault.list()).body.data).toMatchObject([{ type: 'sync' }])
  expectError(await vault.status(ALICE), 'deposit_status_not_applicable')
  expectError(await vault.claim(ALICE), 'claim_not_applicable')
  expectError(await vault.cancel(ALICE, 'deposit'), 'cancel_not_applicable')
})
