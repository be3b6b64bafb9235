import { concat, type Hex, keccak256 } from 'viem'
import { inBatches } from '../lib/core/batches.ts'

type MerkleTree = {
  /** Root of the tree; undefined if there are no leaves. */
  readonly root: Hex | undefined
  /** Returns the Merkle proof of the leaf at `index`: the siblings from the leaf to the root. */
  proofAt(index: number): readonly Hex[]
}

/** Builds a Merkle tree of hashed leaves. A node without a sibling moves up unchanged. */
export function buildMerkleTree(leaves: readonly Hex[]): MerkleTree {
  const levels = [leaves]
  for (let level = leaves; level.length > 1; levels.push(level)) {
    level = inBatches(level, 2).flatMap(([a, b]) => (a && b ? hashPair(a, b) : (a ?? [])))
  }
  return {
    root: levels.at(-1)?.[0],
    proofAt: (index) => levels.flatMap((level, height) => level[(index >> height) ^ 1] ?? []),
  }
}

/** Hashes two nodes in ascending order. The concatenation of two 32-byte words equals their `abi.encode`. */
function hashPair(a: Hex, b: Hex): Hex {
  return keccak256(concat(a < b ? [a, b] : [b, a]))
}
