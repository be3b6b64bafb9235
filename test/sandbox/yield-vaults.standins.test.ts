import { maxUint256, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN, ALICE, BOB, startTokenChain, usdc } from './harness.ts'

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

const BALANCE = usdc('100')

describe('a synchronous vault that lends', () => {
  test('pays up to its limits and refuses more', async () => {
    const vault = await session.openYieldVault('illiquid')
    await vault.act(ADMIN, 'lend', [usdc('70')])
    expect(await vault.read('totalAssets')).toBe(usdc('100') + 7n)
    const [shares, assets] = [await vault.read('maxRedeem', ALICE), await vault.read('maxWithdraw', ALICE)]
    // The vault rounds its withdrawal limit down, so the limit may be one unit below the available assets.
    expect(usdc('30') + 7n - assets).toBeLessThanOrEqual(1n)
    expect(await vault.outcome(ALICE, 'redeem', [shares, ALICE, ALICE])).toBe('ok')
    const redeemed = await vault.outcome(ALICE, 'redeem', [BALANCE, ALICE, ALICE])
    expect(redeemed).toBe(`ERC4626ExceededMaxRedeem ${ALICE} ${BALANCE} ${shares}`)
    const withdrawn = await vault.outcome(ALICE, 'withdraw', [usdc('31'), ALICE, ALICE])
    expect(withdrawn).toBe(`ERC4626ExceededMaxWithdraw ${ALICE} ${usdc('31')} ${assets}`)

    await session.approve(ADMIN, vault.address, usdc('70'))
    await vault.act(ADMIN, 'repay', [usdc('70')])
    expect(await vault.outcome(ALICE, 'redeem', [BALANCE, ALICE, ALICE])).toBe('ok')
  })
})

describe('a synchronous vault that reports no limits', () => {
  test('reports 0 for each limit and pays what it has', async () => {
    const vault = await session.openYieldVault('silent')
    for (const limit of ['maxDeposit', 'maxMint', 'maxWithdraw', 'maxRedeem'] as const) {
      expect(await vault.read(limit, ALICE)).toBe(0n)
    }
    expect(await vault.read('liquidityAdapter')).toBe(zeroAddress)
    expect(await vault.outcome(ALICE, 'redeem', [BALANCE, ALICE, ALICE])).toBe('ok')
    await vault.act(ADMIN, 'lend', [usdc('70')])
    expect(await vault.outcome(ALICE, 'withdraw', [usdc('30'), ALICE, ALICE])).toBe('ok')
    const there = usdc('30') + 7n
    const refused = await vault.outcome(ALICE, 'withdraw', [there + 1n, ALICE, ALICE])
    expect(refused).toBe(`ERC20InsufficientBalance ${vault.address} ${there} ${there + 1n}`)
    await session.pay(ALICE, vault, usdc('2'))
    expect(await vault.outcome(ALICE, 'deposit', [usdc('1'), ALICE])).toBe('ok')
    expect(await vault.outcome(ALICE, 'mint', [usdc('1'), ALICE])).toBe('ok')
  })
})

describe('a synchronous vault with a cooldown', () => {
  test('pays only after the cooldown, whatever its limits say', async () => {
    const vault = await session.openYieldVault('cooldown')
    expect(await vault.read('maxRedeem', ALICE)).toBe(BALANCE)
    expect(await vault.outcome(ALICE, 'redeem', [1n, ALICE, ALICE])).toBe('OperationNotAllowed')
    expect(await vault.outcome(ALICE, 'withdraw', [1n, ALICE, ALICE])).toBe('OperationNotAllowed')
    expect(await vault.outcome(ALICE, 'cooldownShares', [BALANCE + 1n])).toBe('ExcessiveRedeemAmount')

    const worth = await vault.read('previewRedeem', BALANCE)
    const [withdrawal] = (await vault.act(ALICE, 'cooldownShares', [BALANCE])).slice(-1)
    const silo = await vault.read('silo')
    expect(withdrawal).toMatchObject({ eventName: 'Withdraw', args: { sender: ALICE, receiver: silo, assets: worth } })
    expect(await vault.outcome(ALICE, 'unstake', [ALICE])).toBe('InvalidCooldown')
    await session.pass(await vault.read('cooldownDuration'))
    const before = await session.tokensOf(BOB)
    await vault.act(ALICE, 'unstake', [BOB])
    expect((await session.tokensOf(BOB)) - before).toBe(worth)
  })

  test('pays instantly while the cooldown is zero', async () => {
    const vault = await session.openYieldVault('cooldown')
    await vault.act(ADMIN, 'setCooldownDuration', [0])
    expect(await vault.outcome(ALICE, 'redeem', [BALANCE, ALICE, ALICE])).toBe('ok')
    expect(await vault.outcome(ALICE, 'cooldownShares', [BALANCE])).toBe('OperationNotAllowed')
  })
})

describe('a synchronous vault with a fee on withdrawal', () => {
  test('pays as its previews and limits say, less than its conversions', async () => {
    const vault = await session.openYieldVault('exitFee')
    const net = await vault.read('previewRedeem', BALANCE)
    expect(net).toBe(((usdc('100') + 6n) * 10_000n) / 10_050n)
    expect(await vault.read('convertToAssets', BALANCE)).toBe(usdc('100') + 6n)
    expect(await vault.read('maxWithdraw', ALICE)).toBe(net)
    expect(await vault.read('previewWithdraw', net)).toBeLessThanOrEqual(BALANCE)

    const [owner, user] = [await session.tokensOf(ADMIN), await session.tokensOf(BOB)]
    await vault.act(ALICE, 'withdraw', [usdc('10'), BOB, ALICE])
    expect((await session.tokensOf(BOB)) - user).toBe(usdc('10'))
    expect((await session.tokensOf(ADMIN)) - owner).toBe(usdc('0.05'))
    const left = await vault.read('balanceOf', ALICE)
    const rest = await vault.read('previewRedeem', left)
    await vault.act(ALICE, 'redeem', [left, BOB, ALICE])
    expect((await session.tokensOf(BOB)) - user).toBe(usdc('10') + rest)
  })
})

describe('a strict synchronous vault', () => {
  test('refuses worthless shares and redeems everything for the largest integer', async () => {
    const vault = await session.openYieldVault('strict')
    expect(await vault.read('previewRedeem', 999_999n)).toBe(0n)
    expect(await vault.outcome(ALICE, 'redeem', [999_999n, ALICE, ALICE])).toBe('E_ZeroAssets')
    expect(await vault.outcome(ALICE, 'redeem', [0n, ALICE, ALICE])).toBe('ok')
    expect(await vault.outcome(ALICE, 'redeem', [2_000_000n, ALICE, ALICE])).toBe('ok')
    const before = await session.tokensOf(BOB)
    await vault.act(ALICE, 'redeem', [maxUint256, BOB, ALICE])
    expect((await session.tokensOf(BOB)) - before).toBe(usdc('100') + 6n)
    expect(await vault.read('balanceOf', ALICE)).toBe(0n)
  })
})
