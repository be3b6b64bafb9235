import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALICE, BOB, catchErrorName, SAFE, startTokenChain, usdc, VALUER } from './harness.ts'

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

const SHARE = 10n ** 18n

describe.each(['0.2', '0.4', '0.5', '0.5.1', '0.6'] as const)('a Lagoon %s vault', (generation) => {
  const openInvestedVault = () =>
    session.restore(generation, async () => {
      const vault = await session.openVault(generation)
      await session.request(vault, ALICE, usdc('100'))
      await session.settle(vault, 0n)
      await vault.act(ALICE, 'deposit', [usdc('100'), ALICE, ALICE])
      return vault
    })

  test('redeems at the rate of the settlement, with even request ids', async () => {
    const vault = await openInvestedVault()
    const [, request] = await vault.act(ALICE, 'requestRedeem', [40n * SHARE, ALICE, ALICE])
    expect(request).toMatchObject({ eventName: 'RedeemRequest', args: { requestId: 2n, shares: 40n * SHARE } })
    expect(await vault.read('pendingRedeemRequest', 0n, ALICE)).toBe(40n * SHARE)

    await session.settle(vault, usdc('110'))
    expect(await vault.read('pendingRedeemRequest', 0n, ALICE)).toBe(0n)
    expect(await vault.read('maxRedeem', ALICE)).toBe(40n * SHARE)
    const assets = (40n * SHARE * (usdc('110') + 1n)) / (100n * SHARE + 10n ** 12n)
    expect(await vault.read('convertToAssets', 40n * SHARE, 2n)).toBe(assets)
    expect(await vault.read('maxWithdraw', ALICE)).toBe(assets)

    const before = await session.tokensOf(BOB)
    const events = await vault.act(ALICE, 'redeem', [40n * SHARE, BOB, ALICE])
    expect(events).toMatchObject([
      { eventName: 'Withdraw', args: { sender: ALICE, receiver: BOB, owner: ALICE, assets, shares: 40n * SHARE } },
    ])
    expect((await session.tokensOf(BOB)) - before).toBe(assets)
  })

  test('lets assets be withdrawn by amount', async () => {
    const vault = await openInvestedVault()
    await vault.act(ALICE, 'requestRedeem', [40n * SHARE, ALICE, ALICE])
    await session.settle(vault, usdc('100'))
    const before = await session.tokensOf(ALICE)
    await vault.act(ALICE, 'withdraw', [usdc('15'), ALICE, ALICE])
    expect((await session.tokensOf(ALICE)) - before).toBe(usdc('15'))
    expect(await vault.read('claimableRedeemRequest', 0n, ALICE)).toBe(25n * SHARE)
  })

  test('can settle only redemptions', async () => {
    const vault = await openInvestedVault()
    await session.request(vault, BOB, usdc('5'))
    await vault.act(ALICE, 'requestRedeem', [SHARE, ALICE, ALICE])
    await vault.act(VALUER, 'updateNewTotalAssets', [usdc('100')])
    await vault.act(SAFE, 'settleRedeem', [usdc('100')])
    expect(await vault.read('claimableRedeemRequest', 0n, ALICE)).toBe(SHARE)
    expect(await vault.read('pendingDepositRequest', 0n, BOB)).toBe(usdc('5'))
  })

  test('pays without a request once it is closed', async () => {
    const vault = await openInvestedVault()
    await session.close(vault, usdc('100'))
    expect(await vault.read('maxRedeem', ALICE)).toBe(100n * SHARE)
    const before = await session.tokensOf(ALICE)
    await vault.act(ALICE, 'redeem', [100n * SHARE, ALICE, ALICE])
    expect((await session.tokensOf(ALICE)) - before).toBe(usdc('100'))
    expect(await catchErrorName(vault.act(ALICE, 'requestRedeem', [0n, ALICE, ALICE]))).toBe('NotOpen 2')
  })
})
