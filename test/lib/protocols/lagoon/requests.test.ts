import { expect, test } from 'vitest'
import { readLagoonCancelTerms, readLagoonClaimTerms } from '../../../../lib/protocols/lagoon/requests.ts'
import type { RequestKind } from '../../../../lib/protocols/request-kind.ts'
import { createContractsReader, runReadPlan } from '../../../support/contracts-in-memory.ts'
import { ALICE, LAGOON_VAULT, type LagoonFacts, lagoonContracts } from '../../../support/lagoon-in-memory.ts'

async function cancelOf(kind: RequestKind, facts: Partial<LagoonFacts>) {
  const contracts = lagoonContracts(facts)
  try {
    const finish = runReadPlan(readLagoonCancelTerms(LAGOON_VAULT, ALICE, kind), contracts)
    const { name, cancelled } = await finish(createContractsReader(contracts), 1n, () =>
      Promise.reject(new Error('Nothing is listed')),
    )
    return { name, cancelled }
  } catch (error) {
    return (error as { code: string }).code
  }
}

const NO_LONGER = 'request_can_no_longer_be_cancelled'
const depositOf5 = { pendingAssets: 7n, lastDepositRequest: 5, depositEpoch: 5 }
const redemptionOf6 = { pendingShares: 8n, lastRedeemRequest: 6, redeemEpoch: 6 }

test.for<[which: string, facts: Partial<LagoonFacts>, answer: unknown]>([
  ['of this epoch is cancelled completely', depositOf5, { name: 'cancelRequestDeposit', cancelled: { assets: 7n } }],
  ['whose epoch is over is being settled and stays', { ...depositOf5, depositEpoch: 7 }, NO_LONGER],
  ['that does not exist cannot be cancelled', { pendingAssets: 0n }, 'no_pending_request'],
  ['of a paused vault stays', { ...depositOf5, paused: true }, 'vault_is_paused'],
])('A request to deposit %s', async ([, facts, answer]) => {
  expect(await cancelOf('deposit', facts)).toEqual(answer)
})

test.for<[which: string, facts: Partial<LagoonFacts>, answer: unknown]>([
  ['of this epoch is cancelled completely', redemptionOf6, { name: 'cancelRequestRedeem', cancelled: { shares: 8n } }],
  ['whose epoch is over is being settled and stays', { ...redemptionOf6, redeemEpoch: 8 }, NO_LONGER],
  ['before 0.6 stays', { ...redemptionOf6, version: 'v0.5.0' }, NO_LONGER],
  ['of a closed vault stays', { ...redemptionOf6, lifecycle: 'closed' }, NO_LONGER],
  ['that does not exist cannot be cancelled', { pendingShares: 0n }, 'no_pending_request'],
])('A request to redeem %s', async ([, facts, answer]) => {
  expect(await cancelOf('withdrawal', facts)).toEqual(answer)
})

test('A settled redemption is claimed by its shares, with a call by assets as alternative', async () => {
  const contracts = lagoonContracts({ redeemableShares: 9n, maxWithdraw: 8n })
  const { calls, claimable } = runReadPlan(readLagoonClaimTerms(LAGOON_VAULT, ALICE, 'withdrawal'), contracts)
  expect(calls).toEqual([
    { name: 'redeem', amount: 9n },
    { name: 'withdraw', amount: 8n },
  ])
  expect(await claimable(createContractsReader(contracts), 1n)).toEqual({ assets: 8n, shares: 9n })
})

test.for<[kind: RequestKind, facts: Partial<LagoonFacts>, code: string]>([
  ['deposit', {}, 'no_claimable_deposit'],
  ['deposit', { claimableAssets: 1n, paused: true }, 'vault_is_paused'],
  ['withdrawal', {}, 'no_claimable_withdrawal'],
  ['withdrawal', { redeemableShares: 1n, paused: true }, 'vault_is_paused'],
])('A claim of a %s is refused with %o', ([kind, facts, code]) => {
  const read = () => runReadPlan(readLagoonClaimTerms(LAGOON_VAULT, ALICE, kind), lagoonContracts(facts))
  expect(read).toThrow(expect.objectContaining({ code }))
})
