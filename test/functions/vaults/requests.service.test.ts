import { describe, expect } from 'vitest'
import type { LagoonGeneration } from '../../../sandbox/deploy.ts'
import { revertCalls } from '../../support/chain-answers.ts'
import { expectError } from '../../support/errors.ts'
import { type Service, test, USERS } from '../../support/service.ts'
import {
  type Asset,
  expectFairGas,
  expectSuccess,
  openLagoonVault,
  openYieldVault,
  ROLES,
  type TestVault,
} from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS

/** One Lagoon version for each way in which the service handles requests. */
const GENERATIONS = ['0.1', '0.6'] as const
const ASSETS = ['USDC', 'DAI'] as const
/** Gives each Lagoon version only one token, because the service handles tokens in the same way for all versions. */
const EVERY = GENERATIONS.map((generation, index) => ({ generation, asset: ASSETS[index % 2] ?? 'USDC' }))
const EACH = GENERATIONS.map((generation) => ({ generation }))
const FEES = { entryRate: 12, exitRate: 37, haircutRate: 1_234 }
const KINDS = ['deposit', 'withdrawal'] as const

type Options = {
  readonly generation: LagoonGeneration
  readonly asset?: Asset
  readonly whitelisted?: boolean
}

const SELECTORS: Readonly<Record<string, string>> = {
  '0xba087652': 'redeem',
  '0x9c428921': 'cancelRequestDeposit',
  '0x0953d841': 'cancelRequestRedeem',
}

async function investInVault(service: Service, { generation, ...options }: Options): Promise<TestVault> {
  const vault = await openLagoonVault(service, { generation, ...options, ...(generation === '0.6' && FEES) })
  if (options.whitelisted) await vault.act(ROLES.admin, 'addToWhitelist', [ALICE.address, BOB.address])
  await vault.request(BOB.address, vault.units('777.7'))
  await vault.request(ALICE.address, vault.units('1000.000001'))
  await vault.settle()
  const claimable = await vault.read('claimableDepositRequest', 0n, ALICE.address)
  await vault.act(ALICE.address, 'deposit', claimable, ALICE.address, ALICE.address)
  await vault.settle(vault.units('33.333333'))
  return vault
}

const openVaultWithShares = (service: Service, options: Options) =>
  service.restore(`shares ${JSON.stringify(options)}`, () => investInVault(service, options))

const sharesOf = (vault: TestVault) => vault.read('balanceOf', ALICE.address)
const redeemable = (vault: TestVault) => vault.read('claimableRedeemRequest', 0n, ALICE.address)
const redeeming = (vault: TestVault) => vault.read('pendingRedeemRequest', 0n, ALICE.address)
const depositing = (vault: TestVault) => vault.read('pendingDepositRequest', 0n, ALICE.address)
const requestRedeem = (vault: TestVault, shares: bigint) =>
  vault.act(ALICE.address, 'requestRedeem', shares, ALICE.address, ALICE.address)
const refusedClaim = async (vault: TestVault) =>
  vault.refusal(ALICE.address, 'redeem', await redeemable(vault), ALICE.address, ALICE.address)
const propose = async (vault: TestVault) =>
  vault.act(ROLES.valuationManager, 'updateNewTotalAssets', await vault.read('totalAssets'))

async function startClosing(vault: TestVault) {
  await propose(vault)
  await vault.act(ROLES.admin, 'initiateClosing')
}

async function finishClosing(vault: TestVault, generation: LagoonGeneration) {
  await vault.act(ROLES.safe, 'close', ...(generation === '0.1' ? [] : [await vault.read('totalAssets')]))
}

/** Opens a vault in which Alice can claim a third of her shares. The share price has changed since the settlement. */
const openVaultWithClaim = (service: Service, options: Options) =>
  service.restore(`claim ${JSON.stringify(options)}`, async () => {
    const vault = await investInVault(service, options)
    await requestRedeem(vault, (await sharesOf(vault)) / 3n)
    await vault.settle()
    await vault.settle(vault.units('17.171717'))
    return vault
  })

async function send(vault: TestVault, reply: Awaited<ReturnType<TestVault['claim']>>, call: string) {
  expect(reply.body).toMatchObject({
    approval: [],
    simulation: { status: 'success' },
    protocol: 'lagoon',
    chainId: 8453,
    isCrossChain: false,
  })
  expect(reply.body.operations.map(({ data }: { data: string }) => SELECTORS[data.slice(0, 10)])).toEqual([call])
  const [assets, shares] = [await vault.balanceOf(ALICE.address), await sharesOf(vault)]
  const receipts = await vault.send(ALICE, reply)
  expectSuccess(receipts)
  expectFairGas(reply, receipts)
  return { assets: (await vault.balanceOf(ALICE.address)) - assets, shares: (await sharesOf(vault)) - shares }
}

async function expectClaim(vault: TestVault) {
  const shares = await redeemable(vault)
  expect(shares).toBeGreaterThan(0n)
  const reply = await vault.claimWithdrawal(ALICE)
  const { assets } = await send(vault, reply, 'redeem')
  expect(reply.body).toMatchObject({ isAsync: true, claimable: { assets: `${assets}`, shares: `${shares}` } })
  expect(await redeemable(vault)).toBe(0n)
  expectError(await vault.claimWithdrawal(ALICE), 'no_claimable_withdrawal')
  return assets
}

async function expectCancellation(vault: TestVault, kind: (typeof KINDS)[number]) {
  const pending = await (kind === 'deposit' ? depositing(vault) : redeeming(vault))
  expect(pending).toBeGreaterThan(0n)
  const reply = await vault.cancel(ALICE, kind)
  const back = await send(vault, reply, kind === 'deposit' ? 'cancelRequestDeposit' : 'cancelRequestRedeem')
  expect(back).toEqual(kind === 'deposit' ? { assets: pending, shares: 0n } : { assets: 0n, shares: pending })
  const cancelled = kind === 'deposit' ? { assets: `${pending}` } : { shares: `${pending}` }
  expect(reply.body).toMatchObject({ isAsync: false, cancelled })
  expectError(await vault.cancel(ALICE, kind), 'no_pending_request')
}

const statusOf = async (vault: TestVault) => {
  const { status, body } = await vault.withdrawStatus(ALICE)
  expect(status).toBe(200)
  return body
}
const NO_REQUESTS = {
  amounts: { pendingRedeemShares: '0', claimableAssets: '0', claimableShares: '0' },
  nextPollAfterMs: null,
}

/** Functions of the vault that the service does not need for the claim of a redemption. */
const NOT_OF_WITHDRAWALS = [
  'pendingDepositRequest(uint256,address)',
  'claimableDepositRequest(uint256,address)',
  'maxMint(address)',
  'balanceOf(address)',
  'totalAssets()',
  'totalSupply()',
  'convertToAssets(uint256)',
  'allowance(address,address)',
]

describe('the claim of a withdrawal', () => {
  test.for(EVERY)(
    'Lagoon $generation of $asset pays the promised amount at its settlement price, to the unit, without dust',
    async (options, { service }) => {
      const vault = await openVaultWithShares(service, options)
      expectError(await vault.claimWithdrawal(ALICE), 'no_claimable_withdrawal')
      await requestRedeem(vault, (await sharesOf(vault)) / 3n)
      expectError(await vault.claimWithdrawal(ALICE), 'no_claimable_withdrawal')
      await vault.settle()
      const promised = (await vault.claimWithdrawal(ALICE)).body.claimable
      await vault.settle(vault.units('17.171717'))
      expect(`${await expectClaim(vault)}`).toBe(promised.assets)
    },
  )

  test.for(EVERY)(
    'Lagoon $generation of $asset pays it while closing, and when closed before instant withdrawals',
    async (options, { service }) => {
      const vault = await openVaultWithClaim(service, options)
      await startClosing(vault)
      await expectClaim(vault)

      const other = await openVaultWithClaim(service, options)
      const shares = await sharesOf(other)
      await startClosing(other)
      await finishClosing(other, options.generation)
      await expectClaim(other)
      expect(await sharesOf(other)).toBe(shares)
    },
  )

  test.for(EACH)(
    'Lagoon $generation pays an account no longer on its list exactly when its contract does',
    async ({ generation }, { service }) => {
      const vault = await openVaultWithClaim(service, { generation, whitelisted: true })
      await vault.act(ROLES.admin, 'revokeFromWhitelist', [ALICE.address])
      if (generation === '0.6') {
        expectError(await vault.claimWithdrawal(ALICE), 'depositor_not_allowed')
        expect(await refusedClaim(vault)).toBe('AddressNotAllowed')
      } else await expectClaim(vault)
    },
  )

  test('The dust after a withdrawal of an amount is worth nothing and not claimable', async ({ service }) => {
    const vault = await openVaultWithClaim(service, { generation: '0.6' })
    const assets = await vault.read('maxWithdraw', ALICE.address)
    await vault.act(ALICE.address, 'withdraw', assets, ALICE.address, ALICE.address)
    expect(await redeemable(vault)).toBeGreaterThan(0n)
    expectError(await vault.claimWithdrawal(ALICE), 'no_claimable_withdrawal')
    expect((await vault.withdrawStatus(ALICE)).body.status).toBe('withdrawn')
  })

  test.for(EACH)(
    'A settled deposit and a settled withdrawal are claimed separately in Lagoon $generation',
    async (options, { service }) => {
      const vault = await openVaultWithShares(service, options)
      await requestRedeem(vault, 10n ** 18n)
      await vault.request(ALICE.address, vault.units('12.345678'))
      await vault.settle()
      const shares = await sharesOf(vault)
      await expectClaim(vault)
      const deposit = await vault.claim(ALICE)
      expectSuccess(await vault.send(ALICE, deposit))
      expect(`${(await sharesOf(vault)) - shares}`).toBe(deposit.body.claimable.shares)
      expect(deposit.body.claimable.assets).toBe(`${vault.units('12.345678')}`)
    },
  )
})

describe('the cancellation of a deposit', () => {
  test.for(EVERY)(
    'Lagoon $generation of $asset returns all requests of the epoch, to the unit',
    async (options, { service }) => {
      const vault = await openVaultWithShares(service, options)
      expectError(await vault.cancel(ALICE), 'no_pending_request')
      await vault.request(ALICE.address, vault.units('12.345678'))
      await vault.request(ALICE.address, 1n)
      await expectCancellation(vault, 'deposit')
    },
  )

  test.for(EACH)(
    'Lagoon $generation returns the deposit while closing and when closed',
    async (options, { service }) => {
      const vault = await openVaultWithShares(service, options)
      await startClosing(vault)
      await vault.request(ALICE.address, 1_000_007n)
      await expectCancellation(vault, 'deposit')
      await finishClosing(vault, options.generation)
      await vault.request(ALICE.address, 1_000_007n)
      await expectCancellation(vault, 'deposit')
    },
  )

  test.for(EACH)(
    'Lagoon $generation returns it to an account no longer on its list exactly when its contract does',
    async ({ generation }, { service }) => {
      const vault = await openVaultWithShares(service, { generation, whitelisted: true })
      await vault.request(ALICE.address, 1_000_007n)
      await vault.act(ROLES.admin, 'revokeFromWhitelist', [ALICE.address])
      if (generation === '0.6') {
        expectError(await vault.cancel(ALICE), 'depositor_not_allowed')
        expect(await vault.refusal(ALICE.address, 'cancelRequestDeposit')).toBe('AddressNotAllowed')
      } else await expectCancellation(vault, 'deposit')
    },
  )

  test('In a vault of an unknown version, the dry run decides', async ({ service }) => {
    const vault = await openVaultWithShares(service, { generation: '0.5' })
    await vault.request(ALICE.address, 1_000_007n)
    await vault.upgrade('unknown')
    await expectCancellation(vault, 'deposit')
    await vault.upgrade('0.5')
    await vault.request(ALICE.address, 1_000_007n)
    await propose(vault)
    await vault.upgrade('unknown')
    expectError(await vault.cancel(ALICE), 'request_can_no_longer_be_cancelled', ['vaultAddress'])
  })
})

describe('the cancellation of a withdrawal', () => {
  test.for(ASSETS.map((asset) => ({ asset })))(
    'Lagoon 0.6 of $asset returns all shares requested in the epoch, open and closing',
    async ({ asset }, { service }) => {
      const vault = await openVaultWithShares(service, { generation: '0.6', asset })
      const third = (await sharesOf(vault)) / 3n
      expectError(await vault.cancel(ALICE, 'withdrawal'), 'no_pending_request')
      await requestRedeem(vault, third)
      await requestRedeem(vault, 1n)
      // Alice also has a pending deposit request. The cancellation of her redemption must not change that deposit.
      await vault.request(ALICE.address, 1_000_007n)
      await expectCancellation(vault, 'withdrawal')
      expect(await depositing(vault)).toBe(1_000_007n)

      await propose(vault)
      await requestRedeem(vault, third)
      await vault.act(ROLES.admin, 'initiateClosing')
      const { body, status } = await vault.cancel(ALICE, 'withdrawal')
      const refusal = await vault.refusal(ALICE.address, 'cancelRequestRedeem', ALICE.address)
      expect([status, body.code]).toEqual(refusal ? [409, 'request_can_no_longer_be_cancelled'] : [200, undefined])
    },
  )

  test('Lagoon 0.5 returns no shares because its contract has no such call', async ({ service }) => {
    const vault = await openVaultWithShares(service, { generation: '0.5' })
    await requestRedeem(vault, 10n ** 18n)
    expectError(await vault.cancel(ALICE, 'withdrawal'), 'request_can_no_longer_be_cancelled')
    expect(await vault.refusal(ALICE.address, 'cancelRequestRedeem', ALICE.address)).toBeDefined()
  })

  test('Lagoon 0.6 returns nothing while paused, but returns shares to accounts no longer on its list', async ({
    service,
  }) => {
    const vault = await openVaultWithShares(service, { generation: '0.6', whitelisted: true })
    await requestRedeem(vault, 10n ** 18n)
    await vault.act(ROLES.admin, 'pause')
    expectError(await vault.cancel(ALICE, 'withdrawal'), 'vault_is_paused')
    expect(await vault.refusal(ALICE.address, 'cancelRequestRedeem', ALICE.address)).toBe('EnforcedPause')
    await vault.act(ROLES.admin, 'unpause')
    await vault.act(ROLES.admin, 'revokeFromWhitelist', [ALICE.address])
    await expectCancellation(vault, 'withdrawal')
  })
})

describe('the status of a withdrawal', () => {
  test.for(EVERY)(
    'Lagoon $generation of $asset is pending, then claimable with the exact amount of its claim, then withdrawn',
    async (options, { service }) => {
      const vault = await openVaultWithShares(service, options)
      const { redeemEpochId: epochId } = (await statusOf(vault)).vault
      expect(await statusOf(vault)).toMatchObject({
        ...NO_REQUESTS,
        status: 'no_active_withdrawal',
        epochId: null,
        vault: { redeemEpochId: epochId },
      })

      const shares = (await sharesOf(vault)) / 3n
      await requestRedeem(vault, shares)
      expect(await statusOf(vault)).toMatchObject({
        chainId: 8453,
        userAddress: ALICE.address,
        vaultAddress: vault.address,
        status: 'pending',
        amounts: { pendingRedeemShares: `${shares}`, claimableAssets: '0', claimableShares: '0' },
        epochId,
        vault: { redeemEpochId: epochId },
        nextPollAfterMs: 30_000,
      })

      await vault.settle()
      const claimable = await statusOf(vault)
      expect(claimable).toMatchObject({
        status: 'claimable',
        amounts: { pendingRedeemShares: '0', claimableShares: `${shares}` },
        epochId,
        vault: { redeemEpochId: epochId + 2 },
        nextPollAfterMs: null,
      })
      expect(`${await expectClaim(vault)}`).toBe(claimable.amounts.claimableAssets)
      expect(await statusOf(vault)).toMatchObject({ ...NO_REQUESTS, status: 'withdrawn', epochId })
    },
  )

  test.for(EACH)(
    'The claimable amount is exact also while Lagoon $generation is paused',
    async (options, { service }) => {
      const vault = await openVaultWithClaim(service, options)
      const before = await statusOf(vault)
      expect(before.status).toBe('claimable')
      await vault.act(ROLES.admin, 'pause')
      expect(await statusOf(vault)).toEqual({ ...before, evidence: expect.anything() })
    },
  )

  test('A cancelled request is no longer active', async ({ service }) => {
    const vault = await openVaultWithShares(service, { generation: '0.6' })
    await requestRedeem(vault, 10n ** 18n)
    await expectCancellation(vault, 'withdrawal')
    expect(await statusOf(vault)).toMatchObject({ ...NO_REQUESTS, status: 'withdrawn' })
  })

  test('A vault of an unknown version does not report epochs', async ({ service }) => {
    const vault = await openVaultWithShares(service, { generation: '0.5' })
    await requestRedeem(vault, 10n ** 18n)
    await vault.upgrade('unknown')
    expect(await statusOf(vault)).toMatchObject({ status: 'pending', epochId: null, vault: { redeemEpochId: null } })
  })
})

test('Withdrawals work although a vault does not report deposits, its value or balances', async ({ service }) => {
  const vault = await openVaultWithClaim(service, { generation: '0.6' })
  const status = await statusOf(vault)
  const { claimable } = (await vault.claimWithdrawal(ALICE)).body
  // The cast is safe, because each of the service's chains has an RPC proxy.
  revertCalls(service.rpc[8453] as RecordingProxy, NOT_OF_WITHDRAWALS)
  expect(await statusOf(vault)).toEqual(status)
  const { body } = await vault.claimWithdrawal(ALICE)
  expect(body).toMatchObject({ claimable, simulation: { status: 'unavailable' } })
})

describe('a synchronous vault', () => {
  test('has nothing to claim, nothing to cancel and no status of withdrawals', async ({ service }) => {
    const vault = await openYieldVault(service)
    expectError(await vault.withdrawStatus(ALICE), 'withdraw_status_not_applicable')
    expectError(await vault.claimWithdrawal(ALICE), 'claim_not_applicable')
    for (const kind of KINDS) expectError(await vault.cancel(ALICE, kind), 'cancel_not_applicable')
  })
})
