import fc from 'fast-check'
import { type Address, decodeFunctionData, encodeFunctionData, getAddress, type Hex, maxUint256, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { approvalsNeeded, encodeApprovals, type Spending, verifyApprovals } from '../../../lib/chain/erc20.ts'
import type { Transaction } from '../../../lib/chain/transaction.ts'

// Written apart from the service's own ABI, so that a mistake there does not hide itself.
const abi = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function increaseAllowance(address spender, uint256 amount)',
])

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
const anyAmount = fc.oneof(
  fc.constantFrom(1n, 2n, 2n ** 128n, maxUint256 - 1n, maxUint256),
  fc.bigInt({ min: 1n, max: maxUint256 }),
)
type Setting = { readonly spending: Spending; readonly stranger: Address }
const anySetting = fc
  .tuple(fc.uniqueArray(anyAddress, { minLength: 3, maxLength: 3 }), anyAmount)
  .map(([addresses, amount]): Setting => {
    const [token, spender, stranger] = addresses as [Address, Address, Address]
    return { spending: { token, spender, amount }, stranger }
  })

function call(functionName: 'approve' | 'transfer' | 'increaseAllowance', to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi, functionName, args: [to, amount] })
}

describe('approvals', () => {
  test.for([
    { needed: 'none', amounts: () => [] },
    { needed: 'exact', amounts: (amount: bigint) => [amount] },
    { needed: 'reset', amounts: (amount: bigint) => [0n, amount] },
  ] as const)('Where $needed is needed, the approvals are for exactly that and never more', ({ needed, amounts }) => {
    fc.assert(
      fc.property(anySetting, ({ spending }) => {
        const { token, spender, amount } = spending
        const approvals = encodeApprovals(spending, needed)
        expect(approvals.map(({ to, value }) => ({ to, value }))).toEqual(
          amounts(amount).map(() => ({ to: token, value: 0n })),
        )
        expect(approvals.map(({ data }) => decodeFunctionData({ abi, data }))).toEqual(
          amounts(amount).map((allowance) => ({ functionName: 'approve', args: [spender, allowance] })),
        )
        // To the byte: nothing stands behind the arguments.
        expect(approvals.map(({ data }) => data)).toEqual(
          amounts(amount).map((allowance) => call('approve', spender, allowance)),
        )
        expect(() => verifyApprovals(spending, approvals)).not.toThrow()
      }),
    )
  })

  const accepted = { status: 'success', gasUsed: 46_000n, returnData: '0x' } as const
  const refused = { status: 'reverted', gasUsed: 24_000n, reason: 'reverted without a reason' } as const

  test('An allowance that suffices needs none, whatever the dry run says', () => {
    fc.assert(
      fc.property(anyAmount, anyAmount, fc.constantFrom(accepted, refused, undefined), (one, other, direct) => {
        const [amount, allowance] = one < other ? [one, other] : [other, one]
        expect(approvalsNeeded(amount, allowance, direct)).toBe('none')
      }),
    )
  })

  test('Without any allowance one approval is enough, whatever the dry run says', () => {
    fc.assert(
      fc.property(anyAmount, fc.constantFrom(accepted, refused, undefined), (amount, direct) => {
        expect(approvalsNeeded(amount, 0n, direct)).toBe('exact')
      }),
    )
  })

  test('An allowance that is too small is reset first, unless the dry run shows that the token needs no reset', () => {
    const tooSmall = fc.tuple(anyAmount, anyAmount).filter(([allowance, amount]) => allowance < amount)
    fc.assert(
      fc.property(tooSmall, ([allowance, amount]) => {
        expect(approvalsNeeded(amount, allowance, accepted)).toBe('exact')
        expect(approvalsNeeded(amount, allowance, refused)).toBe('reset')
        expect(approvalsNeeded(amount, allowance, undefined)).toBe('reset')
      }),
    )
  })
})

describe('the last look', () => {
  type Wrong = (right: Transaction, setting: Setting) => readonly Transaction[]

  const approve = ({ spending: { token, spender } }: Setting, allowance: bigint, to = spender): Transaction => ({
    to: token,
    data: call('approve', to, allowance),
    value: 0n,
  })
  const other = (amount: bigint) => (amount === maxUint256 ? 1n : amount + 1n)

  const MUTATIONS: Record<string, Wrong> = {
    'of another token': (right, { stranger }) => [{ ...right, to: stranger }],
    'sent to the spender': (right, { spending }) => [{ ...right, to: spending.spender }],
    'for a stranger': (_, setting) => [approve(setting, setting.spending.amount, setting.stranger)],
    'that pays native coin': (right) => [{ ...right, value: 1n }],
    'of another amount': (_, setting) => [approve(setting, other(setting.spending.amount))],
    'of one unit less': (_, setting) => [approve(setting, setting.spending.amount - 1n)],
    'of nothing': (_, setting) => [approve(setting, 0n)],
    'without limit': (_, setting) => [
      approve(setting, setting.spending.amount === maxUint256 ? maxUint256 - 1n : maxUint256),
    ],
    'made twice': (right) => [right, right],
    'that is taken back afterwards': (right, setting) => [right, approve(setting, 0n)],
    'that is reset to something': (right, setting) => [approve(setting, other(setting.spending.amount)), right],
    'that is reset twice': (right, setting) => [approve(setting, 0n), approve(setting, 0n), right],
    'that is reset for a stranger': (right, setting) => [approve(setting, 0n, setting.stranger), right],
    'along with one for a stranger': (right, setting) => [
      approve(setting, setting.spending.amount, setting.stranger),
      right,
    ],
    'one byte short': (right) => [{ ...right, data: right.data.slice(0, -2) as Hex }],
    'without data': (right) => [{ ...right, data: '0x' }],
    'that is a transfer': (right, { spending: { spender, amount } }) => [
      { ...right, data: call('transfer', spender, amount) },
    ],
    'that is an increase': (right, { spending: { spender, amount } }) => [
      { ...right, data: call('increaseAllowance', spender, amount) },
    ],
  }
  const wrongs = Object.entries(MUTATIONS).map(([mutation, wrong]) => ({ mutation, wrong }))

  test.for(wrongs)('An approval $mutation does not pass', ({ wrong }) => {
    fc.assert(
      fc.property(anySetting, (setting) => {
        const approvals = wrong(approve(setting, setting.spending.amount), setting)
        expect(() => verifyApprovals(setting.spending, approvals)).toThrow()
      }),
      { numRuns: 50 },
    )
  })
})
