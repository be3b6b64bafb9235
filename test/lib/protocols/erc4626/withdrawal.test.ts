import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readErc4626WithdrawalTerms } from '../../../../lib/protocols/erc4626/withdrawal.ts'
import type { WithdrawalAmount, WithdrawalTerms } from '../../../../lib/protocols/protocol.ts'
import { createContractsReader, runReadPlan, type SimulatedContracts } from '../../../support/contracts-in-memory.ts'
import { ALICE } from '../../../support/lagoon-in-memory.ts'
import { scaleSampleCount } from '../../../support/runs.ts'
import { conversionOf, SYNC_VAULT, type SyncFacts, vaultContracts } from '../../../support/vaults-in-memory.ts'

async function termsOf(
  facts: Partial<SyncFacts>,
  amount: WithdrawalAmount,
  answers: SimulatedContracts['answers'] = {},
): Promise<WithdrawalTerms> {
  const contracts = vaultContracts(facts, answers)
  return await runReadPlan(readErc4626WithdrawalTerms(SYNC_VAULT, ALICE, amount), contracts)(
    createContractsReader(contracts),
    1n,
  )
}

const ALL = 10n ** 30n
const anyPrice = fc.record({
  totalAssets: fc.bigInt({ min: 10n ** 9n, max: 10n ** 15n }),
  totalSupply: fc.bigInt({ min: 10n ** 21n, max: 10n ** 27n }),
})
const anyFee = fc.constantFrom(0n, 10n, 50n, 1_000n)
const anyShares = fc.oneof(fc.bigInt({ min: 1n, max: ALL }), fc.constant(ALL))
const anyAssets = fc.bigInt({ min: 10n ** 5n, max: 10n ** 12n })

describe('A synchronous vault', () => {
  test('pays its preview for shares, whose value before fees matches to one unit', async () => {
    await fc.assert(
      fc.asyncProperty(anyPrice, anyFee, anyShares, async (price, exitFee, shares) => {
        const { steps, assets, value } = await termsOf({ ...price, exitFee, shares: ALL }, { shares })
        expect(steps).toEqual([{ name: 'redeem', amount: shares }])
        const exact = conversionOf(price).assetsOf(shares)
        expect([exact, exact - 1n]).toContain(value)
        const fee = (exact * exitFee + 9_999n) / 10_000n
        expect(assets).toBe(exact - fee)
      }),
      { numRuns: scaleSampleCount(50) },
    )
  })

  test('pays an amount exactly, and its fee excludes rounding', async () => {
    await fc.assert(
      fc.asyncProperty(anyPrice, anyFee, anyAssets, async (price, exitFee, amount) => {
        const terms = await termsOf({ ...price, exitFee, shares: ALL * ALL }, { assets: amount })
        expect(terms).toMatchObject({ steps: [{ name: 'withdraw', amount }], assets: amount, haircut: 0n })
        const fee = (amount * exitFee + 9_999n) / 10_000n
        const rest = (terms.value ?? 0n) - amount
        if (exitFee === 0n) expect(rest).toBe(0n)
        else expect([fee - 1n, fee, fee + 1n]).toContain(rest)
      }),
      { numRuns: scaleSampleCount(50) },
    )
  })

  test('pays the full value of all shares in the wallet', async () => {
    const facts = { totalAssets: 3n * 10n ** 12n, totalSupply: 10n ** 24n, shares: 10n ** 20n }
    const terms = await termsOf(facts, 'max')
    expect(terms).toMatchObject({
      steps: [{ name: 'redeem', amount: facts.shares }],
      ...{ shares: facts.shares, assets: 3n * 10n ** 8n, value: 3n * 10n ** 8n, claimedAssets: 0n },
    })
  })
})

// The account's shares are worth 10^6 units of the asset, so one unit is worth 10^12 shares.
const BALANCE = 10n ** 18n

test.for<[what: string, amount: WithdrawalAmount, shares: bigint]>([
  ['all shares', { shares: BALANCE }, BALANCE],
  ['the value of all shares', { assets: 10n ** 6n }, BALANCE],
])('The account can withdraw %s', async ([, amount, shares]) => {
  expect((await termsOf({ shares: BALANCE }, amount)).shares).toBe(shares)
})

test.for<[what: string, amount: WithdrawalAmount, answers: SimulatedContracts['answers'], atMost: string | undefined]>([
  ['one share more than its balance', { shares: BALANCE + 1n }, {}, `${BALANCE}`],
  [
    'one share more than its balance, if the vault limits redemptions',
    { shares: BALANCE + 1n },
    { maxRedeem: 7n },
    '7',
  ],
  ['one unit more than the value of its shares', { assets: 10n ** 6n + 1n }, {}, `${10n ** 6n}`],
  [
    'one unit more than their value, even if the vault reports it as possible',
    { assets: 10n ** 6n + 1n },
    { maxWithdraw: 10n ** 6n + 1n },
    undefined,
  ],
  ['everything if it has nothing', 'max', { balanceOf: 0n, maxRedeem: 0n }, undefined],
])('The account cannot withdraw %s, and the refusal has the maximum if known', async ([, amount, answers, atMost]) => {
  await expect(termsOf({ shares: BALANCE }, amount, answers)).rejects.toMatchObject({
    code: 'amount_exceeds_balance',
    details: [atMost === undefined ? expect.not.objectContaining({ atMost: expect.anything() }) : { atMost }],
  })
})

test.for<[what: string, answers: SimulatedContracts['answers'], code: string | undefined]>([
  ['is paused', { paused: true }, 'vault_is_paused'],
  ['has too little', { paused: false, maxRedeem: BALANCE - 1n }, 'not_enough_liquidity'],
  ['has enough by its own limit', { maxRedeem: BALANCE }, undefined],
])('A reverted dry run is explained if the vault %s', async ([, answers, code]) => {
  const { refusal } = await termsOf({ shares: BALANCE }, 'max', answers)
  expect(refusal?.('reverted')?.code).toBe(code)
})
