import fc from 'fast-check'
import { type Address, decodeFunctionData, type Hex, pad, toHex, zeroAddress, zeroHash } from 'viem'
import { describe, expect, test } from 'vitest'
import { checksumAddress } from '../../../lib/core/codecs.ts'
import {
  buildDistributionsPlan,
  computeMerkleRoot,
  type Distributions,
  deriveRewardState,
  distributorAbi,
  encodeClaim,
  verifyClaim,
} from '../../../lib/rewards/distributor.ts'
import { MAX_UINT208 } from '../../../lib/rewards/merkl.ts'
import { rewardTree } from '../../../sandbox/reward-tree.ts'

const address = fc
  .bigInt({ min: 1n, max: 2n ** 160n - 1n })
  .map((number): Address => checksumAddress(pad(toHex(number), { size: 20 })))
const TOKEN_OWNER = checksumAddress(pad('0x1', { size: 20 }))
const amount = fc.bigInt({ min: 1n, max: MAX_UINT208 })
const hash = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((number): Hex => pad(toHex(number)))
const leaf = fc.record({ user: address, token: address, amount })
const TREE = fc
  .uniqueArray(leaf, { minLength: 1, maxLength: 40, selector: ({ user, token }) => user + token })
  .chain((leaves) => fc.record({ leaves: fc.constant(leaves), own: fc.constantFrom(...leaves) }))

const buildReward = (token: Address, total: bigint, proof: readonly Hex[], pending = 0n) => ({
  ...{ chainId: 8453, token, symbol: 'MORPHO', amount: total, claimed: 0n, pending, proof: [...proof], vaults: {} },
})

describe('A proof', () => {
  test('leads to the root of its tree', () => {
    fc.assert(
      fc.property(TREE, ({ leaves, own }) => {
        const tree = rewardTree(leaves)
        expect(computeMerkleRoot(own.user, { ...own, proof: [...tree.proofOf(own)] })).toBe(tree.root)
      }),
    )
  })

  test('of another user, token, amount or tree leads to another root', () => {
    fc.assert(
      fc.property(TREE, leaf, hash, ({ leaves, own }, other, stray) => {
        fc.pre(leaves.every(({ user, token }) => user !== other.user && token !== other.token))
        fc.pre(own.amount !== other.amount)
        const { root, proofOf } = rewardTree(leaves)
        const proof = [...proofOf(own)]
        const lies = [
          computeMerkleRoot(other.user, { ...own, proof }),
          computeMerkleRoot(own.user, { ...own, proof, token: other.token }),
          computeMerkleRoot(own.user, { ...own, proof, amount: other.amount }),
          computeMerkleRoot(own.user, { ...own, proof: [...proof, stray] }),
          computeMerkleRoot(own.user, { ...own, proof: [stray, ...proof.slice(1)] }),
        ]
        expect(lies).not.toContain(root)
      }),
    )
  })
})

describe('The state of a reward', () => {
  const at = (root: Hex, next: Distributions['next'], token: Address, claimed: bigint, recipient: Address) => ({
    ...{ root, next, tokens: new Map([[token, { claimed, recipient }]]) },
  })

  test('is the unpaid amount, once its proof leads to the root', () => {
    fc.assert(
      fc.property(TREE, amount, ({ leaves, own: { user, token, amount: total } }, claimed) => {
        const tree = rewardTree(leaves)
        const reward = buildReward(token, total, tree.proofOf({ user, token, amount: total }), 3n)
        const standing = deriveRewardState(user, reward, at(tree.root, undefined, token, claimed, user))
        const left = total > claimed ? total - claimed : 0n
        expect(standing).toEqual({ amount: left, pending: 3n, claimed, claimableAt: undefined, recipient: user })
      }),
    )
  })

  test('is pending while its tree can be disputed, with the end of that period', () => {
    fc.assert(
      fc.property(TREE, hash, ({ leaves, own: { user, token, amount: total } }, last) => {
        const tree = rewardTree(leaves)
        const reward = buildReward(token, total, tree.proofOf({ user, token, amount: total }), 3n)
        const next = { root: tree.root, at: 1_800_000_000n }
        const pending = { amount: 0n, pending: total + 3n, claimed: 0n, recipient: user }
        expect(deriveRewardState(user, reward, at(last, next, token, 0n, user))).toEqual({
          ...pending,
          claimableAt: next.at,
        })
        const disputed = deriveRewardState(user, reward, at(last, undefined, token, 0n, user))
        expect(disputed).toEqual({ ...pending, claimableAt: undefined })
      }),
    )
  })

  test('has no time if the chain’s time is beyond any date', () => {
    const tree = rewardTree([{ user: TOKEN_OWNER, token: TOKEN_OWNER, amount: 5n }])
    const next = { root: tree.root, at: 2n ** 48n - 1n }
    const standing = deriveRewardState(
      TOKEN_OWNER,
      buildReward(TOKEN_OWNER, 5n, []),
      at(zeroHash, next, TOKEN_OWNER, 0n, TOKEN_OWNER),
    )
    expect(standing).toMatchObject({ amount: 0n, pending: 5n, claimableAt: undefined })
  })

  test('is never claimable without a tree', () => {
    fc.assert(
      fc.property(address, address, amount, fc.array(hash, { maxLength: 5 }), (user, token, total, proof) => {
        const distributions = at(zeroHash, { root: zeroHash, at: 0n }, token, 0n, user)
        expect(deriveRewardState(user, buildReward(token, total, proof), distributions)).toMatchObject({ amount: 0n })
      }),
    )
  })
})

test('A token’s recipient precedes the recipient of all tokens, and both precede the user', () => {
  fc.assert(
    fc.property(address, address, address, address, (user, token, one, all) => {
      const { parse } = buildDistributionsPlan(user, [token])
      const recipientOf = (own: Address, ofAll: Address) => {
        const answers = [zeroHash, [zeroHash, zeroHash], 0, zeroAddress, ofAll, [5n, 0, zeroHash], own]
        return parse({ words: [], answers }).tokens.get(token)
      }
      expect(recipientOf(one, all)).toEqual({ claimed: 5n, recipient: one })
      expect(recipientOf(zeroAddress, all)).toEqual({ claimed: 5n, recipient: all })
      expect(recipientOf(zeroAddress, zeroAddress)).toEqual({ claimed: 5n, recipient: user })
    }),
  )
})

const CLAIM = fc.record({ token: address, amount, proof: fc.array(hash, { maxLength: 5 }) })
const CLAIMS = fc.uniqueArray(CLAIM, { minLength: 1, maxLength: 10, selector: ({ token }) => token })

describe('The calldata of a claim', () => {
  test('names the user for each token, and no one else', () => {
    fc.assert(
      fc.property(address, CLAIMS, (user, claims) => {
        const transaction = encodeClaim(user, claims)
        const { args } = decodeFunctionData({ abi: distributorAbi, data: transaction.data })
        expect(args).toEqual([
          claims.map(() => user),
          claims.map(({ token }) => token),
          claims.map((claim) => claim.amount),
          claims.map(({ proof }) => proof),
        ])
        expect(() => verifyClaim(user, claims, transaction)).not.toThrow()
      }),
    )
  })

  test('is refused by the verification if anything in it differs', () => {
    fc.assert(
      fc.property(address, CLAIMS, CLAIM, address, (user, claims, other, stranger) => {
        fc.pre(stranger !== user && claims.every(({ token }) => token !== other.token))
        const [first, ...rest] = claims
        if (!first) return
        const right = encodeClaim(user, claims)
        const lies = [
          encodeClaim(stranger, claims),
          encodeClaim(user, [...claims, other]),
          encodeClaim(user, rest),
          encodeClaim(user, [{ ...first, token: other.token }, ...rest]),
          encodeClaim(user, [{ ...first, amount: first.amount - 1n }, ...rest]),
          encodeClaim(user, [{ ...first, proof: [...first.proof, zeroHash] }, ...rest]),
          { ...right, to: stranger },
          { ...right, value: 1n },
          { ...right, data: '0x' as const },
        ]
        for (const lie of lies) expect(() => verifyClaim(user, claims, lie)).toThrow('differs from the request')
      }),
    )
  })
})
