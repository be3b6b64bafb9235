import fc from 'fast-check'
import { type Address, encodeFunctionData, getAddress, type Hex, maxUint256, stringify, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { encodeApprovals, listApprovalPlans, type TokenSpending, verifyApprovals } from '../../../lib/chain/erc20.ts'
import type { Transaction } from '../../../lib/chain/transaction.ts'
import { type DryRun, pickFirstApprovedDryRun } from '../../../lib/prepare/dry-run.ts'
import { listMutants } from '../../support/mutants.ts'
import { TOKEN_ABI } from '../../support/oracles.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
const anyAmount = fc.oneof(
  fc.constantFrom(1n, 2n, 2n ** 128n, maxUint256 - 1n, maxUint256),
  fc.bigInt({ min: 1n, max: maxUint256 }),
)
type Setting = { readonly spending: TokenSpending; readonly stranger: Address }
const anySetting = fc
  .tuple(fc.uniqueArray(anyAddress, { minLength: 3, maxLength: 3 }), anyAmount)
  .map(([addresses, amount]): Setting => {
    const [token, spender, stranger] = addresses as [Address, Address, Address]
    return { spending: { token, spender, amount }, stranger }
  })

function approve({ token, spender }: TokenSpending, amount: bigint): Transaction {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'approve', args: [spender, amount] })
  return { to: token, data, value: 0n }
}

describe('Approvals', () => {
  test.for([
    { needed: 'none', amounts: () => [] },
    { needed: 'exact', amounts: (amount: bigint) => [amount] },
    { needed: 'reset', amounts: (amount: bigint) => [0n, amount] },
  ] as const)('have exactly the needed amounts: $needed', ({ needed, amounts }) => {
    fc.assert(
      fc.property(anySetting, ({ spending }) => {
        const { amount } = spending
        const approvals = encodeApprovals(spending, needed)
        // The calldata equals viem's, so no bytes follow the arguments.
        expect(approvals).toEqual(amounts(amount).map((allowance) => approve(spending, allowance)))
        expect(() => verifyApprovals(spending, approvals)).not.toThrow()
      }),
    )
  })

  test('are not needed if the allowance suffices', () => {
    fc.assert(
      fc.property(anyAmount, anyAmount, (one, other) => {
        const [amount, allowance] = one < other ? [one, other] : [other, one]
        expect(listApprovalPlans(amount, allowance)).toEqual(['none'])
      }),
    )
  })

  test('consist of one without an allowance', () => {
    fc.assert(
      fc.property(anyAmount, (amount) => {
        expect(listApprovalPlans(amount, 0n)).toEqual(['exact'])
      }),
    )
  })

  test('reset an allowance that is too small first, unless a dry run shows that no reset is needed', () => {
    const tooSmall = fc
      .tuple(anyAmount, anyAmount)
      .filter(([allowance, amount]) => allowance < amount && allowance > 0n)
    const dryRunOf = (approval: number, status?: 'success' | 'reverted'): DryRun => ({
      ...{ approval: Array.from({ length: approval }, () => APPROVAL), operations: [], intents: [], viewed: [] },
      results:
        status &&
        Array.from({ length: approval }, () => ({
          ...{ gasUsed: 1n, reason: 'no' },
          status,
          returnData: '0x' as const,
        })),
    })
    fc.assert(
      fc.property(tooSmall, ([allowance, amount]) => {
        expect(listApprovalPlans(amount, allowance)).toEqual(['exact', 'reset'])
      }),
    )
    expect(pickFirstApprovedDryRun([dryRunOf(1, 'success'), dryRunOf(2, 'success')]).approval).toHaveLength(1)
    expect(pickFirstApprovedDryRun([dryRunOf(1, 'reverted'), dryRunOf(2, 'success')]).approval).toHaveLength(2)
    expect(pickFirstApprovedDryRun([dryRunOf(1), dryRunOf(2)]).approval).toHaveLength(2)
  })
})

const APPROVAL = { to: zeroAddress, data: '0x', value: 0n } as const

describe('The verification of approvals', () => {
  const plansOf = ({ token, spender }: TokenSpending, amounts: readonly bigint[]) =>
    amounts.map((amount) => ({ to: token, value: 0n, call: { functionName: 'approve', args: [spender, amount] } }))
  const encode = ({ call, ...rest }: ReturnType<typeof plansOf>[number]): Transaction => ({
    ...rest,
    // The cast is needed, because viem's types require one known function. `call` may name any function of the ABI.
    data: encodeFunctionData({ abi: TOKEN_ABI, ...call } as never),
  })

  test('refuses approvals that differ in one place from the exact ones', () => {
    fc.assert(
      fc.property(anySetting, ({ spending, stranger }) => {
        const { token, spender, amount } = spending
        const pass = [[amount], [0n, amount]].map((amounts) => stringify(plansOf(spending, amounts)))
        for (const amounts of [[amount], [0n, amount]]) {
          for (const mutant of listMutants(plansOf(spending, amounts), [token, spender, stranger])) {
            if (mutant.length === 0 || pass.includes(stringify(mutant))) continue
            const transactions = mutant.map(encode)
            expect(() => verifyApprovals(spending, transactions)).toThrow()
          }
        }
      }),
      { numRuns: scaleSampleCount(30) },
    )
  })

  test('refuses an approval that is cut', () => {
    fc.assert(
      fc.property(anySetting, fc.nat(67), ({ spending }, end) => {
        const right = approve(spending, spending.amount)
        const data = right.data.slice(0, 2 + 2 * end) as Hex
        expect(() => verifyApprovals(spending, [{ ...right, data }])).toThrow()
      }),
    )
  })
})
