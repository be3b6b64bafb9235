import { maxUint256, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LagoonGeneration } from '../../sandbox/deploy.ts'
import { ADMIN, ALICE, BOB, CAROL, SAFE, startTokenChain, usdc, VALUER } from './harness.ts'

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

const SHARE = 10n ** 18n
const BALANCE = 100n * SHARE
const PART = 40n * SHARE
const GENERATIONS = ['0.1', '0.2', '0.4', '0.5', '0.5.1', '0.6'] as const
const FROM_02 = ['0.2', '0.4', '0.5', '0.5.1', '0.6'] as const

const openInvestedVault = (generation: LagoonGeneration, { whitelisted = false } = {}) =>
  session.restore(`${generation} ${whitelisted}`, async () => {
    const vault = await session.openVault(generation, { whitelisted })
    if (whitelisted) await vault.act(ADMIN, 'addToWhitelist', [[ALICE, BOB, SAFE]])
    for (const user of [ALICE, BOB]) await session.request(vault, user, usdc('100'))
    await session.settle(vault, 0n)
    for (const user of [ALICE, BOB]) await vault.act(user, 'deposit', [usdc('100'), user, user])
    return vault
  })

type Vault = Awaited<ReturnType<typeof openInvestedVault>>

const requestPart = (vault: Vault) => vault.act(ALICE, 'requestRedeem', [PART, ALICE, ALICE])
const propose = (vault: Vault) => vault.act(VALUER, 'updateNewTotalAssets', [usdc('200')])

async function makeClaimable(vault: Vault) {
  await requestPart(vault)
  await session.settle(vault, usdc('200'))
}

describe.each(GENERATIONS)('Lagoon %s', (generation) => {
  test.each<[string, (vault: Vault) => Promise<unknown>, string, string, string]>([
    ['open without a request', async () => undefined, 'ok', 'Panic 17', 'RequestNotCancelable 0'],
    ['pending in the open epoch', requestPart, 'ok', 'RequestIdNotClaimable', 'ok'],
    [
      'pending in an epoch that a proposal closed',
      async (vault) => {
        await requestPart(vault)
        await propose(vault)
      },
      ...(['OnlyOneRequestAllowed', 'RequestIdNotClaimable', 'RequestNotCancelable 2'] as const),
    ],
    ['claimable', makeClaimable, 'ok', 'ok', 'RequestNotCancelable 2'],
    [
      'closing and pending in the open epoch',
      async (vault) => {
        await requestPart(vault)
        await vault.act(ADMIN, 'initiateClosing', [])
      },
      ...(['NotOpen 1', 'RequestIdNotClaimable', 'ok'] as const),
    ],
    [
      'closing and claimable',
      async (vault) => {
        await makeClaimable(vault)
        await vault.act(ADMIN, 'initiateClosing', [])
      },
      ...(['NotOpen 1', 'ok', 'RequestNotCancelable 2'] as const),
    ],
    [
      'closed and claimable',
      async (vault) => {
        await makeClaimable(vault)
        await session.close(vault, usdc('160'))
      },
      ...(['NotOpen 2', 'ok', 'RequestNotCancelable 2'] as const),
    ],
    ['closed', (vault) => session.close(vault, usdc('200')), 'NotOpen 2', 'ok', 'RequestNotCancelable 0'],
    [
      'paused',
      async (vault) => {
        await makeClaimable(vault)
        await vault.act(ADMIN, 'pause', [])
      },
      ...(['EnforcedPause', 'EnforcedPause', 'EnforcedPause'] as const),
    ],
    [
      'closed and paused',
      async (vault) => {
        await session.close(vault, usdc('200'))
        await vault.act(ADMIN, 'pause', [])
      },
      ...(['NotOpen 2', 'EnforcedPause', 'EnforcedPause'] as const),
    ],
  ])(
    'accepts or refuses requests, claims and cancellations while %s',
    async (_, reach, requested, claimed, cancelled) => {
      const vault = await openInvestedVault(generation)
      await reach(vault)
      expect(await vault.outcome(ALICE, 'requestRedeem', [PART, ALICE, ALICE])).toBe(requested)
      if (generation !== '0.1')
        expect(await vault.outcome(ALICE, 'claimSharesAndRequestRedeem', [PART])).toBe(requested)
      expect(await vault.outcome(ALICE, 'redeem', [PART, ALICE, ALICE])).toBe(claimed)
      expect(await vault.outcome(ALICE, 'withdraw', [usdc('30'), ALICE, ALICE])).toBe(claimed)
      if (generation === '0.6') expect(await vault.outcome(ALICE, 'cancelRequestRedeem', [ALICE])).toBe(cancelled)
      else expect(await vault.outcome(ALICE, 'cancelRequestRedeem', [ALICE])).toBe('execution reverted')
    },
  )

  test('accepts a redemption of zero, but not of more than the balance or the claimable amount', async () => {
    const vault = await openInvestedVault(generation)
    for (const functionName of ['requestRedeem', 'redeem', 'withdraw'] as const) {
      expect(await vault.outcome(ALICE, functionName, [0n, ALICE, ALICE])).toBe('ok')
    }
    const more = await vault.outcome(ALICE, 'requestRedeem', [BALANCE + 1n, ALICE, ALICE])
    expect(more).toBe(`ERC20InsufficientBalance ${ALICE} ${BALANCE} ${BALANCE + 1n}`)
    await makeClaimable(vault)
    expect(await vault.outcome(ALICE, 'redeem', [PART + 1n, ALICE, ALICE])).toBe('Panic 17')
  })

  test('accepts a request for controller 0 only before 0.5.1', async () => {
    const vault = await openInvestedVault(generation)
    const refused = generation === '0.5.1' || generation === '0.6'
    const expected = refused ? `InvalidController ${zeroAddress}` : 'ok'
    expect(await vault.outcome(ALICE, 'requestRedeem', [PART, zeroAddress, ALICE])).toBe(expected)
    await session.pay(ALICE, vault, usdc('1'))
    expect(await vault.outcome(ALICE, 'requestDeposit', [usdc('1'), zeroAddress, ALICE])).toBe(expected)
  })

  test('lets a spender or operator request, and lets an operator claim to any receiver', async () => {
    const vault = await openInvestedVault(generation)
    const refused = `ERC20InsufficientAllowance ${BOB} 0 ${PART}`
    expect(await vault.outcome(BOB, 'requestRedeem', [PART, BOB, ALICE])).toBe(refused)
    await vault.act(ALICE, 'approve', [BOB, PART])
    expect(await vault.outcome(BOB, 'requestRedeem', [PART, BOB, ALICE])).toBe('ok')
    await vault.act(ALICE, 'approve', [BOB, 0n])
    await makeClaimable(vault)
    expect(await vault.outcome(BOB, 'redeem', [PART, BOB, ALICE])).toBe('ERC7540InvalidOperator')
    await vault.act(ALICE, 'setOperator', [BOB, true])
    expect(await vault.outcome(BOB, 'redeem', [PART, CAROL, ALICE])).toBe('ok')
    expect(await vault.outcome(BOB, 'requestRedeem', [PART, BOB, ALICE])).toBe('ok')
    await vault.act(ALICE, 'setOperator', [BOB, false])
    await vault.act(ALICE, 'redeem', [PART, ALICE, ALICE])
    await session.close(vault, usdc('160'))
    expect(await vault.outcome(BOB, 'redeem', [PART, BOB, ALICE])).toBe(refused)
  })

  test('treats an account removed from the whitelist differently by version', async () => {
    const vault = await openInvestedVault(generation, { whitelisted: true })
    await makeClaimable(vault)
    await session.request(vault, BOB, usdc('5'))
    await vault.act(ADMIN, 'revokeFromWhitelist', [[ALICE, BOB]])
    const refusal = (account: string) => (generation === '0.6' ? `AddressNotAllowed ${account}` : 'NotWhitelisted')
    expect(await vault.outcome(ALICE, 'requestRedeem', [PART, ALICE, ALICE])).toBe(refusal(ALICE))
    if (generation !== '0.1') {
      const unchecked = generation === '0.2' || generation === '0.4'
      const expected = unchecked ? 'ok' : refusal(ALICE)
      expect(await vault.outcome(ALICE, 'claimSharesAndRequestRedeem', [PART])).toBe(expected)
    }
    const checksClaims = generation === '0.5.1' || generation === '0.6'
    expect(await vault.outcome(ALICE, 'redeem', [PART, ALICE, ALICE])).toBe(checksClaims ? refusal(ALICE) : 'ok')
    expect(await vault.outcome(BOB, 'cancelRequestDeposit', [])).toBe(checksClaims ? refusal(BOB) : 'ok')
    await vault.act(ADMIN, 'addToWhitelist', [[ALICE]])
    expect(await vault.outcome(ALICE, 'redeem', [PART, CAROL, ALICE])).toBe(checksClaims ? refusal(CAROL) : 'ok')
    const toUnlisted = await vault.outcome(ALICE, 'requestRedeem', [PART, CAROL, ALICE])
    expect(toUnlisted).toBe(checksClaims ? refusal(CAROL) : 'ok')
  })
})

test.each(['0.5', '0.5.1', '0.6'] as const)(
  'Lagoon %s takes redemption requests but no new valuation while its valuation is valid',
  async (generation) => {
    const vault = await openInvestedVault(generation)
    await vault.act(SAFE, 'updateTotalAssetsLifespan', [3600n])
    await session.settle(vault, usdc('200'))
    expect(await vault.outcome(ALICE, 'requestRedeem', [PART, ALICE, ALICE])).toBe('ok')
    expect(await vault.outcome(VALUER, 'updateNewTotalAssets', [0n])).toBe('ValuationUpdateNotAllowed')
  },
)

describe.each(GENERATIONS)('a redemption of Lagoon %s', (generation) => {
  test('waits until the safe can pay and is paid at that settlement’s price, while closing reverts', async () => {
    const vault = await openInvestedVault(generation)
    await requestPart(vault)
    await session.settle(vault, usdc('900000000'))
    expect(await vault.read('pendingRedeemRequest', 0n, ALICE)).toBe(PART)
    await session.settle(vault, usdc('100'))
    const paid = (PART * (usdc('100') + 1n)) / (2n * BALANCE + 10n ** 12n)
    expect(await vault.read('convertToAssets', PART, 2n)).toBe(paid)

    const short = await openInvestedVault(generation)
    await short.act(ADMIN, 'initiateClosing', [])
    await short.act(VALUER, 'updateNewTotalAssets', [usdc('900000000')])
    const args = generation === '0.1' ? ([] as const) : ([usdc('900000000')] as const)
    expect(await short.outcome(SAFE, 'close', args)).toContain('ERC20InsufficientBalance')
  })

  test('is reported in every state for its own id or 0, and for no other id', async () => {
    const vault = await openInvestedVault(generation)
    await requestPart(vault)
    expect(await vault.read('pendingRedeemRequest', 2n, ALICE)).toBe(PART)
    // The vault converts at the initial rate of 1:1 for an unsettled request and for an unknown request id.
    for (const id of [0n, 2n, 98n]) expect(await vault.read('convertToAssets', SHARE, id)).toBe(usdc('1'))
    await session.settle(vault, usdc('100'))
    await vault.act(ADMIN, 'pause', [])
    for (const id of [0n, 2n]) expect(await vault.read('claimableRedeemRequest', id, ALICE)).toBe(PART)
    for (const id of [1n, 4n, 98n]) expect(await vault.read('claimableRedeemRequest', id, ALICE)).toBe(0n)
    for (const id of [0n, 1n, 4n, 98n]) expect(await vault.read('pendingRedeemRequest', id, ALICE)).toBe(0n)
  })

  test('leaves worthless shares when claimed by assets, and none when claimed by shares', async () => {
    const vault = await openInvestedVault(generation)
    await requestPart(vault)
    await session.settle(vault, usdc('200') + 1n)
    const claimable = await vault.read('convertToAssets', PART, 2n)
    await vault.act(ALICE, 'withdraw', [claimable, ALICE, ALICE])
    const dust = await vault.read('claimableRedeemRequest', 0n, ALICE)
    expect(dust).toBeGreaterThan(0n)
    expect(await vault.read('convertToAssets', dust, 2n)).toBe(0n)
    await session.close(vault, usdc('160'))
    // The claim by assets left some worthless shares (dust) of Alice's request claimable. The closed vault redeems her
    // other shares only after she has claimed the dust.
    expect(await vault.outcome(ALICE, 'redeem', [60n * SHARE, ALICE, ALICE])).toBe('Panic 17')
    await vault.act(ALICE, 'redeem', [dust, ALICE, ALICE])
    expect(await vault.outcome(ALICE, 'redeem', [60n * SHARE, ALICE, ALICE])).toBe('ok')
  })

  test('worth nothing never settles until another joins it', async () => {
    const vault = await openInvestedVault(generation)
    await vault.act(ALICE, 'requestRedeem', [1n, ALICE, ALICE])
    for (let settlements = 0; settlements < 2; settlements += 1) await session.settle(vault, usdc('200'))
    expect(await vault.read('pendingRedeemRequest', 0n, ALICE)).toBe(1n)
    await vault.act(BOB, 'requestRedeem', [PART, BOB, BOB])
    await session.settle(vault, usdc('200'))
    expect(await vault.read('claimableRedeemRequest', 0n, ALICE)).toBe(1n)
  })

  test('by a third party for a victim claims for the victim and blocks its next request', async () => {
    const vault = await openInvestedVault(generation)
    await makeClaimable(vault)
    const before = await session.tokensOf(ALICE)
    await vault.act(BOB, 'requestRedeem', [1n, ALICE, BOB])
    expect((await session.tokensOf(ALICE)) - before).toBe(usdc('40'))
    await propose(vault)
    expect(await vault.outcome(ALICE, 'requestRedeem', [PART, ALICE, ALICE])).toBe('OnlyOneRequestAllowed')
  })

  test('of a closed vault uses claimable shares first, then shares of an unclaimed deposit', async () => {
    const vault = await openInvestedVault(generation)
    await session.request(vault, ALICE, usdc('7'))
    await makeClaimable(vault)
    await session.close(vault, usdc('167'))
    await vault.act(ALICE, 'redeem', [PART, ALICE, ALICE])
    await vault.act(ALICE, 'deposit', [usdc('7'), ALICE, ALICE])
    const before = await session.tokensOf(ALICE)
    await vault.act(ALICE, 'redeem', [67n * SHARE, ALICE, ALICE])
    expect((await session.tokensOf(ALICE)) - before).toBe(usdc('67'))
  })
})

test.each(GENERATIONS)(
  'a deposit of Lagoon %s can be cancelled repeatedly in its epoch, even in a closed vault',
  async (generation) => {
    const vault = await openInvestedVault(generation)
    await session.close(vault, usdc('200'))
    await session.request(vault, ALICE, usdc('5'))
    const before = await session.tokensOf(ALICE)
    for (const paid of [usdc('5'), usdc('5')]) {
      const events = await vault.act(ALICE, 'cancelRequestDeposit', [])
      expect(events).toMatchObject([{ eventName: 'DepositRequestCanceled' }])
      expect((await session.tokensOf(ALICE)) - before).toBe(paid)
    }
  },
)

describe.each(FROM_02)('the claimable amount of Lagoon %s', (generation) => {
  test('is zero while paused, and the balance when closed with nothing claimable', async () => {
    const vault = await openInvestedVault(generation)
    expect(await vault.read('maxRedeem', ALICE)).toBe(0n)
    await makeClaimable(vault)
    expect(await vault.read('maxRedeem', ALICE)).toBe(PART)
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('40'))
    await vault.act(ADMIN, 'pause', [])
    expect(await vault.read('maxRedeem', ALICE)).toBe(0n)
    expect(await vault.read('maxWithdraw', ALICE)).toBe(0n)
    await vault.act(ADMIN, 'unpause', [])
    await session.close(vault, usdc('160'))
    expect(await vault.read('maxRedeem', ALICE)).toBe(PART)
    expect(await vault.read('maxRedeem', BOB)).toBe(BALANCE)
    expect(await vault.read('maxWithdraw', BOB)).toBe(usdc('100'))
  })

  test('is claimed whole with a new redemption request', async () => {
    const vault = await openInvestedVault(generation)
    await session.request(vault, ALICE, usdc('7'))
    await session.settle(vault, usdc('200'))
    const events = await vault.act(ALICE, 'claimSharesAndRequestRedeem', [107n * SHARE])
    expect(events.map(({ eventName }) => eventName)).toEqual(['Transfer', 'Deposit', 'Transfer', 'RedeemRequest'])
    expect(await vault.read('pendingRedeemRequest', 0n, ALICE)).toBe(107n * SHARE)
  })

  test('is not lost through a proposal before the closing', async () => {
    const vault = await openInvestedVault(generation)
    await propose(vault)
    await requestPart(vault)
    await vault.act(ADMIN, 'initiateClosing', [])
    await vault.act(SAFE, 'close', [usdc('200')])
    expect(await vault.read('claimableRedeemRequest', 0n, ALICE)).toBe(PART)
  })
})

describe('the claimable amount of Lagoon 0.1', () => {
  test('is the claimable shares even if paused or closed, and the balance’s value as assets', async () => {
    const vault = await openInvestedVault('0.1')
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('100'))
    await makeClaimable(vault)
    await vault.act(ADMIN, 'pause', [])
    expect(await vault.read('maxRedeem', ALICE)).toBe(PART)
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('60'))
    await vault.act(ADMIN, 'unpause', [])
    await session.close(vault, usdc('160'))
    expect(await vault.read('maxRedeem', BOB)).toBe(0n)
    expect(await vault.outcome(BOB, 'redeem', [BALANCE, BOB, BOB])).toBe('ok')
  })

  test('never includes requests between the last proposal and the closing', async () => {
    const vault = await openInvestedVault('0.1')
    await propose(vault)
    await requestPart(vault)
    await vault.act(ADMIN, 'initiateClosing', [])
    await vault.act(SAFE, 'close', [])
    expect(await vault.read('pendingRedeemRequest', 0n, ALICE)).toBe(PART)
    const left = BALANCE - PART
    expect(await vault.outcome(ALICE, 'redeem', [left, ALICE, ALICE])).toBe('ok')
    const more = await vault.outcome(ALICE, 'redeem', [left + 1n, ALICE, ALICE])
    expect(more).toBe(`ERC20InsufficientBalance ${ALICE} ${left} ${left + 1n}`)
  })
})

describe('an instant redemption of Lagoon 0.6', () => {
  /** Opens a vault whose valuation is valid for an hour. So deposits and redemptions are synchronous. */
  async function openSyncVault(options: { whitelisted?: boolean } = {}) {
    const vault = await openInvestedVault('0.6', options)
    await vault.act(SAFE, 'updateTotalAssetsLifespan', [3600n])
    await session.settle(vault, usdc('200'))
    return vault
  }

  const attempt = (vault: Vault, minimum = 0n) => vault.outcome(ALICE, 'syncRedeem', [PART, ALICE, minimum])

  test('accepts zero and shares beside a pending request, but no unclaimed shares', async () => {
    const vault = await openInvestedVault('0.6')
    await session.request(vault, ALICE, usdc('7'))
    // A request for the smallest unit of a share is worth no assets. So the settlement leaves the request pending in
    // its epoch.
    await vault.act(ALICE, 'requestRedeem', [1n, ALICE, ALICE])
    await vault.act(SAFE, 'updateTotalAssetsLifespan', [3600n])
    await session.settle(vault, usdc('200'))
    expect(await vault.outcome(ALICE, 'requestRedeem', [PART, ALICE, ALICE])).toBe('OnlyOneRequestAllowed')
    expect(await vault.outcome(ALICE, 'syncRedeem', [0n, ALICE, 0n])).toBe('ok')
    expect(await vault.outcome(ALICE, 'syncRedeem', [BALANCE - 1n, ALICE, 0n])).toBe('ok')
    const more = await vault.outcome(ALICE, 'syncRedeem', [BALANCE, ALICE, 0n])
    expect(more).toBe(`ERC20InsufficientBalance ${ALICE} ${BALANCE - 1n} ${BALANCE}`)
  })

  test.each<[string, string, (vault: Vault) => Promise<unknown>]>([
    ['is for deposits only', 'SyncOperationNotAllowed', (vault) => vault.act(SAFE, 'setSyncMode', [1])],
    ['is for nothing', 'SyncOperationNotAllowed', (vault) => vault.act(SAFE, 'setSyncMode', [3])],
    ['ended for ever', 'SyncOperationNotAllowed', (vault) => vault.act(ADMIN, 'activateAsyncOnly', [])],
    [
      'is for redemptions, but the valuation expired',
      'TotalAssetsExpired',
      (vault) => vault.act(SAFE, 'expireTotalAssets', []),
    ],
    ['is paused', 'EnforcedPause', (vault) => vault.act(ADMIN, 'pause', [])],
    ['is closing', 'NotOpen 1', (vault) => vault.act(ADMIN, 'initiateClosing', [])],
  ])('is refused if the mode %s', async (_, refusal, reach) => {
    const vault = await openSyncVault()
    await reach(vault)
    expect(await attempt(vault)).toBe(refusal)
    const isPreviewZero = refusal !== 'NotOpen 1'
    expect(await vault.read('previewSyncRedeem', PART)).toBe(isPreviewZero ? 0n : usdc('40'))
  })

  test('is refused if the safe lacks assets or allowance, which the preview ignores', async () => {
    const vault = await openSyncVault()
    await session.approve(SAFE, vault.address, usdc('39'))
    expect(await attempt(vault)).toBe(`ERC20InsufficientAllowance ${vault.address} ${usdc('39')} ${usdc('40')}`)
    await session.approve(SAFE, vault.address, maxUint256)
    const balance = await session.tokensOf(SAFE)
    await session.transfer(SAFE, CAROL, balance - usdc('39'))
    expect(await attempt(vault)).toBe(`ERC20InsufficientBalance ${SAFE} ${usdc('39')} ${usdc('40')}`)
    expect(await vault.read('previewSyncRedeem', PART)).toBe(usdc('40'))
  })

  test('is refused below the minimum, for receiver 0, and for accounts off the whitelist', async () => {
    const vault = await openSyncVault({ whitelisted: true })
    expect(await attempt(vault, usdc('40'))).toBe('ok')
    expect(await attempt(vault, usdc('40') + 1n)).toBe(`BelowMinimumAssets ${usdc('40')} ${usdc('40') + 1n}`)
    const nowhere = await vault.outcome(ALICE, 'syncRedeem', [PART, zeroAddress, 0n])
    expect(nowhere).toBe(`InvalidReceiver ${zeroAddress}`)
    const toCarol = await vault.outcome(ALICE, 'syncRedeem', [PART, CAROL, 0n])
    expect(toCarol).toBe(`AddressNotAllowed ${CAROL}`)
    await vault.act(ADMIN, 'revokeFromWhitelist', [[ALICE]])
    expect(await attempt(vault)).toBe(`AddressNotAllowed ${ALICE}`)
  })
})

describe('a Lagoon 0.6 redemption', () => {
  test('can be cancelled while its epoch is open, even if zero or by an account off the whitelist', async () => {
    const vault = await openInvestedVault('0.6', { whitelisted: true })
    await requestPart(vault)
    await vault.act(ADMIN, 'revokeFromWhitelist', [[ALICE]])
    for (const shares of [PART, 0n]) {
      const events = await vault.act(ALICE, 'cancelRequestRedeem', [ALICE])
      expect(events.at(-1)).toMatchObject({
        eventName: 'RedeemRequestCanceled',
        args: { requestId: 2n, controller: ALICE, shares },
      })
    }
    expect(await vault.read('balanceOf', ALICE)).toBe(BALANCE)
  })

  test('may be claimed by the safe, which the events name as the sender', async () => {
    const vault = await openInvestedVault('0.6', { whitelisted: true })
    await vault.act(ADMIN, 'revokeFromWhitelist', [[SAFE]])
    await makeClaimable(vault)
    const before = await session.tokensOf(ALICE)
    const events = await vault.act(SAFE, 'claimAssetsOnBehalf', [[ALICE, BOB]])
    expect(events).toMatchObject([
      { eventName: 'Withdraw', args: { sender: SAFE, receiver: ALICE, owner: ALICE, shares: PART } },
    ])
    expect((await session.tokensOf(ALICE)) - before).toBe(usdc('40'))
    expect(await vault.outcome(ALICE, 'claimAssetsOnBehalf', [[ALICE]])).toBe(`OnlySafe ${SAFE}`)
  })
})
