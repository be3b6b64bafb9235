import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lagoon } from '../../../../lib/protocols/lagoon/protocol.ts'
import { runReadPlan } from '../../../support/contracts-in-memory.ts'
import { ALICE, LAGOON_VAULT, type LagoonFacts, lagoonContracts } from '../../../support/lagoon-in-memory.ts'
import { scaleSampleCount } from '../../../support/runs.ts'

const AMOUNT = 1_000n
const END = 1_800_000_000n
const PAYER = '0x0000000000000000000000000000000000000017'

/**
 * Returns the name of the vault function that deposits for ALICE, or the error code. The deposit may arrive at any
 * time up to `until`.
 */
function answerOf(facts: Partial<LagoonFacts>, { until = 0n, payer = ALICE, amount = AMOUNT } = {}): string {
  const terms = runReadPlan(lagoon.depositTerms(LAGOON_VAULT, ALICE, 1n, payer), lagoonContracts(facts))
  try {
    return terms.choose(amount, until)
  } catch (error) {
    return (error as { code: string }).code
  }
}

test.for<[how: string, facts: Partial<LagoonFacts>, answer: string]>([
  ['instantly while a valuation is valid', {}, 'syncDeposit'],
  ['instantly if only deposits are instant', { syncMode: 'deposits' }, 'syncDeposit'],
  ['by a request without a valid valuation', { isTotalAssetsValid: false }, 'requestDeposit'],
  ['by a request before 0.5, whatever the valuation', { version: 'v0.4.0' }, 'requestDeposit'],
  [
    'by a request, together with one of the same epoch',
    { isTotalAssetsValid: false, pendingAssets: 1n, lastDepositRequest: 5 },
    'requestDeposit',
  ],
  [
    'by a request, after a cancelled one of an earlier epoch',
    { isTotalAssetsValid: false, pendingAssets: 0n, lastDepositRequest: 3 },
    'requestDeposit',
  ],
  ['instantly, whatever requests are pending', { pendingAssets: 1n, lastDepositRequest: 3 }, 'syncDeposit'],
])('A deposit is made %s', ([, facts, answer]) => {
  expect(answerOf(facts)).toBe(answer)
})

test.for<[vault: string, facts: Partial<LagoonFacts>, code: string]>([
  ['is paused', { paused: true }, 'vault_is_paused'],
  ['has an unknown version', { version: 'v1.0.0' }, 'unsupported_vault_version'],
  ['is closing and would never settle it', { lifecycle: 'closing' }, 'vault_is_closed'],
  ['is closed', { lifecycle: 'closed' }, 'vault_is_closed'],
  ['has only instant redemptions while a valuation is valid', { syncMode: 'redemptions' }, 'deposits_are_not_open'],
  ['has no instant operations while a valuation is valid', { syncMode: 'none' }, 'deposits_are_not_open'],
  [
    'has not settled a request of an earlier epoch',
    { isTotalAssetsValid: false, pendingAssets: 1n, lastDepositRequest: 3 },
    'previous_deposit_request_not_settled',
  ],
  ['does not admit the account', { isAllowed: () => false }, 'depositor_not_allowed'],
])('No deposit is made into a vault that %s', ([, facts, code]) => {
  expect(answerOf(facts)).toBe(code)
})

test('The payer of a deposit from another chain must be admitted too', () => {
  const isAllowed = (account: string) => account === ALICE
  expect(answerOf({ isAllowed })).toBe('syncDeposit')
  expect(answerOf({ isAllowed }, { payer: PAYER })).toBe('cross_chain_not_available')
})

test('A deposit that may arrive after the end of the valuation is refused', () => {
  const facts = { expiration: END }
  expect(answerOf(facts, { until: END })).toBe('syncDeposit')
  expect(answerOf(facts, { until: END + 1n })).toBe('cross_chain_not_available')
  expect(answerOf({ ...facts, isTotalAssetsValid: false }, { until: END + 1n })).toBe('requestDeposit')
})

test('The cap includes the vault’s assets and its pending deposits', () => {
  const anyAmount = fc.bigInt({ min: 1n, max: 10n ** 9n })
  fc.assert(
    fc.property(anyAmount, anyAmount, anyAmount, anyAmount, (totalAssets, pendingDeposits, maxCap, amount) => {
      const facts = { totalAssets, pendingDeposits, maxCap }
      const room = maxCap - totalAssets - pendingDeposits
      const terms = runReadPlan(lagoon.depositTerms(LAGOON_VAULT, ALICE, 1n), lagoonContracts(facts))
      expect(terms.room()).toBe(room)
      expect(answerOf(facts, { amount })).toBe(amount <= room ? 'syncDeposit' : 'vault_cap_reached')
      if (room > 0n) expect(answerOf(facts, { amount: room })).toBe('syncDeposit')
    }),
    { numRuns: scaleSampleCount(100) },
  )
})
