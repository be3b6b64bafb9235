import { describe, expect } from 'vitest'
import { expectError } from '../../support/errors.ts'
import { readConsistentViews } from '../../support/records.ts'
import { test, USERS } from '../../support/service.ts'
import { openAsyncVault, openLagoonVault, ROLES } from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const UNIT = 10n ** 18n

describe('a request made for the user whose claim gives nothing is not claimable', () => {
  test.for([{ generation: '0.1' }, { generation: '0.6' }] as const)(
    'a withdrawal from Lagoon $generation',
    async (options, { service }) => {
      const vault = await openLagoonVault(service, options)
      await vault.request(BOB.address, 100_000_000n)
      await vault.settle()
      await vault.act(BOB.address, 'deposit', 100_000_000n, BOB.address, BOB.address)
      await vault.act(BOB.address, 'requestRedeem', 1n, ALICE.address, BOB.address)
      await vault.act(BOB.address, 'requestRedeem', 10n * UNIT, BOB.address, BOB.address)
      await vault.settle()
      expect(await vault.read('claimableRedeemRequest', 0n, ALICE.address)).toBe(1n)
      expect((await vault.withdrawStatus(ALICE)).body).toMatchObject({
        status: 'withdrawn',
        amounts: { pendingRedeemShares: '0', claimableAssets: '0', claimableShares: '0' },
      })
      expectError(await vault.claimWithdrawal(ALICE), 'no_claimable_withdrawal')
      const { withdrawals } = await readConsistentViews(service, vault, ALICE.address)
      expect(withdrawals.map(({ status }: { status: string }) => status)).not.toContain('claimable')
    },
  )

  test('a deposit into an ERC-7540 vault', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'deposits' })
    await vault.mint(BOB.address, 1n)
    await vault.approve(BOB.address, 1n)
    await vault.act(BOB.address, 'requestDeposit', 1n, ALICE.address, BOB.address)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 1n, 0n)
    expect(await vault.read('maxDeposit', ALICE.address)).toBe(1n)
    expect((await vault.status(ALICE)).body).toMatchObject({
      status: 'no_active_deposit',
      amounts: { pendingDeposit: '0', claimableShares: '0' },
    })
    expectError(await vault.claim(ALICE), 'no_claimable_deposit')
    const { position, deposits } = await readConsistentViews(service, vault, ALICE.address)
    expect(deposits).toMatchObject([{ status: 'completed', amounts: { claimableShares: '0' } }])
    expect(position).toMatchObject({ statusBreakdown: { claimable: 0 }, currentValue: '0' })
  })
})
