import { type Address, concat, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from 'viem'

/** Leaf of a Merkle tree of rewards: a user's lifetime rewards in a token, in the token's smallest unit. */
export type RewardLeaf = { readonly user: Address; readonly token: Address; readonly amount: bigint }

type RewardTree = {
  readonly root: Hex
  /** Returns the Merkle proof of a leaf: the siblings from the leaf to the root. Throws for an unknown leaf. */
  proofOf(leaf: RewardLeaf): readonly Hex[]
}

const LEAF = parseAbiParameters('address user, address token, uint256 amount')

/** Builds the Merkle tree of these leaves. A node without a sibling moves up unchanged. Throws if there are no leaves. */
export function rewardTree(leaves: readonly RewardLeaf[]): RewardTree {
  const levels: Hex[][] = [leaves.map(hashLeaf)]
  for (let level = levels[0] ?? []; level.length > 1; levels.push(level)) {
    const nodes = level
    level = nodes.flatMap((node, index) => {
      if (index % 2 === 1) return []
      const sibling = nodes[index + 1]
      return sibling === undefined ? node : hashPair(node, sibling)
    })
  }
  const root = levels.at(-1)?.[0]
  if (root === undefined) throw new Error('A tree needs a leaf')
  return {
    root,
    proofOf(leaf) {
      const first = levels[0]?.indexOf(hashLeaf(leaf)) ?? -1
      if (first < 0) throw new Error('The tree has no such leaf')
      return levels.flatMap((level, height) => {
        const index = first >> height
        return level[index % 2 === 0 ? index + 1 : index - 1] ?? []
      })
    },
  }
}

function hashLeaf({ user, token, amount }: RewardLeaf): Hex {
  return keccak256(encodeAbiParameters(LEAF, [user, token, amount]))
}

/** Hashes two nodes in ascending order. The concatenation of two 32-byte words equals their `abi.encode`. */
function hashPair(left: Hex, right: Hex): Hex {
  return keccak256(concat(left < right ? [left, right] : [right, left]))
}
