import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AsyncVaultKind } from '../../sandbox/deploy.ts'
import { ADMIN, ALICE, BOB, CAROL, catchErrorName, SAFE, startTokenChain, usdc } from './harness.ts'

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

const INTERFACES = {
  erc165: '0x01ffc9a7',
  erc7575Vault: '0x2f0a18c5',
  operators: '0xe3bc4e65',
  asyncRedemption: '0x620ee8e4',
  asyncDeposit: '0xce3bbe50',
  cancelRedemption: '0xe76cffc7',
  cancelDeposit: '0x8bf840e3',
} as const satisfies Record<string, Hex>

type Vault = Awaited<ReturnType<typeof session.openAsyncVault>>

const names = (events: readonly { eventName?: string | undefined }[]) => events.map(({ eventName }) => eventName)

async function requestDeposit(vault: Vault, user: `0x${string}`, amount: bigint) {
  await session.pay(user, vault, amount)
  return vault.act(user, 'requestDeposit', [amount, user, user])
}

async function openInvestedVault(make: AsyncVaultKind, shareDecimals = 6) {
  const vault = await session.openAsyncVault(make, { shareDecimals })
  const shares = 100n * 10n ** BigInt(shareDecimals)
  if (make === 'redemptions') {
    await session.pay(ALICE, vault, usdc('100'))
    await vault.act(ALICE, 'deposit', [usdc('100'), ALICE])
  } else {
    await requestDeposit(vault, ALICE, usdc('100'))
    await vault.act(SAFE, 'fulfillDeposit', [make === 'counted' ? 1n : 0n, ALICE, usdc('100'), shares])
    await vault.act(ALICE, 'mint', [shares, ALICE, ALICE])
  }
  return vault
}

const BALANCE = 100_000_000n

describe.each(['aggregated', 'counted'] as const)('an ERC-7540 vault with %s request ids', (make) => {
  test('has a separate share token and is no token itself', async () => {
    const vault = await session.openAsyncVault(make, { shareDecimals: 8 })
    expect(vault.share.address).not.toBe(vault.address)
    expect(await vault.share.read('decimals')).toBe(8)
    expect(await vault.share.read('vault', session.token)).toBe(vault.address)
    expect(await vault.share.read('supportsInterface', '0xf815c03d')).toBe(true)
    await expect(vault.read('decimals')).rejects.toThrow()
    await expect(vault.read('balanceOf', ALICE)).rejects.toThrow()
    for (const id of Object.values(INTERFACES)) expect(await vault.read('supportsInterface', id)).toBe(true)
    expect(await vault.read('supportsInterface', '0xffffffff')).toBe(false)
  })

  test('reverts every preview without a reason', async () => {
    const vault = await session.openAsyncVault(make)
    for (const preview of ['previewDeposit', 'previewMint', 'previewRedeem', 'previewWithdraw'] as const) {
      expect(await catchErrorName(vault.read(preview, 1n))).toBe('execution reverted')
    }
  })

  test('fulfils deposits and redemptions in parts, one part claimable while the rest is pending', async () => {
    const vault = await session.openAsyncVault(make)
    const [request] = await requestDeposit(vault, ALICE, usdc('100'))
    const deposit = make === 'counted' ? 1n : 0n
    expect(request).toMatchObject({
      eventName: 'DepositRequest',
      args: { controller: ALICE, owner: ALICE, requestId: deposit, sender: ALICE, assets: usdc('100') },
    })
    const [depositable] = await vault.act(SAFE, 'fulfillDeposit', [deposit, ALICE, usdc('60'), 50_000_000n])
    expect(depositable).toMatchObject({
      eventName: 'DepositClaimable',
      args: { controller: ALICE, requestId: deposit, assets: usdc('60'), shares: 50_000_000n },
    })
    expect(await vault.read('pendingDepositRequest', deposit, ALICE)).toBe(usdc('40'))
    expect(await vault.read('claimableDepositRequest', deposit, ALICE)).toBe(usdc('60'))
    const [claim] = await vault.act(ALICE, 'mint', [50_000_000n, CAROL, ALICE])
    const [sender, owner] = make === 'counted' ? [CAROL, ALICE] : [ALICE, CAROL]
    expect(claim).toMatchObject({
      eventName: 'Deposit',
      args: { sender, owner, assets: usdc('60'), shares: 50_000_000n },
    })
    expect(await vault.share.read('balanceOf', CAROL)).toBe(50_000_000n)
    await vault.share.act(CAROL, 'transfer', [ALICE, 50_000_000n])

    const [redeemRequest] = await vault.act(ALICE, 'requestRedeem', [50_000_000n, ALICE, ALICE])
    const redemption = make === 'counted' ? 2n : 0n
    expect(redeemRequest).toMatchObject({
      eventName: 'RedeemRequest',
      args: { controller: ALICE, owner: ALICE, requestId: redemption, sender: ALICE, shares: 50_000_000n },
    })
    expect(await vault.share.read('balanceOf', ALICE)).toBe(0n)
    await vault.act(SAFE, 'fulfillRedeem', [redemption, ALICE, 10_000_000n, usdc('12')])
    const [redeemable] = await vault.act(SAFE, 'fulfillRedeem', [redemption, ALICE, 20_000_000n, usdc('30')])
    expect(redeemable).toMatchObject({
      eventName: 'RedeemClaimable',
      args: { controller: ALICE, requestId: redemption, assets: usdc('30'), shares: 20_000_000n },
    })
    expect(await vault.read('pendingRedeemRequest', redemption, ALICE)).toBe(20_000_000n)
    // The claimable assets are valued at the average of both settlement prices.
    expect(await vault.read('claimableRedeemRequest', redemption, ALICE)).toBe(30_000_000n)
    const before = await session.tokensOf(BOB)
    const [withdrawal] = await vault.act(ALICE, 'withdraw', [usdc('42'), BOB, ALICE])
    expect(withdrawal).toMatchObject({
      eventName: 'Withdraw',
      args: { sender: ALICE, receiver: BOB, owner: ALICE, assets: usdc('42'), shares: 30_000_000n },
    })
    expect((await session.tokensOf(BOB)) - before).toBe(usdc('42'))
    expect(await vault.read('maxWithdraw', ALICE)).toBe(0n)
  })

  test.each([6, 18])(
    'pays all by withdraw, and a unit less by redeem, with shares of %i decimals',
    async (decimals) => {
      const vault = await openInvestedVault(make, decimals)
      const share = 10n ** BigInt(decimals)
      const redemption = make === 'counted' ? 2n : 0n
      await vault.act(ALICE, 'requestRedeem', [30n * share, ALICE, ALICE])
      await vault.act(SAFE, 'fulfillRedeem', [redemption, ALICE, 7n * share, usdc('7.777777')])
      await vault.act(SAFE, 'fulfillRedeem', [redemption, ALICE, 11n * share, usdc('13.333331')])
      const assets = await vault.read('maxWithdraw', ALICE)
      expect(assets).toBe(usdc('21.111108'))
      const shares = await vault.read('maxRedeem', ALICE)
      expect(shares).toBe(await vault.read('claimableRedeemRequest', redemption, ALICE))
      const before = await session.tokensOf(ALICE)
      await vault.act(ALICE, 'redeem', [shares, ALICE, ALICE])
      const paid = (await session.tokensOf(ALICE)) - before
      expect(assets - paid).toBe(1n)
      expect(await vault.outcome(ALICE, 'redeem', [1n, ALICE, ALICE])).toBe('ExceedsMaxRedeem')
    },
  )

  test('refuses zero amounts and amounts beyond the balance or limit', async () => {
    const vault = await openInvestedVault(make)
    expect(await vault.outcome(ALICE, 'requestRedeem', [0n, ALICE, ALICE])).toBe('ZeroAmountNotAllowed')
    expect(await vault.outcome(ALICE, 'requestRedeem', [BALANCE + 1n, ALICE, ALICE])).toBe('InsufficientBalance')
    expect(await vault.outcome(ALICE, 'requestDeposit', [0n, ALICE, ALICE])).toBe('ZeroAmountNotAllowed')
    expect(await vault.outcome(ALICE, 'withdraw', [1n, ALICE, ALICE])).toBe('ExceedsRedeemLimits')
    expect(await vault.outcome(ALICE, 'mint', [1n, ALICE, ALICE])).toBe('ExceedsDepositLimits')
    expect(await vault.outcome(ALICE, 'deposit', [1n, ALICE, ALICE])).toBe('ExceedsMaxDeposit')
    expect(await vault.outcome(ALICE, 'cancelRedeemRequest', [0n, ALICE])).toBe('NoPendingRequest')
    expect(await vault.outcome(SAFE, 'fulfillRedeem', [0n, ALICE, 1n, 1n])).toBe('NoPendingRequest')
    expect(await vault.outcome(ALICE, 'fulfillRedeem', [0n, ALICE, 1n, 1n])).toBe('NotAuthorized')
  })

  test('lets operators act, spenders request redemptions by allowance, and third parties do nothing', async () => {
    const vault = await openInvestedVault(make)
    const refused = `ERC20InsufficientAllowance ${BOB} 0 5`
    expect(await vault.outcome(BOB, 'requestRedeem', [5n, BOB, ALICE])).toBe(refused)
    await vault.share.act(ALICE, 'approve', [BOB, 5n])
    expect(await vault.outcome(BOB, 'requestRedeem', [5n, BOB, ALICE])).toBe('ok')
    expect(await vault.outcome(BOB, 'requestDeposit', [5n, BOB, ALICE])).toBe('InvalidOwner')
    expect(await vault.outcome(BOB, 'redeem', [0n, BOB, ALICE])).toBe('InvalidController')
    expect(await vault.outcome(BOB, 'cancelRedeemRequest', [0n, ALICE])).toBe('InvalidController')
    expect(await vault.outcome(ALICE, 'setOperator', [ALICE, true])).toBe('CannotSetSelfAsOperator')
    await vault.act(ALICE, 'setOperator', [BOB, true])
    expect(await vault.outcome(BOB, 'requestRedeem', [BALANCE, BOB, ALICE])).toBe('ok')
    expect(await vault.outcome(BOB, 'redeem', [0n, BOB, ALICE])).toBe('ok')
  })

  test('takes shares by its own allowance if configured to', async () => {
    const vault = await openInvestedVault(make)
    await vault.act(SAFE, 'setPullsSharesByAllowance', [true])
    const refused = `ERC20InsufficientAllowance ${vault.address} 0 ${BALANCE}`
    expect(await vault.outcome(ALICE, 'requestRedeem', [BALANCE, ALICE, ALICE])).toBe(refused)
    await vault.share.act(ALICE, 'approve', [vault.address, BALANCE])
    expect(await vault.outcome(ALICE, 'requestRedeem', [BALANCE, ALICE, ALICE])).toBe('ok')
  })

  test('reports nothing claimable for a restricted account and keeps its assets', async () => {
    const vault = await openInvestedVault(make)
    const redemption = make === 'counted' ? 2n : 0n
    await vault.act(ALICE, 'requestRedeem', [BALANCE, ALICE, ALICE])
    await vault.act(SAFE, 'fulfillRedeem', [redemption, ALICE, BALANCE / 2n, usdc('55')])
    await vault.share.act(ADMIN, 'restrict', [ALICE, true])
    for (const limit of ['maxDeposit', 'maxMint', 'maxWithdraw', 'maxRedeem'] as const) {
      expect(await vault.read(limit, ALICE)).toBe(0n)
    }
    expect(await vault.read('claimableRedeemRequest', redemption, ALICE)).toBe(0n)
    expect(await vault.read('pendingRedeemRequest', redemption, ALICE)).toBe(BALANCE / 2n)
    expect(await vault.outcome(ALICE, 'withdraw', [1n, ALICE, ALICE])).toBe('TransferNotAllowed')
    expect(await vault.outcome(ALICE, 'requestDeposit', [0n, ALICE, ALICE])).toBe('TransferNotAllowed')
    expect(await vault.share.outcome(ALICE, 'transfer', [BOB, 0n])).toBe('TransferNotAllowed')
    await vault.share.act(ADMIN, 'restrict', [ALICE, false])
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('55'))
  })

  test('returns a cancelled redemption once its manager agrees and takes no other request until then', async () => {
    const vault = await openInvestedVault(make)
    const redemption = make === 'counted' ? 2n : 0n
    await vault.act(ALICE, 'requestRedeem', [BALANCE / 2n, ALICE, ALICE])
    const cancelEvents = await vault.act(ALICE, 'cancelRedeemRequest', [redemption, ALICE])
    expect(cancelEvents).toMatchObject([
      { eventName: 'CancelRedeemRequest', args: { controller: ALICE, requestId: redemption, sender: ALICE } },
    ])
    expect(await vault.read('pendingCancelRedeemRequest', redemption, ALICE)).toBe(true)
    expect(await vault.outcome(ALICE, 'requestRedeem', [1n, ALICE, ALICE])).toBe('CancellationIsPending')
    expect(await vault.outcome(ALICE, 'cancelRedeemRequest', [redemption, ALICE])).toBe('CancellationIsPending')
    // The vault's manager may still settle a part of a redemption request whose cancellation is pending.
    await vault.act(SAFE, 'fulfillRedeem', [redemption, ALICE, BALANCE / 4n, usdc('25')])
    const events = await vault.act(SAFE, 'fulfillCancelRedeem', [redemption, ALICE])
    expect(events).toMatchObject([
      { eventName: 'CancelRedeemClaimable', args: { controller: ALICE, requestId: redemption, shares: BALANCE / 4n } },
    ])
    expect(await vault.read('pendingCancelRedeemRequest', redemption, ALICE)).toBe(false)
    expect(await vault.read('pendingRedeemRequest', redemption, ALICE)).toBe(0n)
    expect(await vault.read('claimableCancelRedeemRequest', redemption, ALICE)).toBe(BALANCE / 4n)
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('25'))
    const claimed = await vault.act(ALICE, 'claimCancelRedeemRequest', [redemption, CAROL, ALICE])
    expect(claimed.at(-1)).toMatchObject({
      eventName: 'CancelRedeemClaim',
      args: { controller: ALICE, receiver: CAROL, requestId: redemption, sender: ALICE, shares: BALANCE / 4n },
    })
    expect(await vault.share.read('balanceOf', CAROL)).toBe(BALANCE / 4n)
  })

  test('returns a cancelled deposit in the same way', async () => {
    const vault = await session.openAsyncVault(make)
    const deposit = make === 'counted' ? 1n : 0n
    await requestDeposit(vault, ALICE, usdc('8'))
    const cancelEvents = await vault.act(ALICE, 'cancelDepositRequest', [deposit, ALICE])
    expect(cancelEvents).toMatchObject([
      { eventName: 'CancelDepositRequest', args: { controller: ALICE, requestId: deposit } },
    ])
    await session.pay(ALICE, vault, 1n)
    expect(await vault.outcome(ALICE, 'requestDeposit', [1n, ALICE, ALICE])).toBe('CancellationIsPending')
    const events = await vault.act(SAFE, 'fulfillCancelDeposit', [deposit, ALICE])
    expect(names(events)).toEqual(['CancelDepositClaimable'])
    expect(await vault.read('claimableCancelDepositRequest', deposit, ALICE)).toBe(usdc('8'))
    const before = await session.tokensOf(BOB)
    const claimed = await vault.act(ALICE, 'claimCancelDepositRequest', [deposit, BOB, ALICE])
    expect(claimed).toMatchObject([
      {
        eventName: 'CancelDepositClaim',
        args: { controller: ALICE, receiver: BOB, requestId: deposit, sender: ALICE, assets: usdc('8') },
      },
    ])
    expect((await session.tokensOf(BOB)) - before).toBe(usdc('8'))
  })

  test('returns nothing for a cancellation of a meanwhile fully fulfilled request', async () => {
    const vault = await openInvestedVault(make)
    const redemption = make === 'counted' ? 2n : 0n
    await vault.act(ALICE, 'requestRedeem', [BALANCE, ALICE, ALICE])
    await vault.act(ALICE, 'cancelRedeemRequest', [redemption, ALICE])
    await vault.act(SAFE, 'fulfillRedeem', [redemption, ALICE, BALANCE, usdc('100')])
    expect(await vault.read('pendingCancelRedeemRequest', redemption, ALICE)).toBe(false)
    expect(await vault.outcome(SAFE, 'fulfillCancelRedeem', [redemption, ALICE])).toBe('NoPendingRequest')
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('100'))
  })

  test('converts at its manager’s current price, not at a request’s price', async () => {
    const vault = await openInvestedVault(make, 18)
    await vault.act(SAFE, 'updatePrice', [1_250_000_000_000_000_000n])
    expect(await vault.read('convertToAssets', 10n ** 18n)).toBe(usdc('1.25'))
    expect(await vault.read('convertToShares', usdc('1.25'))).toBe(10n ** 18n)
    expect(await vault.read('totalAssets')).toBe(usdc('125'))
  })
})

test('an ERC-7540 vault with aggregated request ids merges requests and accepts any id', async () => {
  const vault = await openInvestedVault('aggregated')
  await vault.act(ALICE, 'requestRedeem', [10n, ALICE, ALICE])
  await vault.act(ALICE, 'requestRedeem', [20n, ALICE, ALICE])
  for (const id of [0n, 7n]) expect(await vault.read('pendingRedeemRequest', id, ALICE)).toBe(30n)
})

test('an ERC-7540 vault with counted request ids keeps requests separate and pays the oldest first', async () => {
  const vault = await openInvestedVault('counted')
  await vault.act(ALICE, 'requestRedeem', [10_000_000n, ALICE, ALICE])
  await vault.act(ALICE, 'requestRedeem', [20_000_000n, ALICE, ALICE])
  expect(await vault.read('pendingRedeemRequest', 0n, ALICE)).toBe(0n)
  expect(await vault.read('pendingRedeemRequest', 2n, ALICE)).toBe(10_000_000n)
  expect(await vault.read('pendingRedeemRequest', 3n, ALICE)).toBe(20_000_000n)
  await vault.act(SAFE, 'fulfillRedeem', [3n, ALICE, 20_000_000n, usdc('40')])
  expect(await vault.read('maxRedeem', ALICE)).toBe(20_000_000n)
  await vault.act(SAFE, 'fulfillRedeem', [2n, ALICE, 10_000_000n, usdc('10')])
  expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('50'))
  const before = await session.tokensOf(ALICE)
  // The claim pays all of request 2 at one USDC per share, and half of request 3 at two USDC.
  await vault.act(ALICE, 'redeem', [20_000_000n, ALICE, ALICE])
  expect((await session.tokensOf(ALICE)) - before).toBe(usdc('30'))
  expect(await vault.read('claimableRedeemRequest', 2n, ALICE)).toBe(0n)
  expect(await vault.read('claimableRedeemRequest', 3n, ALICE)).toBe(10_000_000n)
  await vault.act(ALICE, 'withdraw', [usdc('20'), ALICE, ALICE])
  expect(await vault.read('maxRedeem', ALICE)).toBe(0n)
})

describe('an ERC-7540 vault with redemptions by request only', () => {
  test('reports only them by ERC-165, is its own share with the asset’s decimals, and hides its cancellations', async () => {
    const vault = await session.openAsyncVault('redemptions')
    expect(vault.share.address).toBe(vault.address)
    expect(await vault.read('decimals')).toBe(6)
    for (const [name, id] of Object.entries(INTERFACES)) {
      const isSupported = !['asyncDeposit', 'cancelRedemption', 'cancelDeposit'].includes(name)
      expect([name, await vault.read('supportsInterface', id)]).toEqual([name, isSupported])
    }
    await expect(vault.read('pendingDepositRequest', 0n, ALICE)).rejects.toThrow()
  })

  test('issues shares for a deposit instantly, as previewed', async () => {
    const vault = await session.openAsyncVault('redemptions')
    await vault.act(SAFE, 'updatePrice', [1_250_000_000_000_000_000n])
    await session.pay(ALICE, vault, usdc('20'))
    expect(await vault.read('previewDeposit', usdc('10'))).toBe(8_000_000n)
    expect(await vault.outcome(ALICE, 'deposit', [0n, ALICE])).toBe('ZERO_AMOUNT')
    await vault.act(ALICE, 'deposit', [usdc('10'), ALICE])
    await vault.act(ALICE, 'mint', [await vault.read('convertToShares', usdc('10')), ALICE])
    expect(await vault.read('balanceOf', ALICE)).toBe(16_000_000n)
    expect(await vault.read('totalAssets')).toBe(usdc('20'))
    expect(await catchErrorName(vault.read('previewRedeem', 1n))).toBe('NOT_IMPLEMENTED')
    expect(await catchErrorName(vault.read('previewWithdraw', 1n))).toBe('NOT_IMPLEMENTED')
  })

  test('names a deposit’s owner second, as the standard requires, while Centrifuge’s vault names it first', async () => {
    for (const make of ['redemptions', 'syncDeposits'] as const) {
      const vault = await session.openAsyncVault(make)
      await session.pay(ALICE, vault, usdc('20'))
      const [sender, owner] = make === 'redemptions' ? [ALICE, BOB] : [BOB, ALICE]
      const depositEvent = { eventName: 'Deposit', args: expect.objectContaining({ sender, owner }) }
      expect(await vault.act(ALICE, 'deposit', [usdc('10'), BOB])).toContainEqual(expect.objectContaining(depositEvent))
    }
  })

  test('requires the owner as the controller of a redemption and as the receiver of an operator’s claim', async () => {
    const vault = await openInvestedVault('redemptions')
    expect(await vault.outcome(ALICE, 'requestRedeem', [0n, ALICE, ALICE])).toBe('ZERO_AMOUNT')
    expect(await vault.outcome(ALICE, 'requestRedeem', [BALANCE + 1n, ALICE, ALICE])).toBe('INVALID_AMOUNT')
    expect(await vault.outcome(ALICE, 'requestRedeem', [BALANCE, BOB, ALICE])).toBe('CONTROLLER_MUST_EQUAL_OWNER')
    await vault.act(ALICE, 'approve', [BOB, BALANCE])
    expect(await vault.outcome(BOB, 'requestRedeem', [BALANCE, ALICE, ALICE])).toBe('INVALID_CONTROLLER')
    await vault.act(ALICE, 'requestRedeem', [BALANCE, ALICE, ALICE])
    await vault.act(SAFE, 'fulfillRedeem', [0n, ALICE, BALANCE, usdc('103')])
    await vault.act(ALICE, 'setOperator', [BOB, true])
    expect(await vault.outcome(BOB, 'withdraw', [1n, BOB, ALICE])).toBe('RECEIVER_MUST_EQUAL_CONTROLLER')
    const before = await session.tokensOf(ALICE)
    await vault.act(BOB, 'withdraw', [usdc('103'), ALICE, ALICE])
    expect((await session.tokensOf(ALICE)) - before).toBe(usdc('103'))
  })

  test('names the receiver of a cancelled redemption before its controller', async () => {
    const vault = await openInvestedVault('redemptions')
    await vault.act(ALICE, 'requestRedeem', [BALANCE, ALICE, ALICE])
    await vault.act(ALICE, 'cancelRedeemRequest', [0n, ALICE])
    await vault.act(SAFE, 'fulfillCancelRedeem', [0n, ALICE])
    const claimed = await vault.act(ALICE, 'claimCancelRedeemRequest', [0n, CAROL, ALICE])
    // The contract's event has the receiver (Carol) first and the controller (Alice) second. The ABI follows ERC-7887,
    // which has the controller first. The decoded event therefore names Carol as controller and Alice as receiver.
    expect(claimed.at(-1)).toMatchObject({ args: { controller: CAROL, receiver: ALICE, shares: BALANCE } })
    expect(await vault.read('balanceOf', CAROL)).toBe(BALANCE)
  })
})
