import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hash,
  keccak256,
  parseAbi,
  zeroAddress,
} from 'viem'
import { buildCall, requireValue } from '../chain/call.ts'
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

/** ABI of the functions, events and errors of Merkl's Distributor contract that the service uses. */
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

/**
 * Claim of one token. `amount` is the total that the account ever earned, in the token's smallest unit. `proof` is the
 * Merkle proof of that amount.
 */
export type RewardClaim = Pick<ReportedReward, 'token' | 'amount' | 'proof'>

/**
 * Computes the Merkle root that results from a claim and its proof. Each pair of hashes is sorted before hashing, as
 * the Distributor contract does.
 */
export function computeMerkleRoot(account: Address, { token, amount, proof }: RewardClaim): Hash {
  const types = [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }] as const
  const leaf = keccak256(encodeAbiParameters(types, [account, token, amount]))
  return proof.reduce<Hash>((hash, sibling) => {
    const other = sibling.toLowerCase().slice(2)
    const own = hash.slice(2)
    return keccak256(own < other ? `0x${own}${other}` : `0x${other}${own}`)
  }, leaf)
}

/** Encodes the transaction with which an account claims these tokens for itself. */
export function encodeClaim(account: Address, claims: readonly RewardClaim[]): Transaction {
  const args = [
    claims.map(() => account),
    claims.map(({ token }) => token),
    claims.map(({ amount }) => amount),
    claims.map(({ proof }) => proof),
  ] as const
  return { to: DISTRIBUTOR, data: encodeFunctionData({ abi: distributorAbi, functionName: 'claim', args }), value: 0n }
}

/** Throws an Error unless the transaction claims exactly these tokens for this account only. */
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

/** State of Merkl's Distributor contract at one block: its Merkle roots, and the amounts that it has paid to an account. */
export type Distributions = {
  /** Merkle root with which the contract verifies proofs now. It is zero before the first root is published. */
  readonly root: Hash
  /** Newest Merkle root, and the time in seconds since 1970 at which it takes effect. It is undefined while the root is disputed. */
  readonly next: { readonly root: Hash; readonly at: bigint } | undefined
  /** Amount of each token that the account was ever paid, in smallest units, and the address that the next claim pays. */
  readonly tokens: ReadonlyMap<Address, { readonly claimed: bigint; readonly recipient: Address }>
}

/** Builds the plan of the contract calls that read the Distributor's Merkle roots and the amounts paid to an account. */
export function buildDistributionsPlan(account: Address, tokens: readonly Address[]): ReadPlan<Distributions> {
  const trees = [
    buildCall(DISTRIBUTOR, distributorAbi, 'getMerkleRoot', []),
    buildCall(DISTRIBUTOR, distributorAbi, 'tree', []),
    buildCall(DISTRIBUTOR, distributorAbi, 'endOfDisputePeriod', []),
    buildCall(DISTRIBUTOR, distributorAbi, 'disputer', []),
  ]
  const recipientOf = (token: Address) => buildCall(DISTRIBUTOR, distributorAbi, 'claimRecipient', [account, token])
  const ofTokens = tokens.map(
    (token) => [buildCall(DISTRIBUTOR, distributorAbi, 'claimed', [account, token]), recipientOf(token)] as const,
  )
  return {
    address: DISTRIBUTOR,
    slots: [],
    calls: [...trees, recipientOf(zeroAddress), ...ofTokens.flat()],
    parse: ({ answers }) => {
      // The cast is safe: each result has the type of the call with the same index.
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
        // The cast is safe: each token has two results, in the order of the calls above.
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

/** State of an account's reward in one token, from the chain and Merkl's report. Amounts are in the token's smallest unit. */
export type RewardState = {
  /** Amount that a claim pays now. Its Merkle proof matches the contract's current Merkle root. */
  readonly amount: bigint
  /** Amount that the account has earned but cannot claim yet, as Merkl reports it. */
  readonly pending: bigint
  /** Total amount that the account was ever paid. */
  readonly claimed: bigint
  /**
   * Time in seconds since 1970 from which the pending amount can be claimed. It is undefined if the newest Merkle root
   * is disputed, does not contain this reward, or has no valid time.
   */
  readonly claimableAt: bigint | undefined
  readonly recipient: Address
}

/** Computes the state of a reward at one block, from Merkl's report and the state of the Distributor contract. */
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
