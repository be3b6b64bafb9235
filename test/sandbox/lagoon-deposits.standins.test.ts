import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LagoonGeneration } from '../../sandbox/deploy.ts'
import { ADMIN, ALICE, BOB, CAROL, catchErrorName, SAFE, startTokenChain, usdc, VALUER } from './harness.ts'

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

const openVault = (generation: LagoonGeneration) => session.restore(generation, () => session.openVault(generation))

const names = (events: readonly { eventName?: string | undefined }[]) => events.map(({ eventName }) => eventName)

describe.each(['0.4', '0.5', '0.5.1', '0.6', 'unknown'] as const)('a Lagoon %s vault', (generation) => {
  test('gives a request the open epoch’s id and opens the next epoch at a proposed valuation', async () => {
    const vault = await openVault(generation)
    const [request] = await session.request(vault, ALICE, usdc('100'))
    expect(request).toMatchObject({ eventName: 'DepositRequest', args: { requestId: 1n, assets: usdc('100') } })

    await vault.act(VALUER, 'updateNewTotalAssets', [0n])
    const [later] = await session.request(vault, BOB, usdc('50'))
    expect(later).toMatchObject({ eventName: 'DepositRequest', args: { requestId: 3n, controller: BOB } })
    expect(await vault.read('pendingDepositRequest', 0n, ALICE)).toBe(usdc('100'))
    expect(await vault.read('pendingDepositRequest', 0n, BOB)).toBe(usdc('50'))

    const settled = await vault.act(SAFE, 'settleDeposit', [0n])
    expect(settled).toContainEqual(
      expect.objectContaining({
        eventName: 'SettleDeposit',
        args: expect.objectContaining({ epochId: 1, settledId: 1, assetsDeposited: usdc('100') }),
      }),
    )
    expect(await vault.read('pendingDepositRequest', 0n, ALICE)).toBe(0n)
    expect(await vault.read('claimableDepositRequest', 0n, ALICE)).toBe(usdc('100'))
    expect(await vault.read('pendingDepositRequest', 0n, BOB)).toBe(usdc('50'))
    expect(await vault.read('claimableDepositRequest', 0n, BOB)).toBe(0n)

    const claim = await vault.act(ALICE, 'deposit', [usdc('100'), CAROL, ALICE])
    const shares = 100n * 10n ** 18n
    expect(claim).toContainEqual(
      expect.objectContaining({
        eventName: 'Deposit',
        args: { sender: ALICE, owner: CAROL, assets: usdc('100'), shares },
      }),
    )
    expect(await vault.read('balanceOf', CAROL)).toBe(shares)
    expect(await vault.read('claimableDepositRequest', 0n, ALICE)).toBe(0n)
  })

  test('lets several proposals before one settlement share a settle id', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('10'))
    await vault.act(VALUER, 'updateNewTotalAssets', [0n])
    await session.request(vault, BOB, usdc('20'))
    const [settlement] = (await session.settle(vault, 0n)).filter(({ eventName }) => eventName === 'SettleDeposit')
    expect(settlement).toMatchObject({ args: { epochId: 3, settledId: 1, assetsDeposited: usdc('30') } })
    expect(await vault.read('claimableDepositRequest', 1n, ALICE)).toBe(usdc('10'))
    expect(await vault.read('claimableDepositRequest', 3n, BOB)).toBe(usdc('20'))
  })

  test('adds requests of one epoch together', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('1'))
    await session.request(vault, ALICE, usdc('2'))
    expect(await vault.read('pendingDepositRequest', 0n, ALICE)).toBe(usdc('3'))
  })

  test('claims everything claimable for the controller before it takes the next request', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('100'))
    await session.settle(vault, 0n)
    const events = await session.request(vault, ALICE, usdc('7'))
    expect(names(events)).toEqual(['Transfer', 'Deposit', 'DepositRequest'])
    expect(await vault.read('balanceOf', ALICE)).toBe(100n * 10n ** 18n)
    expect(await vault.read('pendingDepositRequest', 0n, ALICE)).toBe(usdc('7'))
  })

  test('refuses a second request once a valuation was proposed for the first', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('100'))
    await vault.act(VALUER, 'updateNewTotalAssets', [0n])
    expect(await catchErrorName(session.request(vault, ALICE, usdc('1')))).toBe('OnlyOneRequestAllowed')
  })

  test('lets a request be cancelled until a valuation is proposed, paying the controller back', async () => {
    const vault = await openVault(generation)
    await session.pay(ALICE, vault, usdc('5'))
    await vault.act(ALICE, 'requestDeposit', [usdc('5'), BOB, ALICE])
    const before = await session.tokensOf(BOB)
    const [canceled] = await vault.act(BOB, 'cancelRequestDeposit', [])
    expect(canceled).toMatchObject({ eventName: 'DepositRequestCanceled', args: { requestId: 1n, controller: BOB } })
    expect((await session.tokensOf(BOB)) - before).toBe(usdc('5'))

    await session.request(vault, ALICE, usdc('5'))
    await vault.act(VALUER, 'updateNewTotalAssets', [0n])
    expect(await catchErrorName(vault.act(ALICE, 'cancelRequestDeposit', []))).toBe('RequestNotCancelable 1')
  })

  test('refuses claims before the settlement and claims of more than is claimable', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('100'))
    expect(await catchErrorName(vault.act(ALICE, 'deposit', [1n, ALICE, ALICE]))).toBe('RequestIdNotClaimable')
    await session.settle(vault, 0n)
    expect(await catchErrorName(vault.act(ALICE, 'deposit', [usdc('100') + 1n, ALICE, ALICE]))).toBe('Panic 17')
    expect(await catchErrorName(vault.act(BOB, 'deposit', [1n, ALICE, ALICE]))).toBe('ERC7540InvalidOperator')
  })

  test('takes claims in parts, in assets or shares, with and without the controller, and by an operator', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('100'))
    await session.settle(vault, 0n)
    await vault.act(ALICE, 'deposit', [usdc('10'), ALICE])
    await vault.act(ALICE, 'mint', [20n * 10n ** 18n, ALICE])
    await vault.act(ALICE, 'setOperator', [BOB, true])
    await vault.act(BOB, 'mint', [30n * 10n ** 18n, ALICE, ALICE])
    await vault.act(BOB, 'deposit', [usdc('40'), ALICE, ALICE])
    expect(await vault.read('balanceOf', ALICE)).toBe(100n * 10n ** 18n)
  })

  test('lets the safe claim for users', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('100'))
    await session.settle(vault, 0n)
    await vault.act(SAFE, 'claimSharesOnBehalf', [[ALICE, BOB]])
    expect(await vault.read('balanceOf', ALICE)).toBe(100n * 10n ** 18n)
    expect(await catchErrorName(vault.act(ALICE, 'claimSharesOnBehalf', [[ALICE]]))).toBe(`OnlySafe ${SAFE}`)
  })

  test('converts exactly at the rate of the request’s settlement', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, 123_456_789n)
    await session.settle(vault, 0n)
    await session.request(vault, BOB, 987_654_321n)
    const valuation = 124_000_001n
    const supply = await vault.read('totalSupply')
    await session.settle(vault, valuation)

    const shares = (987_654_321n * (supply + 10n ** 12n)) / (valuation + 1n)
    expect(await vault.read('convertToShares', 987_654_321n, 3n)).toBe(shares)
    expect(await vault.read('maxMint', BOB)).toBe(shares)
    expect(await vault.read('convertToAssets', shares, 3n)).toBe((shares * (valuation + 1n)) / (supply + 10n ** 12n))
    await vault.act(BOB, 'deposit', [987_654_321n, BOB, BOB])
    expect(await vault.read('balanceOf', BOB)).toBe(shares)

    const [total, supplyNow] = await Promise.all([vault.read('totalAssets'), vault.read('totalSupply')])
    expect(total).toBe(valuation + 987_654_321n)
    expect(await vault.read('convertToAssets', 10n ** 18n)).toBe((10n ** 18n * (total + 1n)) / (supplyNow + 10n ** 12n))
    expect(await vault.read('convertToShares', 1_000_000n)).toBe((1_000_000n * (supplyNow + 10n ** 12n)) / (total + 1n))
  })

  test('converts about 1:1 for an unsettled request', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('100'))
    await session.settle(vault, 0n)
    await session.settle(vault, usdc('200'))
    await session.request(vault, BOB, usdc('1'))
    expect(await vault.read('convertToShares', usdc('1'), 3n)).toBe(10n ** 18n)
  })

  test('settles only at the proposed valuation', async () => {
    const vault = await openVault(generation)
    expect(await catchErrorName(vault.act(SAFE, 'settleDeposit', [0n]))).toBe('NewTotalAssetsMissing')
    await vault.act(VALUER, 'updateNewTotalAssets', [5n])
    expect(await catchErrorName(vault.act(SAFE, 'settleDeposit', [6n]))).toBe('WrongNewTotalAssets')
    expect(names(await vault.act(SAFE, 'settleDeposit', [5n]))).toEqual(['TotalAssetsUpdated'])
  })

  test('takes requests while closing, but never while paused', async () => {
    const vault = await openVault(generation)
    await vault.act(ADMIN, 'initiateClosing', [])
    await session.request(vault, ALICE, usdc('1'))
    await vault.act(VALUER, 'updateNewTotalAssets', [0n])
    expect(await catchErrorName(vault.act(SAFE, 'settleDeposit', [0n]))).toBe('NotOpen 1')
    await vault.act(ADMIN, 'pause', [])
    expect(await vault.read('paused')).toBe(true)
    expect(await catchErrorName(session.request(vault, BOB, usdc('1')))).toBe('EnforcedPause')
  })

  test('reports 0 as the claim limits while paused, though the request stays claimable', async () => {
    const vault = await openVault(generation)
    await session.request(vault, ALICE, usdc('100'))
    await session.settle(vault, 0n)
    expect(await vault.read('maxDeposit', ALICE)).toBe(usdc('100'))
    await vault.act(ADMIN, 'pause', [])
    expect(await vault.read('maxDeposit', ALICE)).toBe(0n)
    expect(await vault.read('maxMint', ALICE)).toBe(0n)
    expect(await vault.read('claimableDepositRequest', 0n, ALICE)).toBe(usdc('100'))
    expect(await catchErrorName(vault.act(ALICE, 'deposit', [usdc('100'), ALICE, ALICE]))).toBe('EnforcedPause')
  })

  test('lets anyone request for a victim, whose next request must wait for the settlement', async () => {
    const vault = await openVault(generation)
    await session.pay(BOB, vault, 1n)
    await vault.act(BOB, 'requestDeposit', [1n, ALICE, BOB])
    await vault.act(VALUER, 'updateNewTotalAssets', [0n])
    expect(await catchErrorName(session.request(vault, ALICE, usdc('1')))).toBe('OnlyOneRequestAllowed')
  })
})
