import { describe, expect, test } from 'vitest'
import { cooldown } from '../../../../lib/protocols/cooldown/protocol.ts'
import { readCooldownClaimTerms, readCooldownOpenRequest } from '../../../../lib/protocols/cooldown/requests.ts'
import { readCooldownWithdrawalTerms } from '../../../../lib/protocols/cooldown/withdrawal.ts'
import { readErc4626WithdrawalTerms } from '../../../../lib/protocols/erc4626/withdrawal.ts'
import type { WithdrawalAmount } from '../../../../lib/protocols/protocol.ts'
import { createContractsReader, runReadPlan, type SimulatedContracts } from '../../../support/contracts-in-memory.ts'
import { ALICE } from '../../../support/lagoon-in-memory.ts'
import { COOLDOWN_VAULT, vaultContracts } from '../../../support/vaults-in-memory.ts'

const BALANCE = 10n ** 18n
const END = 1_800_000_000n
const ENDS_AT = new Date(Number(END) * 1000)
const DAY = 86_400

const contracts = (assets: bigint, now: bigint, answers: SimulatedContracts['answers'] = {}) =>
  vaultContracts(
    { shares: BALANCE },
    { cooldownDuration: 7 * DAY, cooldowns: [END, assets], getCurrentBlockTimestamp: now, ...answers },
  )

const AMOUNTS: readonly (readonly [WithdrawalAmount, string])[] = [
  [{ assets: 1_000n }, 'cooldownAssets'],
  [{ shares: 1_000n }, 'cooldownShares'],
  ['max', 'cooldownShares'],
]

describe('A cooldown vault', () => {
  test.for(AMOUNTS)('pays %o by its own call, with the amounts of ERC-4626', async ([amount, name]) => {
    const chain = contracts(0n, END)
    const erc4626 = await runReadPlan(readErc4626WithdrawalTerms(COOLDOWN_VAULT, ALICE, amount), chain)(
      createContractsReader(chain),
      1n,
    )
    const terms = await runReadPlan(readCooldownWithdrawalTerms(COOLDOWN_VAULT, ALICE, amount), chain)(
      createContractsReader(chain),
      1n,
    )
    const { refusal: _, ...amounts } = erc4626
    expect(terms).toMatchObject({ ...amounts, steps: [{ name, amount: erc4626.steps[0].amount }], prolongs: null })
    const open = contracts(0n, END, { cooldownDuration: 0 })
    const atOnce = await runReadPlan(readCooldownWithdrawalTerms(COOLDOWN_VAULT, ALICE, amount), open)(
      createContractsReader(open),
      1n,
    )
    expect(atOnce.steps).toEqual(erc4626.steps)
  })

  test('reports which withdrawal a new one prolongs, even after its end', async () => {
    for (const now of [END - 1n, END]) {
      const chain = contracts(5n, now)
      const terms = await runReadPlan(readCooldownWithdrawalTerms(COOLDOWN_VAULT, ALICE, 'max'), chain)(
        createContractsReader(chain),
        1n,
      )
      expect(terms.prolongs).toEqual({ assets: 5n, claimableAt: ENDS_AT })
    }
  })

  test('pays from the second at which the cooldown ends, or at any time without a cooldown', async () => {
    const claim = (chain: SimulatedContracts) =>
      runReadPlan(readCooldownClaimTerms(COOLDOWN_VAULT, ALICE, 'withdrawal'), chain)
    for (const chain of [contracts(5n, END), contracts(5n, 0n, { cooldownDuration: 0 })]) {
      const { calls, claimable } = claim(chain)
      expect([calls, await claimable(createContractsReader(chain), 1n)]).toEqual([
        [{ name: 'unstake', amount: 0n }],
        { assets: 5n, shares: null },
      ])
    }
    expect(() => claim(contracts(5n, END - 1n))).toThrow(
      expect.objectContaining({
        code: 'no_claimable_withdrawal',
        details: [{ field: 'vaultAddress', issue: expect.stringContaining(ENDS_AT.toISOString()) }],
      }),
    )
    expect(() => claim(contracts(0n, END))).toThrow(expect.objectContaining({ code: 'no_claimable_withdrawal' }))
    expect(() => claim(contracts(5n, END, { cooldowns: undefined }))).toThrow(
      expect.objectContaining({ code: 'upstream_bad_answer' }),
    )
  })

  test('reports open requests in assets, and nothing if its getters fail', () => {
    const ask = (chain: SimulatedContracts) =>
      runReadPlan(readCooldownOpenRequest(COOLDOWN_VAULT, { account: ALICE }), chain)
    expect(ask(contracts(5n, END - 1n))).toEqual({ pending: 5n, claimable: 0n, cancelled: 0n })
    expect(ask(contracts(5n, END))).toEqual({ pending: 0n, claimable: 5n, cancelled: 0n })
    expect(ask(contracts(5n, END, { cooldownDuration: undefined }))).toBeUndefined()
  })

  test('is recognised by its cooldown, its silo and the cooldowns of accounts', () => {
    const describe = (answers: SimulatedContracts['answers']) =>
      runReadPlan(cooldown.describe({ ...COOLDOWN_VAULT, isAsync: false }), contracts(0n, END, answers))
    const { silo } = COOLDOWN_VAULT
    expect(describe({ silo })).toEqual({ protocol: 'cooldown', silo, hasCap: false, version: null })
    for (const missing of ['cooldownDuration', 'silo', 'cooldowns']) {
      expect(describe({ silo, [missing]: undefined })).toMatch('no cooldown vault')
    }
  })

  test('has terms that depend on its cooldown', () => {
    const termsOf = (answers: SimulatedContracts['answers']) =>
      runReadPlan(cooldown.overview(COOLDOWN_VAULT), contracts(0n, END, answers)).terms
    expect(termsOf({ maxDeposit: 9n })).toMatchObject({
      entry: 'instant',
      ...{ exit: 'cooldown', cooldownSeconds: 7 * DAY, liquidity: 0n, room: 9n },
    })
    expect(termsOf({ cooldownDuration: 0 })).toMatchObject({ exit: 'instant', room: null })
  })
})
