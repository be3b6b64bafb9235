import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readErc7540WithdrawalTerms } from '../../../../lib/protocols/erc7540/withdrawal.ts'
import type { WithdrawalAmount, WithdrawalTerms } from '../../../../lib/protocols/protocol.ts'
import { createContractsReader, runReadPlan, type SimulatedContracts } from '../../../support/contracts-in-memory.ts'
import { ALICE } from '../../../support/lagoon-in-memory.ts'
import { scaleSampleCount } from '../../../support/runs.ts'
import { ASYNC_VAULT, conversionOf, type SyncFacts, vaultContracts } from '../../../support/vaults-in-memory.ts'

const IDLE = {
  ...{ maxMint: 0n, maxRedeem: 0n, pendingRedeemRequest: 0n },
  ...{ pendingCancelRedeemRequest: false, claimableCancelRedeemRequest: 0n },
}

async function termsOf(
  facts: Partial<SyncFacts>,
  amount: WithdrawalAmount,
  answers: SimulatedContracts['answers'] = {},
  vault = ASYNC_VAULT,
): Promise<WithdrawalTerms> {
  const contracts = vaultContracts(facts, { ...IDLE, ...answers })
  return await runReadPlan(readErc7540WithdrawalTerms(vault, ALICE, amount), contracts)(
    createContractsReader(contracts),
    1n,
  )
}

test('A request for an amount has just enough shares, with at most one more', async () => {
  const anyPrice = fc.record({
    totalAssets: fc.bigInt({ min: 10n ** 9n, max: 10n ** 15n }),
    totalSupply: fc.bigInt({ min: 10n ** 10n, max: 10n ** 27n }),
  })
  await fc.assert(
    fc.asyncProperty(anyPrice, fc.bigInt({ min: 1n, max: 10n ** 12n }), async (price, assets) => {
      const { steps, shares } = await termsOf({ ...price, shares: 10n ** 40n }, { assets })
      expect(steps).toEqual([{ name: 'requestRedeem', amount: shares }])
      const { assetsOf } = conversionOf(price)
      expect(assetsOf(shares ?? 0n)).toBeGreaterThanOrEqual(assets)
      expect(assetsOf((shares ?? 0n) - 2n)).toBeLessThan(assets)
    }),
    { numRuns: scaleSampleCount(50) },
  )
})

const account = { shares: 100n }

test.for<[what: string, amount: WithdrawalAmount, steps: readonly object[]]>([
  ['for the shares in the wallet claims nothing first', { shares: 100n }, [{ name: 'requestRedeem', amount: 100n }]],
  [
    'for more shares first claims all settled ones',
    { shares: 101n },
    [
      { name: 'mint', amount: 20n },
      { name: 'requestRedeem', amount: 101n },
    ],
  ],
  [
    'for everything claims all settled shares first',
    'max',
    [
      { name: 'mint', amount: 20n },
      { name: 'requestRedeem', amount: 120n },
    ],
  ],
])('A request %s', async ([, amount, steps]) => {
  const terms = await termsOf(account, amount, { maxMint: 20n })
  expect(terms.steps).toEqual(steps)
  expect(terms).not.toHaveProperty('proof')
})

test('A vault with instant deposits has no shares to claim', async () => {
  const vault = { ...ASYNC_VAULT, isDepositAsync: false }
  expect((await termsOf(account, 'max', { maxMint: 20n }, vault)).steps).toEqual([
    { name: 'requestRedeem', amount: 100n },
  ])
})

test('A second request must raise the pending shares in its dry run', async () => {
  const { proof } = await termsOf(account, { shares: 60n }, { pendingRedeemRequest: 5n })
  expect(proof).toMatchObject({ rise: 60n, refusal: { code: 'previous_withdrawal_request_not_settled' } })
})

test.for<[what: string, amount: WithdrawalAmount, answers: SimulatedContracts['answers'], code: string]>([
  [
    'while another one is being cancelled',
    'max',
    { pendingCancelRedeemRequest: true },
    'previous_withdrawal_request_not_settled',
  ],
  ['for one share more than the balance', { shares: 101n }, {}, 'amount_exceeds_balance'],
  ['for a balance of zero', 'max', { balanceOf: 0n }, 'amount_exceeds_balance'],
  ['for assets while the vault has no price', { assets: 1n }, { convertToShares: undefined }, 'withdrawal_refused'],
])('No request is made %s', async ([, amount, answers, code]) => {
  await expect(termsOf(account, amount, answers)).rejects.toMatchObject({ code })
})

test('A vault without cancellations of redemptions ignores a pending one', async () => {
  const vault = { ...ASYNC_VAULT, cancelsRedemptions: false }
  const answers = { pendingCancelRedeemRequest: true, claimableCancelRedeemRequest: undefined }
  expect((await termsOf(account, 'max', answers, vault)).shares).toBe(100n)
})
