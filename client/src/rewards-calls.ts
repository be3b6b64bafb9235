import { encodeDynamicParts, encodeWord, isSameAddress, type Transaction } from './calls.ts'
import { refuseUnless } from './refusal.ts'

// This file verifies claims of rewards from Merkl's contract Distributor.
// Source of its ABI and address: https://github.com/AngleProtocol/merkl-contracts

/** Address of the contract that pays rewards. It is the same on every chain. */
const DISTRIBUTOR = '0x3ef3d8ba38ebe18db133cec108f4d14ce00dd9ae'
/** Selector of `claim(address[] users, address[] tokens, uint256[] amounts, bytes32[][] proofs)`. */
const CLAIM = '71ee95c0'
/** Largest total of rewards that the contract can store, because it stores totals in 208 bits. */
const MAX_TOTAL = 2n ** 208n - 1n

/** Reward token, and the amount that a claim pays, in the token's smallest unit. */
export type Reward = { readonly token: string; readonly amount: bigint }

/**
 * Verifies that a transaction claims exactly these rewards for the user. The contract pays a total minus its earlier payments, so the total
 * may exceed the amount. Merkle proofs are not checked, because only the chain can check them. Throws a Refusal on any difference.
 */
export function verifyRewardsClaim({ to, data }: Transaction, user: string, rewards: readonly Reward[]): void {
  refuseUnless(isSameAddress(to, DISTRIBUTOR), 'the claim is not to the contract that pays rewards')
  const tokens = rewards.map(({ token }) => token.toLowerCase())
  refuseUnless(tokens.length > 0 && new Set(tokens).size === tokens.length, 'a token would be claimed twice, or none')
  // The verifier cannot know the totals and proofs. So it reads them from the call, encodes the whole call again and compares.
  const words = data.slice(8).match(/.{64}/g) ?? []
  const size = rewards.length + 1
  const totals = words.slice(4 + 2 * size + 1, 4 + 3 * size)
  let rest = words.slice(4 + 4 * size)
  const proofs = rewards.map(() => {
    const [length = '0', ...behind] = rest
    const proof = behind.slice(0, Number(`0x${length}`))
    rest = behind.slice(proof.length)
    return proof
  })
  const users = rewards.map(() => encodeWord(user))
  const lists = [
    listOf(users),
    listOf(tokens.map(encodeWord)),
    listOf(totals),
    encodeWord(BigInt(proofs.length)) + encodeDynamicParts(proofs.map(listOf)),
  ]
  refuseUnless(data === CLAIM + encodeDynamicParts(lists), 'the claim is not of these tokens only for the user')
  const isCovered = rewards.every(({ amount }, index) => {
    const total = BigInt(`0x${totals[index]}`)
    return amount > 0n && amount <= total && total <= MAX_TOTAL
  })
  refuseUnless(isCovered, 'less would be claimed than the answer names')
}

/** Describes a claim of rewards in words, for the user. */
export function describeRewardsClaim(user: string, rewards: readonly Reward[]): string {
  const paid = rewards.map(({ token, amount }) => `${amount} of the token ${token}`)
  return `has the contract ${DISTRIBUTOR} pay the rewards of ${user}: ${paid.join(', ')}`
}

function listOf(words: readonly string[]): string {
  return encodeWord(BigInt(words.length)) + words.join('')
}
