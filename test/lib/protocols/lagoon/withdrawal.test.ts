import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readLagoonWithdrawalTerms } from '../../../../lib/protocols/lagoon/withdrawal.ts'
import type { WithdrawalAmount, WithdrawalTerms } from '../../../../lib/protocols/protocol.ts'
import { createContractsReader, runReadPlan } from '../../../support/contracts-in-memory.ts'
import { ALICE, LAGOON_VAULT, type LagoonFacts, lagoonContracts } from '../../../support/lagoon-in-memory.ts'
import { scaleSampleCount } from '../../../support/runs.ts'

async function termsOf(facts: Partial<LagoonFacts>, amount: WithdrawalAmount): Promise<WithdrawalTerms> {
  const contracts = lagoonContracts(facts)
  return await runReadPlan(readLagoonWithdrawalTerms(LAGOON_VAULT, ALICE, amount), contracts)(
    createContractsReader(contracts),
    1n,
  )
}

function answerOf(facts: Partial<LagoonFacts>, amount: WithdrawalAmount): Promise<WithdrawalTerms | string> {
  return termsOf(facts, amount).catch(({ code }) => code)
}

/**
 * Computes the payment of a withdrawal like Lagoon v0.6. Fee and haircut are rounded up. The haircut applies after
 * the exit fee.
 */
function computePayment({ totalAssets, totalSupply }: Price, shares: bigint, exit: number, haircut: number) {
  const feeOn = (of: bigint, rate: number) => (of * BigInt(rate) + 9_999n) / 10_000n
  // The vault adds one virtual unit of the asset and 10^12 virtual shares (18 decimals of the share minus 6 of the
  // asset).
  const worth = (of: bigint) => (of * (totalAssets + 1n)) / (totalSupply + 10n ** 12n)
  const net = shares - feeOn(shares, exit)
  const assets = worth(net - feeOn(net, haircut))
  return { assets, value: worth(shares), haircut: worth(net) - assets }
}

type Price = Pick<LagoonFacts, 'totalAssets' | 'totalSupply'>
const anyPrice = fc.record({
  totalAssets: fc.bigInt({ min: 10n ** 9n, max: 10n ** 15n }),
  totalSupply: fc.bigInt({ min: 10n ** 21n, max: 10n ** 27n }),
})
const anyRate = fc.oneof(fc.constantFrom(0, 1, 9_999), fc.integer({ min: 0, max: 1_000 }))
const BALANCE = 10n ** 22n
const anyShares = fc.oneof(fc.bigInt({ min: 10n ** 15n, max: BALANCE }), fc.constant(BALANCE))
const ample = { shares: BALANCE, safeBalance: 10n ** 30n, safeAllowance: 10n ** 30n }

describe('An instant payment of Lagoon 0.6', () => {
  test('for shares is their value minus the exit fee, and minus the haircut of the rest', async () => {
    await fc.assert(
      fc.asyncProperty(anyPrice, anyRate, anyRate, anyShares, async (price, exit, haircut, shares) => {
        const expected = computePayment(price, shares, exit, haircut)
        fc.pre(expected.assets > 0n)
        const terms = await termsOf({ ...ample, ...price, rates: { entry: 77, exit, haircut } }, { shares })
        expect(terms).toMatchObject({ ...expected, shares, claimedAssets: 0n })
        // The minimum in the call is at most 0.5 % below the reported amount.
        const [{ name, amount, minimum = 0n }] = terms.steps
        expect({ name, amount }).toEqual({ name: 'syncRedeem', amount: shares })
        expect(minimum * 1000n).toBeGreaterThanOrEqual(expected.assets * 995n)
        expect(minimum).toBeLessThanOrEqual(expected.assets)
      }),
      { numRuns: scaleSampleCount(300) },
    )
  })

  test('for an amount takes the fewest shares that pay at least the amount', async () => {
    const anyAmount = fc.bigInt({ min: 1n, max: 10n ** 9n })
    await fc.assert(
      fc.asyncProperty(anyPrice, anyRate, anyRate, anyAmount, async (price, exit, haircut, assets) => {
        fc.pre(computePayment(price, BALANCE, exit, haircut).assets >= assets)
        const { steps, shares } = await termsOf({ ...ample, ...price, rates: { entry: 0, exit, haircut } }, { assets })
        expect(computePayment(price, shares ?? 0n, exit, haircut).assets).toBeGreaterThanOrEqual(assets)
        expect(computePayment(price, (shares ?? 0n) - 1n, exit, haircut).assets).toBeLessThan(assets)
        expect(steps).toEqual([{ name: 'syncRedeem', amount: shares, minimum: assets }])
      }),
      { numRuns: scaleSampleCount(300) },
    )
  })
})

test('A redemption request has no haircut, unlike an instant payment', async () => {
  await fc.assert(
    fc.asyncProperty(anyPrice, anyRate, anyRate, anyShares, async (price, exit, haircut, shares) => {
      const expected = computePayment(price, shares, exit, 0)
      fc.pre(expected.assets > 0n)
      const facts = { ...ample, ...price, isTotalAssetsValid: false, rates: { entry: 0, exit, haircut } }
      expect(await termsOf(facts, { shares })).toMatchObject({
        ...{ steps: [{ name: 'requestRedeem', amount: shares }], shares },
        ...{ assets: expected.assets, value: expected.value, haircut: 0n },
      })
    }),
    { numRuns: scaleSampleCount(200) },
  )
})

test.for([
  { entry: 0, exit: 10_000, haircut: 0 },
  { entry: 0, exit: 0, haircut: 10_000 },
])('A vault that keeps everything (%o) is upstream_bad_answer', async (rates) => {
  expect(await answerOf({ ...ample, rates }, 'max')).toBe('upstream_bad_answer')
})

const atOnce = { shares: 10n ** 18n, safeBalance: 10n ** 12n, safeAllowance: 10n ** 12n }
const PAID = computePayment({ totalAssets: 10n ** 12n, totalSupply: 10n ** 24n }, 10n ** 18n, 0, 0).assets

test.for<[why: string, facts: Partial<LagoonFacts>, step: string]>([
  ['instantly while a valuation is valid', {}, 'syncRedeem'],
  ['by a request without a valid valuation', { isTotalAssetsValid: false }, 'requestRedeem'],
  ['by a request before version 0.6', { version: 'v0.5.0' }, 'requestRedeem'],
  ['by a request without instant redemptions', { syncMode: 'deposits' }, 'requestRedeem'],
  ['instantly if the safe has just enough', { safeBalance: PAID }, 'syncRedeem'],
  ['by a request if the safe has one unit less', { safeBalance: PAID - 1n }, 'requestRedeem'],
  ['by a request if the vault’s allowance is one unit less', { safeAllowance: PAID - 1n }, 'requestRedeem'],
  [
    'by one call that also claims shares first',
    { shares: 10n ** 17n, claimableAssets: 10n ** 6n, maxMint: 9n * 10n ** 17n },
    'claimSharesAndRequestRedeem',
  ],
  [
    'by a request while one of this epoch is pending',
    { isTotalAssetsValid: false, pendingShares: 1n, lastRedeemRequest: 6 },
    'requestRedeem',
  ],
])('An open vault pays %s', async ([, facts, step]) => {
  const { steps } = await termsOf({ ...atOnce, ...facts }, { shares: 10n ** 18n })
  expect(steps).toMatchObject([{ name: step, amount: 10n ** 18n }])
})

test.for<[why: string, facts: Partial<LagoonFacts>, amount: WithdrawalAmount, code: string]>([
  ['paused', { paused: true }, 'max', 'vault_is_paused'],
  ['of an unknown version', { version: 'v0.9.0' }, 'max', 'unsupported_vault_version'],
  ['closing', { lifecycle: 'closing' }, 'max', 'vault_is_closing'],
  [
    'with an unsettled request of an earlier epoch',
    { isTotalAssetsValid: false, pendingShares: 1n, lastRedeemRequest: 4 },
    'max',
    'previous_withdrawal_request_not_settled',
  ],
  ['asked for one share more than the balance', {}, { shares: 10n ** 18n + 1n }, 'amount_exceeds_balance'],
  ['asked for one unit more than it pays', {}, { assets: PAID + 1n }, 'amount_exceeds_balance'],
  ['asked for nothing', { shares: 0n }, 'max', 'amount_exceeds_balance'],
  ['asked for shares that are worth nothing', {}, { shares: 1n }, 'withdrawal_refused'],
])('A vault that is %s pays nothing', async ([, facts, amount, code]) => {
  expect(await answerOf({ ...atOnce, ...facts }, amount)).toBe(code)
})

test('An account that is no longer admitted gets this as the reason of a reverted dry run', async () => {
  const { refusal } = await termsOf({ ...atOnce, isAllowed: () => false }, 'max')
  expect(refusal?.(undefined)).toMatchObject({ code: 'depositor_not_allowed' })
  expect((await termsOf(atOnce, 'max')).refusal).toBeUndefined()
})

describe('A closed vault', () => {
  const closed: Partial<LagoonFacts> = {
    ...{ lifecycle: 'closed', shares: 10n ** 18n, redeemableShares: 5n, maxWithdraw: 4n },
    ...{ claimableAssets: 10n ** 6n, maxMint: 3n },
  }

  test('pays settled redemptions, claims settled shares, and then pays for all shares', async () => {
    const { steps, shares, claimedAssets } = await termsOf(closed, 'max')
    expect(steps).toEqual([
      { name: 'redeem', amount: 5n },
      { name: 'deposit', amount: 10n ** 6n },
      { name: 'redeem', amount: 10n ** 18n + 3n },
    ])
    expect({ shares, claimedAssets }).toEqual({ shares: 10n ** 18n + 3n, claimedAssets: 4n })
  })

  test('leaves unclaimed shares if the wallet has enough', async () => {
    const { steps } = await termsOf({ ...closed, redeemableShares: 0n }, { shares: 10n ** 18n })
    expect(steps).toEqual([{ name: 'redeem', amount: 10n ** 18n }])
  })

  test('pays an amount of assets exactly', async () => {
    const { steps, assets } = await termsOf({ ...closed, redeemableShares: 0n }, { assets: 7n })
    expect({ steps, assets }).toEqual({ steps: [{ name: 'withdraw', amount: 7n }], assets: 7n })
  })
})

describe('The claims of all settled requests', () => {
  /** Settlement from which the service computes the claimable amounts, because a paused or old vault does not report them. */
  const settlement = {
    assets: 123_456_789n,
    supply: 987_654_321_000_000_000n,
    rates: { entry: 30, exit: 45, haircut: 0 },
  }
  const rateOf = { assets: settlement.assets + 1n, supply: settlement.supply + 10n ** 12n }
  const feeOn = (of: bigint, rate: bigint) => (of * rate + 9_999n) / 10_000n

  test('give a deposit’s shares at the rate of its settlement, minus its entry fee', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 1n, max: 10n ** 12n }), async (claimableAssets) => {
        const minted = (claimableAssets * rateOf.supply) / rateOf.assets
        const facts: Partial<LagoonFacts> = { lifecycle: 'closed', claimableAssets, settlement }
        expect((await termsOf(facts, 'max')).shares).toBe(minted - feeOn(minted, 30n))
      }),
      { numRuns: scaleSampleCount(100) },
    )
  })

  test('give a redemption’s assets at the rate of its settlement, minus its exit fee', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 1n, max: 10n ** 22n }), async (redeemableShares) => {
        const left = redeemableShares - feeOn(redeemableShares, 45n)
        const facts: Partial<LagoonFacts> = { lifecycle: 'closed', redeemableShares, settlement }
        expect((await termsOf(facts, 'max')).claimedAssets).toBe((left * rateOf.assets) / rateOf.supply)
      }),
      { numRuns: scaleSampleCount(100) },
    )
  })
})
