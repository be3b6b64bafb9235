import { type Address, decodeFunctionData, encodeFunctionData, isAddressEqual, parseAbi } from 'viem'
import type { Transaction } from './transaction.ts'

/** ABI of the ERC-20 token standard (https://eips.ethereum.org/EIPS/eip-20). */
export const erc20Abi = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function totalSupply() view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** Amount of a token that a spender contract may take from the user, in the token's smallest unit. */
export type TokenSpending = { readonly token: Address; readonly spender: Address; readonly amount: bigint }

/**
 * Approvals that must precede a token transfer: none, one of exactly the amount (`exact`), or one of 0 and then one of
 * the amount (`reset`).
 */
export type ApprovalPlan = 'none' | 'exact' | 'reset'

/** Encodes the approval transactions of a plan. `exact` approves the amount; `reset` approves 0 first. */
export function encodeApprovals({ token, spender, amount }: TokenSpending, needed: ApprovalPlan): Transaction[] {
  const approve = (allowance: bigint) => ({
    to: token,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, allowance] }),
    value: 0n,
  })
  return { none: [], exact: [approve(amount)], reset: [approve(0n), approve(amount)] }[needed]
}

/**
 * Lists the approval plans to try at this allowance, in order. The caller uses the first plan that succeeds in a
 * simulation. Some tokens refuse to change an allowance above 0, so the list then has two plans.
 */
export function listApprovalPlans(amount: bigint, allowance: bigint): readonly [ApprovalPlan, ...ApprovalPlan[]] {
  if (allowance >= amount) return ['none']
  return allowance === 0n ? ['exact'] : ['exact', 'reset']
}

/**
 * Throws an Error unless these transactions approve exactly this amount for this spender and nothing else. An empty
 * list passes.
 */
export function verifyApprovals({ token, spender, amount }: TokenSpending, approval: readonly Transaction[]): void {
  const amounts = approval.map(({ to, data, value }) => {
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data })
    const right =
      functionName === 'approve' && isAddressEqual(to, token) && value === 0n && isAddressEqual(args[0], spender)
    if (!right) throw new Error('The approval is not for the spender.')
    return args[1]
  })
  const exact =
    amounts.length <= 2 && amounts.every((approved, i) => approved === (i < amounts.length - 1 ? 0n : amount))
  if (!exact) throw new Error('The approvals are not for exactly the amount.')
}
