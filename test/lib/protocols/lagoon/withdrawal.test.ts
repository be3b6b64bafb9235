import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lagoonWithdrawalTerms } from '../../../../lib/protocols/lagoon/withdrawal.ts'
import type { WithdrawalAmount, WithdrawalTerms } from '../../../../lib/protocols/protocol.ts'
import { readerOf, readOf } from '../../../support/contracts-in-memory.ts'
import { ALICE, LAGOON_VAULT, type LagoonFacts, lagoonContracts } from '../../../support/lagoon-in-memory.ts'
import { runs } from '../../../support/runs.ts'

/** How the vault pays ALICE this much. */
async function termsOf(facts: Partial<LagoonFacts>, amount: WithdrawalAmount): Promise<WithdrawalTerms> {
  const contracts = lagoonContracts(facts)
  return await readOf(lagoonWithdrawalTerms(LAGOON_VAULT, ALICE, amount), contracts)(readerOf(contracts), 1n)
}

/** The terms of the withdrawal, or the error code. */
function answerOf(facts: Partial<LagoonFacts>, amount: WithdrawalAmount): Promise<WithdrawalTerms | string> {
  return termsOf(facts, amount).catch(({ code }) => code)
}

/** What Lagoon's 0.6 contract does with shares: both fees are rounded up, the second is of what the first has left. */
function paidBy({ totalAssets, totalSupply }: Price, shares: bigint, exit: number, haircut: number) {
  const feeOn = (of: bigint, rate: number) => (of * BigInt(rate) + 9_999n) / 10_000n
  // One virtual unit of the asset, and as many virtual shares as the decimals differ.
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
const HELD = 10n ** 22n
const anyShares = fc.oneof(fc.bigInt({ min: 10n ** 15n, max: HELD }), fc.constant(HELD))
const ample = { shares: HELD, safeBalance: 10n ** 30n, safeAllowance: 10n ** 30n }

describe('What 0.6 pays at once', () => {
  test('for shares is their worth without the exit fee, and without the haircut of the rest', async () => {
    await fc.assert(
      fc.asyncProperty(anyPrice, anyRate, anyRate, anyShares, async (price, exit, haircut, shares) => {
        const expected = paidBy(price, shares, exit, haircut)
        fc.pre(expected.assets > 0n)
        const terms = await termsOf({ ...ample, ...price, rates: { entry: 77, exit, haircut } }, { shares })
        expect(terms).toMatchObject({ ...expected, shares, claimedAssets: 0n })
        // It may come to half a percent less, and not to more than was told.
        const [{ name, amount, minimum = 0n }] = terms.steps
        expect({ name, amount }).toEqual({ name: 'syncRedeem', amount: shares })
        expect(minimum * 1000n).toBeGreaterThanOrEqual(expected.assets * 995n)
        expect(minimum).toBeLessThanOrEqual(expected.assets)
      }),
      { numRuns: runs(300) },
    )
  })

  test('for an amount takes the fewest shares that pay it, and the vault pays no less', async () => {
    const anyAmount = fc.bigInt({ min: 1n, max: 10n ** 9n })
    await fc.assert(
      fc.asyncProperty(anyPrice, anyRate, anyRate, anyAmount, async (price, exit, haircut, assets) => {
        fc.pre(paidBy(price, HELD, exit, haircut).assets >= assets)
        const { steps, shares } = await termsOf({ ...ample, ...price, rates: { entry: 0, exit, haircut } }, { assets })
        expect(paidBy(price, shares ?? 0n, exit, haircut).assets).toBeGreaterThanOrEqual(assets)
        expect(paidBy(price, (shares ?? 0n) - 1n, exit, haircut).assets).toBeLessThan(assets)
        expect(steps).toEqual([{ name: 'syncRedeem', amount: shares, minimum: assets }])
      }),
      { numRuns: runs(300) },
    )
  })
})

test('A request is told without a haircut, which only what is paid at once has', async () => {
  await fc.assert(
    fc.asyncProperty(anyPrice, anyRate, anyRate, anyShares, async (price, exit, haircut, shares) => {
      const expected = paidBy(price, shares, exit, 0)
      fc.pre(expected.assets > 0n)
      const facts = { ...ample, ...price, isTotalAssetsValid: false, rates: { entry: 0, exit, haircut } }
      expect(await termsOf(facts, { shares })).toMatchObject({
        ...{ steps: [{ name: 'requestRedeem', amount: shares }], shares },
        ...{ assets: expected.assets, value: expected.value, haircut: 0n },
      })
    }),
    { numRuns: runs(200) },
  )
})

test.for([
  { entry: 0, exit: 10_000, haircut: 0 },
  { entry: 0, exit: 0, haircut: 10_000 },
])('A vault that keeps everything (%o) is not believed', async (rates) => {
  expect(await answerOf({ ...ample, rates }, 'max')).toBe('upstream_bad_answer')
})

const atOnce = { shares: 10n ** 18n, safeBalance: 10n ** 12n, safeAllowance: 10n ** 12n }
const PAID = paidBy({ totalAssets: 10n ** 12n, totalSupply: 10n ** 24n }, 10n ** 18n, 0, 0).assets

test.for<[why: string, facts: Partial<LagoonFacts>, step: string]>([
  ['while a valuation is valid, at once', {}, 'syncRedeem'],
  ['without one, by a request', { isTotalAssetsValid: false }, 'requestRedeem'],
  ['of a version before 0.6, by a request', { version: 'v0.5.0' }, 'requestRedeem'],
  ['where redemptions are not paid at once, by a request', { syncMode: 'deposits' }, 'requestRedeem'],
  ['where the safe has just enough, at once', { safeBalance: PAID }, 'syncRedeem'],
  ['where the safe has a unit less, by a request', { safeBalance: PAID - 1n }, 'requestRedeem'],
  ['where the vault may take a unit less from it, by a request', { safeAllowance: PAID - 1n }, 'requestRedeem'],
  [
    'with shares to be claimed first, by one call for both',
    { shares: 10n ** 17n, claimableAssets: 10n ** 6n, maxMint: 9n * 10n ** 17n },
    'claimSharesAndRequestRedeem',
  ],
  [
    'while one of this epoch waits, by a request',
    { isTotalAssetsValid: false, pendingShares: 1n, lastRedeemRequest: 6 },
    'requestRedeem',
  ],
])('An open vault pays %s', async ([, facts, step]) => {
  const { steps } = await termsOf({ ...atOnce, ...facts }, { shares: 10n ** 18n })
  expect(steps).toMatchObject([{ name: step, amount: 10n ** 18n }])
})

test.for<[why: string, facts: Partial<LagoonFacts>, amount: WithdrawalAmount, code: string]>([
  ['paused', { paused: true }, 'max', 'vault_is_paused'],
  ['of a version that is not known', { version: 'v0.9.0' }, 'max', 'unsupported_vault_version'],
  ['closing', { lifecycle: 'closing' }, 'max', 'vault_is_closing'],
  [
    'with a request of an earlier epoch that is not settled',
    { isTotalAssetsValid: false, pendingShares: 1n, lastRedeemRequest: 4 },
    'max',
    'previous_withdrawal_request_not_settled',
  ],
  ['asked for a share more than there is', {}, { shares: 10n ** 18n + 1n }, 'amount_exceeds_balance'],
  ['asked for a unit more than it pays', {}, { assets: PAID + 1n }, 'amount_exceeds_balance'],
  ['asked for nothing', { shares: 0n }, 'max', 'amount_exceeds_balance'],
  ['asked for what is worth nothing', {}, { shares: 1n }, 'withdrawal_refused'],
])('A vault that is %s pays nothing', async ([, facts, amount, code]) => {
  expect(await answerOf({ ...atOnce, ...facts }, amount)).toBe(code)
})

test('Who is not admitted any more is told so where the dry run reverts', async () => {
  const { refusal } = await termsOf({ ...atOnce, isAllowed: () => false }, 'max')
  expect(refusal?.(undefined)).toMatchObject({ code: 'depositor_not_allowed' })
  expect((await termsOf(atOnce, 'max')).refusal).toBeUndefined()
})

describe('A closed vault', () => {
  const closed: Partial<LagoonFacts> = {
    ...{ lifecycle: 'closed', shares: 10n ** 18n, redeemableShares: 5n, maxWithdraw: 4n },
    ...{ claimableAssets: 10n ** 6n, maxMint: 3n },
  }

  test('pays what was settled, claims the shares that it pays, and then pays all', async () => {
    const { steps, shares, claimedAssets } = await termsOf(closed, 'max')
    expect(steps).toEqual([
      { name: 'redeem', amount: 5n },
      { name: 'deposit', amount: 10n ** 6n },
      { name: 'redeem', amount: 10n ** 18n + 3n },
    ])
    expect({ shares, claimedAssets }).toEqual({ shares: 10n ** 18n + 3n, claimedAssets: 4n })
  })

  test('leaves unclaimed shares where the wallet has enough', async () => {
    const { steps } = await termsOf({ ...closed, redeemableShares: 0n }, { shares: 10n ** 18n })
    expect(steps).toEqual([{ name: 'redeem', amount: 10n ** 18n }])
  })

  test('pays an amount of assets exactly', async () => {
    const { steps, assets } = await termsOf({ ...closed, redeemableShares: 0n }, { assets: 7n })
    expect({ steps, assets }).toEqual({ steps: [{ name: 'withdraw', amount: 7n }], assets: 7n })
  })
})

describe('What claims of everything settled give', () => {
  /** An account that claims by the settlement itself, for a paused or old vault does not tell. */
  const settlement = {
    assets: 123_456_789n,
    supply: 987_654_321_000_000_000n,
    rates: { entry: 30, exit: 45, haircut: 0 },
  }
  const rateOf = { assets: settlement.assets + 1n, supply: settlement.supply + 10n ** 12n }
  const feeOn = (of: bigint, rate: bigint) => (of * rate + 9_999n) / 10_000n

  test('are the shares of a deposit by the rate of its settlement, without its entry fee', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 1n, max: 10n ** 12n }), async (claimableAssets) => {
        const minted = (claimableAssets * rateOf.supply) / rateOf.assets
        const facts: Partial<LagoonFacts> = { lifecycle: 'closed', claimableAssets, settlement }
        expect((await termsOf(facts, 'max')).shares).toBe(minted - feeOn(minted, 30n))
      }),
      { numRuns: runs(100) },
    )
  })

  test('are the assets of a redemption by the rate of its settlement, without its exit fee', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 1n, max: 10n ** 22n }), async (redeemableShares) => {
        const left = redeemableShares - feeOn(redeemableShares, 45n)
        const facts: Partial<LagoonFacts> = { lifecycle: 'closed', redeemableShares, settlement }
        expect((await termsOf(facts, 'max')).claimedAssets).toBe((left * rateOf.assets) / rateOf.supply)
      }),
      { numRuns: runs(100) },
    )
  })
})
