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

/** Merkl's Distributor, the same on every chain; a proxy (https://github.com/AngleProtocol/merkl-contracts). */
export const DISTRIBUTOR: Address = '0x3Ef3D8bA38EBe18DB133cEc108f4D14CE00Dd9Ae'

/** ABI of the Distributor functions, events and errors that the service uses. */
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

/** Claim of one token: the total ever earned, in its smallest unit, and its proof. */
export type RewardClaim = Pick<ReportedReward, 'token' | 'amount' | 'proof'>

/** Computes the Merkle root of a claim's leaf and proof. Pairs are hashed in ascending order, each hash as 32 bytes. */
export function foldProof(account: Address, { token, amount, proof }: RewardClaim): Hash {
  const types = [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }] as const
  const leaf = keccak256(encodeAbiParameters(types, [account, token, amount]))
  return proof.reduce<Hash>((hash, sibling) => {
    const other = sibling.toLowerCase().slice(2)
    const own = hash.slice(2)
    return keccak256(own < other ? `0x${own}${other}` : `0x${other}${own}`)
  }, leaf)
}

/** Encodes the transaction that claims these tokens for an account. */
export function encodeClaim(account: Address, claims: readonly RewardClaim[]): Transaction {
  const args = [
    claims.map(() => account),
    claims.map(({ token }) => token),
    claims.map(({ amount }) => amount),
    claims.map(({ proof }) => proof),
  ] as const
  return { to: DISTRIBUTOR, data: encodeFunctionData({ abi: distributorAbi, functionName: 'claim', args }), value: 0n }
}

/** Throws unless the transaction claims exactly these tokens, only for the account. */
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

/** Distributor at one block: its roots, and the paid amount and the recipient of each token. */
export type Distributions = {
  /** Current root of valid proofs; zero before the first tree. */
  readonly root: Hash
  /** Root of the newest tree, and the epoch second at which it takes effect; undefined while it is disputed. */
  readonly next: { readonly root: Hash; readonly at: bigint } | undefined
  /** Total paid, in the smallest unit, and recipient of the next payment, by token. */
  readonly tokens: ReadonlyMap<Address, { readonly claimed: bigint; readonly recipient: Address }>
}

/** Builds the plan that reads the Distributor for an account's tokens. */
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
      // The cast: each response has the type of the call at its index.
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
        // The cast: each token has two responses, in the order of the calls.
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

/** State of a reward on the chain. Amounts are in the token's smallest unit. */
export type RewardState = {
  /** Amount that a claim pays now, proven by the chain's root. */
  readonly amount: bigint
  /** Earned but not claimable yet, by the source's report. */
  readonly pending: bigint
  /** Total ever paid. */
  readonly claimed: bigint
  /** Epoch second at which the newest tree pays; undefined if it lacks this reward or has no known time. */
  readonly claimableAt: bigint | undefined
  readonly recipient: Address
}

/** Computes the state of a reported reward on the chain at one block. */
export function deriveRewardState(
  account: Address,
  reported: ReportedReward,
  { root, next, tokens }: Distributions,
): RewardState {
  const { claimed, recipient } = requireValue(tokens.get(reported.token))
  const left = max(reported.amount - claimed, 0n)
  const proven = foldProof(account, reported)
  if (proven === root) return { amount: left, pending: reported.pending, claimed, claimableAt: undefined, recipient }
  const claimableAt = left > 0n && proven === next?.root && next.at <= LAST_SECOND ? next.at : undefined
  return { amount: 0n, pending: left + reported.pending, claimed, claimableAt, recipient }
}
