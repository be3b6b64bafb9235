import { type Address, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from 'viem'
import { inBatches } from '../../lib/core/batches.ts'
import { sum } from '../../lib/core/bigint.ts'
import { buildMerkleTree } from '../merkle.ts'

const LEAF = parseAbiParameters([
  'struct RefundLeaf { uint256 amountToReturn; uint256 chainId; uint256[] refundAmounts; uint32 leafId; address l2TokenAddress; address[] refundAddresses; }',
  'RefundLeaf leaf',
])

/** Refund that a bundle pays to an account. `amount` is in the token's smallest unit. */
export type Payment = { readonly token: Address; readonly account: Address; readonly amount: bigint }

/** Leaf of a refund bundle's Merkle tree. One contract call executes a leaf, which pays several accounts in one token. */
export type RefundLeaf = {
  readonly amountToReturn: bigint
  readonly chainId: bigint
  readonly refundAmounts: readonly bigint[]
  readonly leafId: number
  readonly l2TokenAddress: Address
  readonly refundAddresses: readonly Address[]
}

/** Bundle of refunds: the Merkle root, and each leaf with its Merkle proof. */
export type RefundBundle = {
  readonly root: Hex
  readonly leaves: readonly { readonly leaf: RefundLeaf; readonly proof: readonly Hex[] }[]
}

const PAYMENTS_PER_LEAF = 25

/**
 * Builds a refund bundle in the format of Across' data worker. Each account gets one total per token. Each leaf has one token, with the
 * largest amounts first. A bundle does not name the refunded deposits.
 */
export function buildRefundBundle(
  chainId: number,
  payments: readonly Payment[],
  paymentsPerLeaf = PAYMENTS_PER_LEAF,
): RefundBundle {
  const tokens = [...Map.groupBy(payments, ({ token }) => token)].sort(([a], [b]) => compare(a, b))
  const groups = tokens.flatMap(([token, ofToken]) =>
    inBatches(sumByAccount(ofToken), paymentsPerLeaf).map((sums) => ({ token, sums })),
  )
  const leaves = groups.map(({ token, sums }, leafId) => ({
    amountToReturn: 0n,
    chainId: BigInt(chainId),
    refundAmounts: sums.map(([, amount]) => amount),
    leafId,
    l2TokenAddress: token,
    refundAddresses: sums.map(([account]) => account),
  }))
  const { root, proofAt } = buildMerkleTree(leaves.map((leaf) => keccak256(encodeAbiParameters(LEAF, [leaf]))))
  return {
    root: root ?? '0x',
    leaves: leaves.map((leaf, index) => ({ leaf, proof: proofAt(index) })),
  }
}

function sumByAccount(payments: readonly Payment[]): (readonly [Address, bigint])[] {
  return [...Map.groupBy(payments, ({ account }) => account)]
    .map(([account, ofAccount]) => [account, sum(ofAccount.map(({ amount }) => amount))] as const)
    .sort(([a, more], [b, less]) => compare(less, more) || compare(a.toLowerCase(), b.toLowerCase()))
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
