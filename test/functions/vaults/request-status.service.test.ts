import { encodeFunctionData, erc20Abi } from 'viem'
import { describe, expect } from 'vitest'
import type { LagoonGeneration } from '../../../sandbox/deploy.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { recordAllBlocks } from '../../support/records.ts'
import { test, USERS } from '../../support/service.ts'
import { expectSuccess, openAsyncVault, openLagoonVault, ROLES, type TestVault } from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const ONE = 10n ** 6n
const SHARE = 10n ** 18n
const GENERATIONS = [{ generation: '0.1' }, { generation: '0.6' }] as const

async function moveAssets({ chain, token, balanceOf }: TestVault, from: `0x${string}`, to: `0x${string}`) {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, await balanceOf(from)] })
  await transact(chain, [{ label: 'transfer', from, to: token, data }])
}

const requestRedeem = (vault: TestVault, { address }: typeof ALICE, shares: bigint) =>
  vault.act(address, 'requestRedeem', shares, address, address)

async function settleRedemptions(vault: TestVault, generation: LagoonGeneration) {
  const totalAssets = await vault.read('totalAssets')
  await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', totalAssets)
  await vault.act(ROLES.safe, 'settleRedeem', ...(generation === '0.1' ? [] : [totalAssets]))
}

describe('the status of a request that settlements skipped', () => {
  async function openEmptyVault(service: Parameters<typeof openLagoonVault>[0], generation: LagoonGeneration) {
    const vault = await openLagoonVault(service, { generation })
    for (const { address } of [ALICE, BOB]) await vault.request(address, 100n * ONE)
    await vault.settle()
    for (const { address } of [ALICE, BOB]) await vault.act(address, 'deposit', 100n * ONE, address, address)
    await moveAssets(vault, ROLES.safe, ROLES.feeReceiver)
    return vault
  }
  const of = async (vault: TestVault, kind: 'status' | 'withdrawStatus', user = ALICE) => {
    const { status, statusDescription, missedSettlements } = (await vault[kind](user)).body
    return { status, missed: missedSettlements, text: statusDescription }
  }

  test.for(GENERATIONS)(
    'Lagoon $generation counts the skipped settlements until one settles the request',
    async ({ generation }, { service }) => {
      const vault = await openEmptyVault(service, generation)
      const status = async (user = ALICE) => {
        await recordAllBlocks(vault.chain)
        // The clock advances by 31 s, because a container caches the job's progress for 30 s.
        service.pass(31)
        return of(vault, 'withdrawStatus', user)
      }
      const waits = 'Withdrawal request submitted, awaiting curator settlement.'
      await requestRedeem(vault, ALICE, 10n * SHARE)
      expect(await status()).toMatchObject({ status: 'pending', missed: 0, text: waits })
      await vault.settle()
      const passed = 'Withdrawal request submitted, passed over by 1 settlement, awaiting the next one.'
      expect(await status()).toMatchObject({ status: 'pending', missed: 1, text: passed })

      // The safe has too few assets for the redemptions. The settlement therefore settles only deposits.
      await vault.request(BOB.address, ONE)
      await moveAssets(vault, ROLES.safe, ROLES.feeReceiver)
      await requestRedeem(vault, BOB, 50n * SHARE)
      await vault.settle()
      expect(await of(vault, 'status', BOB)).toMatchObject({ status: 'claimable', missed: null })
      expect(await status()).toMatchObject({
        status: 'pending',
        missed: 2,
        text: expect.stringContaining('by 2 settlements'),
      })
      expect(await status(BOB)).toMatchObject({ status: 'pending', missed: 1 })

      // The vault's valuation is proposed before this request, so the next settlement cannot include the request. It
      // therefore does not count as a missed settlement.
      const totalAssets = await vault.read('totalAssets')
      await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', totalAssets)
      await vault.act(ALICE.address, 'transfer', USERS[2].address, SHARE)
      await requestRedeem(vault, USERS[2], SHARE)
      await vault.act(ROLES.safe, 'settleDeposit', ...(generation === '0.1' ? [] : [totalAssets]))
      expect(await status(USERS[2])).toMatchObject({ status: 'pending', missed: 0, text: waits })
      expect(await status()).toMatchObject({ status: 'pending', missed: 3 })

      await moveAssets(vault, ROLES.feeReceiver, ROLES.safe)
      await vault.settle()
      for (const user of [ALICE, BOB, USERS[2]])
        expect(await status(user)).toMatchObject({ status: 'claimable', missed: null })
      await moveAssets(vault, ROLES.safe, ROLES.feeReceiver)
      expectSuccess(await vault.send(ALICE, await vault.claimWithdrawal(ALICE)))
      await requestRedeem(vault, ALICE, SHARE)
      expect(await status()).toMatchObject({ status: 'pending', missed: 0, text: waits })
    },
  )

  test('Lagoon 0.6 counts no settlement for a request whose epoch had only cancelled ones before', async ({
    service,
  }) => {
    const vault = await openEmptyVault(service, '0.6')
    await requestRedeem(vault, ALICE, 10n * SHARE)
    await vault.act(ALICE.address, 'cancelRequestRedeem', ALICE.address)
    await vault.settle()
    await requestRedeem(vault, BOB, 10n * SHARE)
    await recordAllBlocks(vault.chain)
    service.pass(31)
    expect(await of(vault, 'withdrawStatus', BOB)).toMatchObject({ status: 'pending', missed: 0 })
    await vault.settle()
    await recordAllBlocks(vault.chain)
    service.pass(31)
    expect(await of(vault, 'withdrawStatus', BOB)).toMatchObject({ status: 'pending', missed: 1 })
  })

  test.for(GENERATIONS)(
    'Lagoon $generation counts the redemption-only settlements that skipped a deposit',
    async ({ generation }, { service }) => {
      const vault = await openLagoonVault(service, { generation })
      await vault.request(ALICE.address, 100n * ONE)
      await settleRedemptions(vault, generation)
      await recordAllBlocks(vault.chain)
      service.pass(31)
      const passed = 'Deposit request submitted, passed over by 1 settlement, awaiting the next one.'
      expect(await of(vault, 'status')).toMatchObject({ status: 'pending', missed: 1, text: passed })
      await vault.settle()
      expect(await of(vault, 'status')).toMatchObject({ status: 'claimable', missed: null })
    },
  )
})

describe('the status of a withdrawal from an ERC-7540 vault', () => {
  test.for(['aggregated', 'counted', 'redemptions'] as const)(
    'is `withdrawn` once it is paid, live and recorded: %s',
    async (make, { service }) => {
      const vault = await openAsyncVault(service, { make })
      await vault.mint(ALICE.address, 100n * ONE)
      await vault.send(ALICE, await vault.deposit(ALICE, 100n * ONE))
      const id = make === 'counted' ? 1n : 0n
      if (make !== 'redemptions') {
        await vault.act(ROLES.safe, 'fulfillDeposit', id, ALICE.address, 100n * ONE, 100n * ONE)
        await vault.send(ALICE, await vault.claim(ALICE))
      }
      const statusOf = async () => {
        const { status, missedSettlements } = (await vault.withdrawStatus(ALICE)).body
        return [status, missedSettlements]
      }
      expect(await statusOf()).toEqual(['no_active_withdrawal', null])
      await vault.send(ALICE, await vault.withdraw(ALICE, { shares: `${40n * ONE}` }))
      expect(await statusOf()).toEqual(['pending', null])
      await vault.mint(ROLES.safe, 100n * ONE)
      const request = make === 'counted' ? 2n : 0n
      await vault.act(ROLES.safe, 'fulfillRedeem', request, ALICE.address, 40n * ONE, 40n * ONE)
      expect(await statusOf()).toEqual(['claimable', null])
      await vault.send(ALICE, await vault.claimWithdrawal(ALICE))

      const wire = service.rpc[vault.chain.chainId]
      wire?.reset()
      expect(await statusOf()).toEqual(['withdrawn', null])
      // One node request reads the vault's state, and one reads the events that the job has not recorded. If vault
      // requests have ids, a third node request proves that none is open.
      expect(wire?.bodies).toHaveLength(make === 'counted' ? 3 : 2)
      expect((await vault.withdrawStatus(BOB)).body.status).toBe('no_active_withdrawal')
      await recordAllBlocks(vault.chain)
      expect(await statusOf()).toEqual(['withdrawn', null])
    },
  )
})
