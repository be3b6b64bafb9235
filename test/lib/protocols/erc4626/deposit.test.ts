import { expect, test } from 'vitest'
import { readErc4626DepositTerms } from '../../../../lib/protocols/erc4626/deposit.ts'
import { runReadPlan, type SimulatedContracts } from '../../../support/contracts-in-memory.ts'
import { ALICE } from '../../../support/lagoon-in-memory.ts'
import { SYNC_VAULT, vaultContracts } from '../../../support/vaults-in-memory.ts'

const termsOf = (answers: SimulatedContracts['answers']) =>
  runReadPlan(readErc4626DepositTerms(SYNC_VAULT, ALICE, 1_000_000n), vaultContracts({}, answers))

test.for<[vault: string, answers: SimulatedContracts['answers'], amount: bigint, room: bigint | undefined]>([
  ['without a limit takes any amount', { paused: false }, 2n ** 255n, undefined],
  ['takes an amount of exactly its limit', { maxDeposit: 100n }, 100n, 100n],
  [
    'of Morpho takes any amount, although it always reports a limit of 0',
    { maxDeposit: 0n, liquidityAdapter: ALICE },
    9n,
    undefined,
  ],
])('A synchronous vault %s', ([, answers, amount, room]) => {
  const terms = termsOf(answers)
  expect({ operation: terms.choose(amount), room: terms.room() }).toEqual({ operation: 'deposit', room })
})

test.for<[vault: string, answers: SimulatedContracts['answers'], code: string]>([
  ['is paused', { paused: true }, 'vault_is_paused'],
  ['takes nothing', { maxDeposit: 0n }, 'deposits_are_not_open'],
  ['takes one unit less', { maxDeposit: 99n }, 'vault_cap_reached'],
])('No deposit is made into a synchronous vault that %s', ([, answers, code]) => {
  expect(() => termsOf(answers).choose(100n)).toThrow(expect.objectContaining({ code }))
})
