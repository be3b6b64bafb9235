import { type Address, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from 'viem'
import { buildMerkleTree } from './merkle.ts'

/** Leaf of a Merkle tree of rewards: a user's lifetime rewards in a token, in the token's smallest unit. */
export type RewardLeaf = { readonly user: Address; readonly token: Address; readonly amount: bigint }

type RewardTree = {
  readonly root: Hex
  /** Returns the Merkle proof of a leaf: the siblings from the leaf to the root. Throws for an unknown leaf. */
  proofOf(leaf: RewardLeaf): readonly Hex[]
}

const LEAF = parseAbiParameters('address user, address token, uint256 amount')

/** Builds the Merkle tree of these leaves. Throws if there are no leaves. */
export function rewardTree(leaves: readonly RewardLeaf[]): RewardTree {
  const hashes = leaves.map(hashLeaf)
  const { root, proofAt } = buildMerkleTree(hashes)
  if (root === undefined) throw new Error('A tree needs a leaf')
  return {
    root,
    proofOf(leaf) {
      const index = hashes.indexOf(hashLeaf(leaf))
      if (index < 0) throw new Error('The tree has no such leaf')
      return proofAt(index)
    },
  }
}

function hashLeaf({ user, token, amount }: RewardLeaf): Hex {
  return keccak256(encodeAbiParameters(LEAF, [user, token, amount]))
}
