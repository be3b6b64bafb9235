import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALICE, openSession, SAFE, usdc } from './harness.ts'

let session: Awaited<ReturnType<typeof openSession>>
beforeAll(async () => {
  session = await openSession()
})
afterAll(() => session.stop())

describe.each(['aggregated', 'counted'] as const)('an ERC-7540 vault with %s request ids', (make) => {
  test('fulfils requests in parts, so that something is pending and something claimable at once', async () => {
    const vault = await session.openAsyncVault(make)
    await session.pay(ALICE, vault, usdc('100'))
    const [request] = await vault.act(ALICE, 'requestDeposit', [usdc('100'), ALICE, ALICE])
    const requestId = make === 'counted' ? 1n : 0n
    expect(request).toMatchObject({ eventName: 'DepositRequest', args: { requestId, assets: usdc('100') } })

    const [claimable] = await vault.act(SAFE, 'fulfillDeposit', [requestId, ALICE, usdc('60'), 50_000_000n])
    expect(claimable).toMatchObject({ eventName: 'DepositClaimable', args: { controller: ALICE, requestId } })
    expect(await vault.read('pendingDepositRequest', requestId, ALICE)).toBe(usdc('40'))
    expect(await vault.read('claimableDepositRequest', requestId, ALICE)).toBe(usdc('60'))
    await vault.act(ALICE, 'mint', [50_000_000n, ALICE, ALICE])
    expect(await vault.share.read('balanceOf', ALICE)).toBe(50_000_000n)

    const [redemption] = await vault.act(ALICE, 'requestRedeem', [50_000_000n, ALICE, ALICE])
    const redemptionId = make === 'counted' ? 2n : 0n
    expect(redemption).toMatchObject({ eventName: 'RedeemRequest', args: { requestId: redemptionId } })
    await vault.act(SAFE, 'fulfillRedeem', [redemptionId, ALICE, 10_000_000n, usdc('12')])
    await vault.act(SAFE, 'fulfillRedeem', [redemptionId, ALICE, 20_000_000n, usdc('30')])
    expect(await vault.read('pendingRedeemRequest', redemptionId, ALICE)).toBe(20_000_000n)
    expect(await vault.read('claimableRedeemRequest', redemptionId, ALICE)).toBe(30_000_000n)
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('42'))
    const before = await session.tokensOf(ALICE)
    await vault.act(ALICE, 'withdraw', [usdc('42'), ALICE, ALICE])
    expect((await session.tokensOf(ALICE)) - before).toBe(usdc('42'))
  })
})
