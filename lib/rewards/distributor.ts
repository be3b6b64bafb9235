import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hash,
  keccak256,
  parseAbi,
  zeroAddress,
} from 'viem'
import { call, requireValue } from '../chain/call.ts'
import { decodeCall } from '../chain/decode.ts'
import type { ReadPlan } from '../chain/reader.ts'
import type { Transaction } from '../chain/transaction.ts'
import { max } from '../core/bigint.ts'
import { LAST_SECOND } from '../core/time.ts'
import type { ReportedReward } from './merkl.ts'

/**
 * Address of Merkl's Distributor, the contract that pays rewards. It is a proxy with the same address on every chain
 * (https://github.com/AngleProtocol/merkl-contracts).
 */
export const DISTRIBUTOR: Address = '0x3Ef3D8bA38EBe18DB133cEc108f4D14CE00Dd9Ae'

/** ABI of the functions, events and errors of Merkl's Distributor that the service uses. */
export const distributorAbi = parseAbi([
  'function claim(address[] users, address[] tokens, uint256[] amounts, bytes32[][] proofs)',
  'function getMerkleRoot() view returns (bytes32)',
  'function tree() view returns (bytes32 merkleRoot, bytes32 ipfsHash)',
  'function endOfDisputePeriod() view returns (uint48)',
  'function disputer() view returns (address)',
  'function claimed(address user, address token) view returns (uint208 amount, uint48 timestamp, bytes32 merkleRoot)',
  'function claimRecipient(address user, address token) view returns (address)',
  'event Claimed(address indexed user, address indexed token, uint256 amount)',
  'error InvalidLengths()',
  'error InvalidProof()',
  'error InvalidUninitializedRoot()',
  'error NotWhitelisted()',
  'error ReentrantCall()',
])

/** Claim of one token. `amount` is the total that the account ever earned, in the smallest unit; `proof` is its Merkle proof. */
export type RewardClaim = Pick<ReportedReward, 'token' | 'amount' | 'proof'>

/** Computes the Merkle root that a claim and its proof result in. The two hashes of a pair are sorted before hashing. */
export function computeMerkleRoot(account: Address, { token, amount, proof }: RewardClaim): Hash {
  const types = [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }] as const
  const leaf = keccak256(encodeAbiParameters(types, [account, token, amount]))
  return proof.reduce<Hash>((hash, sibling) => {
    const other = sibling.toLowerCase().slice(2)
    const own = hash.slice(2)
    return keccak256(own < other ? `0x${own}${other}` : `0x${other}${own}`)
  }, leaf)
}

/** Encodes the transaction by which an account claims these tokens for itself. */
export function encodeClaim(account: Address, claims: readonly RewardClaim[]): Transaction {
  const args = [
    claims.map(() => account),
    claims.map(({ token }) => token),
    claims.map(({ amount }) => amount),
    claims.map(({ proof }) => proof),
  ] as const
  return { to: DISTRIBUTOR, data: encodeFunctionData({ abi: distributorAbi, functionName: 'claim', args }), value: 0n }
}

/** Throws an Error unless the transaction claims exactly these tokens, and only for this account. */
export function verifyClaim(account: Address, claims: readonly RewardClaim[], { to, data, value }: Transaction): void {
  const decoded = decodeCall(distributorAbi, data)
  const [users, tokens, amounts, proofs] = decoded?.functionName === 'claim' ? decoded.args : []
  const isRight = claims.every(
    ({ token, amount, proof }, index) =>
      users?.[index] === account &&
      tokens?.[index] === token &&
      amounts?.[index] === amount &&
      proofs?.[index]?.join().toLowerCase() === proof.join().toLowerCase(),
  )
  const lengths = [users, tokens, amounts, proofs].map((list) => list?.length)
  if (to !== DISTRIBUTOR || value !== 0n || !isRight || lengths.some((length) => length !== claims.length)) {
    throw new Error('The claim differs from the request.')
  }
}

/** State of Merkl's Distributor at one block: its Merkle roots, and what it paid an account of each token. */
export type Distributions = {
  /** Merkle root by which proofs are verified now; zero before the first tree. */
  readonly root: Hash
  /**
   * Merkle root of the newest tree, and the time at which it takes effect, in seconds since 1970. It is undefined while the tree is
   * disputed.
   */
  readonly next: { readonly root: Hash; readonly at: bigint } | undefined
  /** Total ever paid of each token, in its smallest unit, and the address that gets the next payment. */
  readonly tokens: ReadonlyMap<Address, { readonly claimed: bigint; readonly recipient: Address }>
}

/** Builds the plan that reads the Distributor's roots, and what it paid an account of these tokens. */
export function distributionsPlan(account: Address, tokens: readonly Address[]): ReadPlan<Distributions> {
  const trees = [
    call(DISTRIBUTOR, distributorAbi, 'getMerkleRoot', []),
    call(DISTRIBUTOR, distributorAbi, 'tree', []),
    call(DISTRIBUTOR, distributorAbi, 'endOfDisputePeriod', []),
    call(DISTRIBUTOR, distributorAbi, 'disputer', []),
  ]
  const recipientOf = (token: Address) => call(DISTRIBUTOR, distributorAbi, 'claimRecipient', [account, token])
  const ofTokens = tokens.map(
    (token) => [call(DISTRIBUTOR, distributorAbi, 'claimed', [account, token]), recipientOf(token)] as const,
  )
  return {
    address: DISTRIBUTOR,
    slots: [],
    calls: [...trees, recipientOf(zeroAddress), ...ofTokens.flat()],
    parse: ({ answers }) => {
      // The cast: each result has the type of the call at its index.
      const [root, tree, at, disputer, ofAll, ...rest] = answers as [
        Hash | undefined,
        readonly [Hash, Hash] | undefined,
        number | undefined,
        Address | undefined,
        Address | undefined,
        ...unknown[],
      ]
      const isDisputed = requireValue(disputer) !== zeroAddress
      const paid = tokens.map((token, index) => {
        // The cast: each token has two results, in the order of the calls.
        const [claimed, recipient] = rest.slice(index * 2) as [readonly [bigint] | undefined, Address | undefined]
        const chosen = [requireValue(recipient), requireValue(ofAll)].find((one) => one !== zeroAddress)
        return [token, { claimed: requireValue(claimed)[0], recipient: chosen ?? account }] as const
      })
      return {
        root: requireValue(root),
        next: isDisputed ? undefined : { root: requireValue(tree)[0], at: BigInt(requireValue(at)) },
        tokens: new Map(paid),
      }
    },
  }
}

/** State of one reward of an account, by the chain and Merkl's report. Amounts are in the token's smallest unit. */
export type RewardState = {
  /** Amount that a claim pays now, by a proof that matches the chain's Merkle root. */
  readonly amount: bigint
  /** Amount that the account has earned but cannot claim yet, by Merkl's report. */
  readonly pending: bigint
  /** Total amount that was ever paid. */
  readonly claimed: bigint
  /**
   * Time from which the pending amount can be claimed, in seconds since 1970. It is undefined if the newest tree lacks this reward or has
   * no known time.
   */
  readonly claimableAt: bigint | undefined
  readonly recipient: Address
}

/** Computes the state of a reward at one block from Merkl's report and the Distributor's state. */
export function deriveRewardState(
  account: Address,
  reported: ReportedReward,
  { root, next, tokens }: Distributions,
): RewardState {
  const { claimed, recipient } = requireValue(tokens.get(reported.token))
  const left = max(reported.amount - claimed, 0n)
  const proven = computeMerkleRoot(account, reported)
  if (proven === root) return { amount: left, pending: reported.pending, claimed, claimableAt: undefined, recipient }
  const claimableAt = left > 0n && proven === next?.root && next.at <= LAST_SECOND ? next.at : undefined
  return { amount: 0n, pending: left + reported.pending, claimed, claimableAt, recipient }
}
