import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { LagoonGeneration, YieldVaultKind } from '../../../sandbox/deploy.ts'
import { expectError, parseAmountLimits } from '../../support/errors.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { type HttpReply, type Service, test, USERS } from '../../support/service.ts'
import {
  type Asset,
  expectFairGas,
  expectSuccess,
  openLagoonVault,
  openYieldVault,
  overrideFunction,
  ROLES,
  type TestVault,
} from '../../support/vaults.ts'

const [ALICE, BOB] = USERS

/** One Lagoon version for each way in which the service handles withdrawals. */
const GENERATIONS = ['0.1', '0.2', '0.5', '0.6'] as const
const ASSETS = ['USDC', 'DAI'] as const
/** Gives each Lagoon version only one token, because the service handles tokens in the same way for all versions. */
const EVERY = GENERATIONS.map((generation, index) => ({ generation, asset: ASSETS[(index + 1) % 2] ?? 'USDC' }))
const WITHOUT_DECIMALS = GENERATIONS.map((generation) => ({ generation }))
const FEES = { exitRate: 37, haircutRate: 1_234 }

type Options = {
  readonly generation: LagoonGeneration
  readonly asset?: Asset
  readonly exitRate?: number
  readonly haircutRate?: number
  readonly whitelisted?: boolean
}

const openVaultWithShares = (service: Service, options: Options) =>
  service.restore(JSON.stringify(options), async () => {
    const vault = await openLagoonVault(service, options)
    if (options.whitelisted) await vault.act(ROLES.admin, 'addToWhitelist', [ALICE.address, BOB.address])
    await vault.request(BOB.address, vault.units('777.7'))
    await vault.request(ALICE.address, vault.units('1000.000001'))
    await vault.settle()
    await vault.act(ALICE.address, 'deposit', await claimable(vault), ALICE.address, ALICE.address)
    await vault.settle(vault.units('33.333333'))
    return vault
  })

const claimable = (vault: TestVault) => vault.read('claimableDepositRequest', 0n, ALICE.address)
const sharesOf = (vault: TestVault) => vault.read('balanceOf', ALICE.address)

const SELECTORS: Readonly<Record<string, string>> = {
  '0x7d41c86e': 'requestRedeem',
  '0x5cfe2fe4': 'claimSharesAndRequestRedeem',
  '0x19815ab1': 'syncRedeem',
  '0xba087652': 'redeem',
  '0xb460af94': 'withdraw',
  '0x2e2d2984': 'deposit',
}
const callsOf = ({ body }: { body: { operations: { data: string }[] } }) =>
  body.operations.map(({ data }) => SELECTORS[data.slice(0, 10)])

async function withdraw(vault: TestVault, amount: object, calls: readonly string[]) {
  const reply = await vault.withdraw(ALICE, amount)
  expect(reply.body).toMatchObject({ simulation: { status: 'success' }, chainId: 8453, isCrossChain: false })
  expect(callsOf(reply)).toEqual(calls)
  const [assets, shares] = await Promise.all([vault.balanceOf(ALICE.address), sharesOf(vault)])
  const receipts = await vault.send(ALICE, reply)
  expectSuccess(receipts)
  expectFairGas(reply, receipts)
  return {
    withdrawal: reply.body.withdrawal,
    isAsync: reply.body.isAsync,
    paid: (await vault.balanceOf(ALICE.address)) - assets,
    spent: shares - (await sharesOf(vault)),
  }
}

async function close(vault: TestVault, generation: LagoonGeneration) {
  const total = await vault.read('totalAssets')
  await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', total)
  await vault.act(ROLES.admin, 'initiateClosing')
  await vault.act(ROLES.safe, 'close', ...(generation === '0.1' ? [] : [total]))
}

describe('an open vault that pays after settlement', () => {
  test.for(EVERY)(
    'Lagoon $generation of $asset takes a request of shares, and pays the estimate if the price is constant',
    async ({ generation, asset }, { service }) => {
      const vault = await openVaultWithShares(service, { generation, asset, ...(generation === '0.6' && FEES) })
      const shares = (await sharesOf(vault)) / 3n
      const { withdrawal, isAsync, spent } = await withdraw(vault, { shares: `${shares}` }, ['requestRedeem'])
      expect({ isAsync, shares: withdrawal.shares, isEstimate: withdrawal.isEstimate }).toEqual({
        isAsync: true,
        shares: `${shares}`,
        isEstimate: true,
      })
      expect(spent).toBe(shares)

      await vault.settle()
      const before = await vault.balanceOf(ALICE.address)
      await vault.act(ALICE.address, 'redeem', shares, ALICE.address, ALICE.address)
      expect(`${(await vault.balanceOf(ALICE.address)) - before}`).toBe(withdrawal.assets)
      expect(withdrawal.fee === '0').toBe(generation !== '0.6')
    },
  )

  test.for(EVERY)(
    'Lagoon $generation of $asset takes the fewest shares for an amount if the price is constant',
    async ({ generation, asset }, { service }) => {
      const vault = await openVaultWithShares(service, { generation, asset, ...(generation === '0.6' && FEES) })
      const amount = vault.units('123.456789')
      const { withdrawal, spent } = await withdraw(vault, { amount: `${amount}` }, ['requestRedeem'])
      expect({ assets: BigInt(withdrawal.assets) >= amount, shares: withdrawal.shares }).toEqual({
        assets: true,
        shares: `${spent}`,
      })
      await vault.settle()
      const before = await vault.balanceOf(ALICE.address)
      await vault.act(ALICE.address, 'redeem', spent, ALICE.address, ALICE.address)
      expect(`${(await vault.balanceOf(ALICE.address)) - before}`).toBe(withdrawal.assets)
    },
  )

  test.for(WITHOUT_DECIMALS)(
    'The maximum in Lagoon $generation is the shares in the wallet and those not claimed yet',
    async ({ generation }, { service }) => {
      const vault = await openVaultWithShares(service, { generation })
      await vault.request(ALICE.address, vault.units('50'))
      await vault.settle()
      const calls = generation === '0.1' ? ['deposit', 'requestRedeem'] : ['claimSharesAndRequestRedeem']
      const { withdrawal } = await withdraw(vault, { max: true }, calls)
      expect(await sharesOf(vault)).toBe(0n)
      expect(await claimable(vault)).toBe(0n)
      expect(`${await vault.read('pendingRedeemRequest', 0n, ALICE.address)}`).toBe(withdrawal.shares)
    },
  )

  test.for(WITHOUT_DECIMALS)(
    'A request in Lagoon $generation pays an earlier settled one, and reports its amount',
    async ({ generation }, { service }) => {
      const vault = await openVaultWithShares(service, { generation })
      await withdraw(vault, { shares: '1000000000000000000' }, ['requestRedeem'])
      await vault.settle()
      const { withdrawal, paid } = await withdraw(vault, { shares: '2000000000000000000' }, ['requestRedeem'])
      expect(paid).toBeGreaterThan(0n)
      expect(withdrawal.claimedAssets).toBe(`${paid}`)
    },
  )
})

describe('a vault with instant withdrawals', () => {
  const PAYING = ASSETS.flatMap((asset) => [
    { asset, fees: 'without fees', rates: {} },
    { asset, fees: 'with an exit fee and a haircut', rates: FEES },
  ])

  test.for(PAYING)(
    'Lagoon 0.6 of $asset $fees pays shares, an amount and the maximum as promised, to the unit',
    async ({ asset, rates }, { service }) => {
      const vault = await openVaultWithShares(service, { generation: '0.6', asset, ...rates })
      await vault.settleForADay(vault.units('1.234567'))
      const third = (await sharesOf(vault)) / 3n
      const amount = vault.units('100.000001')
      for (const amountInput of [{ shares: `${third}` }, { amount: `${amount}` }, { max: true }]) {
        const { withdrawal, paid, spent, isAsync } = await withdraw(vault, amountInput, ['syncRedeem'])
        expect({ isAsync, isEstimate: withdrawal.isEstimate }).toEqual({ isAsync: false, isEstimate: false })
        expect({ assets: withdrawal.assets, shares: withdrawal.shares }).toEqual({
          assets: `${paid}`,
          shares: `${spent}`,
        })
        if ('amount' in amountInput) expect(paid).toBe(amount)
        expect([withdrawal.fee, withdrawal.haircut].map((deduction) => deduction !== '0')).toEqual(
          Array(2).fill('exitRate' in rates),
        )
      }
      expect(await sharesOf(vault)).toBe(0n)
    },
  )

  test('Lagoon 0.6 takes a request if its safe is short or its mode excludes instant redemptions', async ({
    service,
  }) => {
    const vault = await openVaultWithShares(service, { generation: '0.6' })
    await vault.settleForADay()
    await vault.act(ROLES.safe, 'setSyncMode', 1)
    await withdraw(vault, { shares: '1000000000000000000' }, ['requestRedeem'])
    await vault.act(ROLES.safe, 'setSyncMode', 2)
    await withdraw(vault, { shares: '1000000000000000000' }, ['syncRedeem'])
    await vault.approve(ROLES.safe, 1_000_000n)
    await withdraw(vault, { shares: '3000000000000000000' }, ['requestRedeem'])
  })
})

describe('a vault that is not open', () => {
  test.for(EVERY)(
    'A closed Lagoon $generation vault of $asset pays shares, an amount and the maximum instantly, to the unit',
    async ({ generation, asset }, { service }) => {
      const vault = await openVaultWithShares(service, { generation, asset, ...(generation === '0.6' && FEES) })
      await close(vault, generation)
      const amount = vault.units('100.000001')
      const third = (await sharesOf(vault)) / 3n
      for (const [amountInput, call] of [
        [{ shares: `${third}` }, 'redeem'],
        [{ amount: `${amount}` }, 'withdraw'],
        [{ max: true }, 'redeem'],
      ] as const) {
        const { withdrawal, paid, spent } = await withdraw(vault, amountInput, [call])
        expect({ assets: withdrawal.assets, shares: withdrawal.shares }).toEqual({
          assets: `${paid}`,
          shares: `${spent}`,
        })
        expect(withdrawal.fee !== '0').toBe(generation === '0.6')
      }
      expect(await sharesOf(vault)).toBe(0n)
    },
  )

  test.for(WITHOUT_DECIMALS)(
    'A closed Lagoon $generation vault pays settled amounts first, and unclaimed shares too',
    async ({ generation }, { service }) => {
      const vault = await openVaultWithShares(service, { generation })
      await withdraw(vault, { shares: '1000000000000000000' }, ['requestRedeem'])
      await vault.request(ALICE.address, vault.units('50'))
      await close(vault, generation)
      const { withdrawal, paid } = await withdraw(vault, { max: true }, ['redeem', 'deposit', 'redeem'])
      expect(BigInt(withdrawal.assets) + BigInt(withdrawal.claimedAssets)).toBe(paid)
      expect(await sharesOf(vault)).toBe(0n)
      expectError(await vault.withdraw(ALICE, { max: true }), 'amount_exceeds_balance', ['max'])
    },
  )

  test.for(WITHOUT_DECIMALS)(
    'A closed Lagoon $generation vault with only settled withdrawals pays those, without an estimate',
    async ({ generation }, { service }) => {
      const vault = await openVaultWithShares(service, { generation, ...(generation === '0.6' && FEES) })
      await withdraw(vault, { max: true }, ['requestRedeem'])
      await close(vault, generation)
      const { withdrawal, paid } = await withdraw(vault, { max: true }, ['redeem'])
      expect(withdrawal).toMatchObject({ shares: '0', assets: '0', claimedAssets: `${paid}`, isEstimate: false })
    },
  )
})

describe('a synchronous vault', () => {
  test.for([...ASSETS])(
    'An ERC-4626 vault of %s pays as promised, to the unit, without dust',
    async (asset, { service }) => {
      const vault = await openYieldVault(service, { asset })
      await vault.mint(ALICE.address, vault.units('1000.000001'))
      expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, vault.units('1000.000001'))))
      await vault.mint(vault.address, vault.units('33.333333'))
      const third = (await sharesOf(vault)) / 3n
      const amount = vault.units('100.000001')
      for (const [amountInput, call] of [
        [{ shares: `${third}` }, 'redeem'],
        [{ amount: `${amount}` }, 'withdraw'],
        [{ max: true }, 'redeem'],
      ] as const) {
        const { withdrawal, paid, spent, isAsync } = await withdraw(vault, amountInput, [call])
        expect({ ...withdrawal, isAsync }).toEqual({
          assets: `${paid}`,
          shares: `${spent}`,
          fee: '0',
          haircut: '0',
          isEstimate: false,
          claimedAssets: '0',
          prolongs: null,
          isAsync: false,
        })
      }
      expect(await sharesOf(vault)).toBe(0n)
    },
  )

  const openWithShares = async (service: Service, make: YieldVaultKind) => {
    const vault = await openYieldVault(service, { make })
    const amount = vault.units('1000.000001')
    await vault.mint(ALICE.address, amount)
    await vault.approve(ALICE.address, amount)
    await vault.act(ALICE.address, 'deposit', amount, ALICE.address)
    return vault
  }

  test('A vault whose assets are lent out reports how much it can pay now, and pays that', async ({ service }) => {
    const vault = await openWithShares(service, 'illiquid')
    await vault.act(ROLES.admin, 'lend', vault.units('900'))
    for (const amountInput of [{ amount: `${vault.units('500')}` }, { max: true }]) {
      const reply = await vault.withdraw(ALICE, amountInput)
      expectError(reply, 'not_enough_liquidity', ['max' in amountInput ? 'shares' : 'amount', 'vaultAddress'])
      const { atMost } = parseAmountLimits(reply)
      const most = (amount = 0n) => ('max' in amountInput ? { shares: `${amount}` } : { amount: `${amount}` })
      expect((await vault.withdraw(ALICE, most(atMost))).body.simulation).toMatchObject({ status: 'success' })
      await withdraw(vault, most(1_000_000n), ['max' in amountInput ? 'redeem' : 'withdraw'])
    }
    const left = await vault.read('maxWithdraw', ALICE.address)
    await withdraw(vault, { amount: `${left}` }, ['withdraw'])
  })

  test('A vault that reports 0 for every limit still takes and pays, and is an error only if it cannot', async ({
    service,
  }) => {
    const vault = await openWithShares(service, 'silent')
    await vault.mint(ALICE.address, vault.units('1'))
    expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, vault.units('1'))))
    await withdraw(vault, { amount: `${vault.units('10')}` }, ['withdraw'])
    await vault.act(ROLES.admin, 'lend', vault.units('900'))
    expectError(await vault.withdraw(ALICE, { max: true }), 'not_enough_liquidity', ['vaultAddress'])
  })

  test('A fee on withdrawal is reported, and is exact for a number of shares', async ({ service }) => {
    const vault = await openWithShares(service, 'exitFee')
    const shares = (await sharesOf(vault)) / 3n
    const worth = await vault.read('convertToAssets', shares)
    const byShares = await withdraw(vault, { shares: `${shares}` }, ['redeem'])
    expect(byShares.withdrawal).toMatchObject({ assets: `${byShares.paid}`, fee: `${worth - byShares.paid}` })

    const amount = vault.units('100')
    const byAmount = await withdraw(vault, { amount: `${amount}` }, ['withdraw'])
    expect([byAmount.paid, BigInt(byAmount.withdrawal.fee)]).toEqual([amount, amount / 200n])
    const { withdrawal, paid } = await withdraw(vault, { max: true }, ['redeem'])
    expect(withdrawal.assets).toBe(`${paid}`)
    expect(await sharesOf(vault)).toBe(0n)
  })

  test('Shares that are worth nothing are refused if the vault refuses them', async ({ service }) => {
    const vault = await openWithShares(service, 'strict')
    expectError(await vault.withdraw(ALICE, { shares: '1' }), 'withdrawal_refused', ['vaultAddress'])
  })

  test.for([
    { says: 'that it is paused', selector: '5c975abb', answer: '60015f5260205ff3' },
    { says: 'no previews of assets', selector: '0a28a477', answer: '5f5ffd' },
    { says: 'no value of shares', selector: '07a2d13a', answer: '5f5ffd' },
  ])('A vault that reports $says pays if its dry run does', async ({ selector, answer }, { service }) => {
    const vault = await openWithShares(service, 'plain')
    await overrideFunction(vault, selector, answer)
    await withdraw(vault, { amount: '1000000' }, ['withdraw'])
    await withdraw(vault, { shares: '1000000' }, ['redeem'])
    await withdraw(vault, { max: true }, ['redeem'])
    expect(await sharesOf(vault)).toBe(0n)
  })

  test('More than the user has is refused with the maximum that works', async ({ service }) => {
    const vault = await openWithShares(service, 'plain')
    for (const field of ['amount', 'shares']) {
      const reply = await vault.withdraw(ALICE, { [field]: `${vault.units('100000')}` })
      expectError(reply, 'amount_exceeds_balance', [field])
      await expectMostToWork(vault, reply)
    }
  })

  test.for([
    { make: 'plain', what: 'that pays all' },
    { make: 'illiquid', what: 'that has lent out most' },
    { make: 'exitFee', what: 'with a fee on withdrawal' },
  ] as const)('Each maximum that a vault $what reports works', async ({ make }, { service }) => {
    const vault = await openWithShares(service, make)
    await vault.mint(vault.address, vault.units('33.333333'))
    if (make === 'illiquid') await vault.act(ROLES.admin, 'lend', vault.units('900'))
    const anyAmount = fc.bigInt({ min: 1n, max: vault.units('3000') })
    const property = fc.asyncProperty(
      fc.constantFrom('amount', 'shares'),
      anyAmount,
      async (requestedField, amount) => {
        const reply = await vault.withdraw(ALICE, { [requestedField]: `${amount}` })
        if (reply.status === 200) return
        const { field } = reply.body.details[0]
        const { atMost = 0n } = parseAmountLimits(reply)
        expect({ field, isLess: atMost > 0n && atMost < amount }).toEqual({ field: requestedField, isLess: true })
        const again = await vault.withdraw(ALICE, { [field]: `${atMost}` })
        expect(again.body.simulation).toEqual({ status: 'success' })
      },
    )
    await fc.assert(property, { numRuns: scaleSampleCount(15) })
  })

  test('A paused vault pays nothing', async ({ service }) => {
    const vault = await openWithShares(service, 'plain')
    await vault.act(ROLES.admin, 'pause')
    expectError(await vault.withdraw(ALICE, { max: true }), 'vault_is_paused')
  })
})

async function expectMostToWork(vault: TestVault, { body }: HttpReply): Promise<void> {
  const [{ field, atMost }] = body.details
  const unit = field === 'amount' ? 'assets' : 'shares'
  expect((await vault.withdraw(ALICE, { [field]: atMost })).body.withdrawal[unit]).toBe(atMost)
  expectError(await vault.withdraw(ALICE, { [field]: `${BigInt(atMost) + 1n}` }), 'amount_exceeds_balance', [field])
}

describe('the requested amount', () => {
  test('More than the user has is refused, with the amounts in the wallet and in requests', async ({ service }) => {
    const vault = await openVaultWithShares(service, { generation: '0.5' })
    await withdraw(vault, { shares: '1000000000000000000' }, ['requestRedeem'])
    const shares = await sharesOf(vault)
    for (const amountInput of [{ shares: `${shares + 1n}` }, { amount: `${vault.units('100000')}` }]) {
      const reply = await vault.withdraw(ALICE, amountInput)
      await expectMostToWork(vault, reply)
      expectError(reply, 'amount_exceeds_balance', Object.keys(amountInput))
      expect(reply.body.details[0].issue).toContain(`${shares} in the wallet`)
      expect(reply.body.details[0].issue).toContain('1000000000000000000 in redemptions not settled')
    }
  })

  test.for([{}, { amount: '1', shares: '1' }, { amount: '1', max: true }, { shares: '0' }, { max: false }])(
    '%j is not exactly one amount',
    async (amountInput, { service }) => {
      const vault = await openYieldVault(service)
      expectError(await vault.withdraw(ALICE, amountInput), 'missing_or_invalid_amount', [
        Object.keys(amountInput).length === 1 ? (Object.keys(amountInput)[0] ?? '') : 'amount',
      ])
    },
  )

  test.for((['0.1', '0.5', '0.5.1', '0.6'] as const).map((generation) => ({ generation })))(
    'Lagoon $generation takes no request of a user no longer on its list; closed, it pays as its contract does',
    async ({ generation }, { service }) => {
      const vault = await openVaultWithShares(service, { generation, whitelisted: true })
      await vault.act(ROLES.admin, 'revokeFromWhitelist', [ALICE.address])
      expectError(await vault.withdraw(ALICE, { max: true }), 'depositor_not_allowed')
      const refusal = await vault.refusal(ALICE.address, 'requestRedeem', 1n, ALICE.address, ALICE.address)
      expect(refusal).toBe(generation === '0.6' ? 'AddressNotAllowed' : 'NotWhitelisted')
      await close(vault, generation)
      const paid = await vault.refusal(ALICE.address, 'redeem', 1n, ALICE.address, ALICE.address)
      if (paid === undefined) await withdraw(vault, { max: true }, ['redeem'])
      else expectError(await vault.withdraw(ALICE, { max: true }), 'depositor_not_allowed')
      expect(paid === undefined).toBe(['0.1', '0.5'].includes(generation))
    },
  )
})
