import { type Address, encodeFunctionData, getAddress, type Hex, isAddressEqual, parseAbi, zeroHash } from 'viem'
import { readContract } from 'viem/actions'
import { ACCOUNTS } from './accounts.ts'
import type { LocalChain } from './chains.ts'
import { compiledContract } from './contracts.ts'
import { type RewardLeaf, rewardTree } from './reward-tree.ts'
import { callRpc, createBatchingClient } from './rpc.ts'
import { createSerialRunner } from './serial.ts'
import { type LocalTransaction, transact } from './transactions.ts'

/** Address of Merkl's Distributor, the reward contract, on every chain. */
export const DISTRIBUTOR: Address = '0x3Ef3D8bA38EBe18DB133cEc108f4D14CE00Dd9Ae'

/**
 * ABI of Merkl's Distributor, without functions for settings and for operators who claim for others. Only the local contract has
 * `endDisputePeriod`.
 */
export const distributorAbi = parseAbi([
  'function claim(address[] users, address[] tokens, uint256[] amounts, bytes32[][] proofs)',
  'function claimed(address user, address token) view returns (uint208 amount, uint48 timestamp, bytes32 merkleRoot)',
  'function getMerkleRoot() view returns (bytes32)',
  'function tree() view returns (bytes32 merkleRoot, bytes32 ipfsHash)',
  'function lastTree() view returns (bytes32 merkleRoot, bytes32 ipfsHash)',
  'function endOfDisputePeriod() view returns (uint48)',
  'function disputer() view returns (address)',
  'function claimRecipient(address user, address token) view returns (address)',
  'function setClaimRecipient(address recipient, address token)',
  'function updateTree((bytes32 merkleRoot, bytes32 ipfsHash) newTree)',
  'function disputeTree(string reason)',
  'function resolveDispute(bool valid)',
  'function revokeTree()',
  'function endDisputePeriod()',
  'event Claimed(address indexed user, address indexed token, uint256 amount)',
  'event ClaimRecipientUpdated(address indexed user, address indexed recipient, address indexed token)',
  'event TreeUpdated(bytes32 merkleRoot, bytes32 ipfsHash, uint48 endOfDisputePeriod)',
  'event Disputed(string reason)',
  'event DisputeResolved(bool valid)',
  'event Revoked()',
  'error InvalidLengths()',
  'error NotWhitelisted()',
  'error InvalidUninitializedRoot()',
  'error InvalidProof()',
  'error ReentrantCall()',
  'error UnresolvedDispute()',
  'error InvalidDispute()',
  'error NoDispute()',
  'error SafeCastOverflowedUintDowncast(uint8 bits, uint256 value)',
  'error SafeERC20FailedOperation(address token)',
])

/** Rewards of an account from one vault's campaign. `amount` is in the token's smallest unit. */
export type Reward = {
  readonly account: Address
  readonly token: Address
  readonly vault: Address
  readonly amount: bigint
}

type ShownReward = {
  readonly token: Address
  /**
   * Lifetime rewards in the Merkle tree that the fake of Merkl reports, in the smallest unit. The amount is 0 if the Merkle tree has no
   * leaf for the account.
   */
  readonly amount: bigint
  /** Rewards that the reported Merkle tree does not contain yet, in the smallest unit. */
  readonly pending: bigint
  readonly proofs: readonly Hex[]
  /** `amount` and `pending` split by vault. */
  readonly parts: readonly { readonly vault: Address; readonly amount: bigint; readonly pending: bigint }[]
}

type ShownRewards = {
  readonly root: Hex
  /** End of the newest Merkle tree's dispute period, in seconds since 1970. */
  readonly endOfDisputePeriod: number
  readonly rewards: readonly ShownReward[]
}

/** Operator of the reward campaigns. It posts one Merkle tree after another to the reward contract. */
export type RewardOperator = {
  readonly settings: {
    /**
     * Merkle tree whose rewards the fake of Merkl reports: the newest one, as the real Merkl does, or the one by which accounts can claim
     * now.
     */
    shows: 'newest' | 'effective'
    /** Maximum age in seconds of the claimed amounts that the fake of Merkl reports. */
    claimedLagSeconds: number
    requestsPerSecond: number
  }
  /**
   * Posts a Merkle tree that adds these rewards to earlier rewards, and funds the reward contract. The Merkle tree takes effect immediately
   * unless `inDisputePeriod` is true. A negative amount reduces earlier rewards. Throws while a dispute is open.
   */
  grant(chainId: number, rewards: readonly Reward[], options?: { readonly inDisputePeriod?: boolean }): Promise<void>
  /** Makes the fake of Merkl report these rewards as pending, without posting a Merkle tree. */
  addPending(chainId: number, rewards: readonly Reward[]): void
  /** Disputes the newest Merkle tree. Throws unless this Merkle tree is in its dispute period. */
  dispute(chainId: number): Promise<void>
  /**
   * Ends a dispute. A valid dispute revokes the newest Merkle tree; an invalid dispute restarts the dispute period. Throws if no dispute is
   * open.
   */
  resolve(chainId: number, isValid: boolean): Promise<void>
  /** Revokes the newest Merkle tree, so that the previous one takes effect again. Throws while a dispute is open. */
  revoke(chainId: number): Promise<void>
  readShownRewards(chainId: number, account: Address): Promise<ShownRewards>
  readClaimed(chainId: number, account: Address, token: Address): Promise<bigint>
}

type Book = { readonly trees: Map<Hex, readonly Reward[]>; readonly pending: Reward[] }

const OPERATOR = ACCOUNTS.anchor.address
const CLAIMED_LAG_SECONDS = 300
const REQUESTS_PER_SECOND = 10
const TOKEN = parseAbi(['function mint(address to, uint256 amount)'])

/** Installs the reward contract's code at the contract's real address. The contract has no Merkle tree yet. */
export async function installDistributor(chain: LocalChain): Promise<void> {
  const { deployedBytecode } = await compiledContract('RewardDistributor')
  await callRpc(chain, [{ method: 'anvil_setCode', params: [DISTRIBUTOR, deployedBytecode] }])
}

/** Creates an operator of reward campaigns. A chain needs the reward contract only before the first call with its chain id. */
export function createRewardOperator({ chains }: { readonly chains: readonly LocalChain[] }): RewardOperator {
  const books = new Map(chains.map(({ chainId }): [number, Book] => [chainId, { trees: new Map(), pending: [] }]))
  const runInOrder = createSerialRunner()
  const settings: RewardOperator['settings'] = {
    ...{ shows: 'newest', claimedLagSeconds: CLAIMED_LAG_SECONDS, requestsPerSecond: REQUESTS_PER_SECOND },
  }
  const find = (chainId: number) => {
    const [chain, book] = [chains.find((candidate) => candidate.chainId === chainId), books.get(chainId)]
    if (!chain || !book) throw new Error(`There are no campaigns on chain ${chainId}`)
    return { chain, book }
  }
  const send = (chainId: number, call: LocalTransaction) =>
    runInOrder(async () => {
      await transact(find(chainId).chain, [call])
    })

  return {
    settings,
    grant: (chainId, rewards, { inDisputePeriod = false } = {}) =>
      runInOrder(async () => {
        const { chain, book } = find(chainId)
        const { newest } = await readTrees(chain)
        const all = addUp([...(book.trees.get(newest) ?? []), ...rewards])
        const { root } = rewardTree(leavesOf(all))
        book.trees.set(root, all)
        const sums = leavesOf(rewards.map((reward) => ({ ...reward, account: DISTRIBUTOR })))
        const funds = sums.filter(({ amount }) => amount > 0n)
        await transact(chain, [
          ...funds.map(({ token, amount }) => ({
            ...{ label: 'mint', from: OPERATOR, to: token },
            data: encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [DISTRIBUTOR, amount] }),
          })),
          call('updateTree', [{ merkleRoot: root, ipfsHash: zeroHash }]),
          ...(inDisputePeriod ? [] : [call('endDisputePeriod')]),
        ])
      }),
    addPending: (chainId, rewards) => {
      find(chainId).book.pending.push(...rewards)
    },
    dispute: (chainId) => send(chainId, call('disputeTree', ['A dispute of the sandbox'])),
    resolve: (chainId, isValid) => send(chainId, call('resolveDispute', [isValid])),
    revoke: (chainId) => send(chainId, call('revokeTree')),
    readShownRewards: async (chainId, account) => {
      const { chain, book } = find(chainId)
      const { newest, effective, endOfDisputePeriod } = await readTrees(chain)
      const root = settings.shows === 'newest' ? newest : effective
      const shown = book.trees.get(root) ?? []
      const later = [...(book.trees.get(newest) ?? []), ...book.pending]
      return { root, endOfDisputePeriod, rewards: showRewards(account, shown, later) }
    },
    readClaimed: async (chainId, account, token) => {
      const args = [account, token] as const
      const [amount] = await readContract(createBatchingClient(find(chainId).chain), {
        ...{ address: DISTRIBUTOR, abi: distributorAbi, functionName: 'claimed' },
        args,
      })
      return amount
    },
  }
}

/**
 * Returns an account's rewards by token. `shown` are the rewards in the reported Merkle tree. `later` are the rewards in the newest Merkle
 * tree, plus rewards that no Merkle tree has yet. The difference is pending.
 */
function showRewards(account: Address, shown: readonly Reward[], later: readonly Reward[]): ShownReward[] {
  const isOwn = (reward: Reward) => isAddressEqual(reward.account, account)
  const leaves = leavesOf(shown)
  const ofLater = addUp(later).filter(isOwn)
  return leavesOf([...shown, ...ofLater].filter(isOwn)).map(({ token }) => {
    const parts = ofLater
      .filter((reward) => isAddressEqual(reward.token, token))
      .map(({ vault, amount: total }) => {
        const now = shown.find((reward) => isOwn(reward) && keyOf(reward) === keyOf({ account, token, vault }))
        const amount = now?.amount ?? 0n
        return { vault, amount, pending: total - amount }
      })
    const leaf = leaves.find(({ user, token: of }) => isAddressEqual(user, account) && isAddressEqual(of, token))
    return {
      token,
      amount: leaf?.amount ?? 0n,
      pending: parts.reduce((sum, { pending }) => sum + pending, 0n),
      proofs: leaf ? rewardTree(leaves).proofOf(leaf) : [],
      parts,
    }
  })
}

async function readTrees(chain: LocalChain) {
  const client = createBatchingClient(chain)
  const read = { address: DISTRIBUTOR, abi: distributorAbi } as const
  const [[newest], effective, endOfDisputePeriod] = await Promise.all([
    readContract(client, { ...read, functionName: 'tree' }),
    readContract(client, { ...read, functionName: 'getMerkleRoot' }),
    readContract(client, { ...read, functionName: 'endOfDisputePeriod' }),
  ])
  return { newest, effective, endOfDisputePeriod }
}

function addUp(rewards: readonly Reward[]): Reward[] {
  const sums = new Map<string, Reward>()
  for (const reward of rewards) {
    const sum = sums.get(keyOf(reward))
    sums.set(keyOf(reward), { ...reward, amount: reward.amount + (sum?.amount ?? 0n) })
  }
  return [...sums.values()]
}

/** Sums the rewards of each account and token over all vaults. Each sum is a leaf of the Merkle tree. */
function leavesOf(rewards: readonly Reward[]): RewardLeaf[] {
  return addUp(rewards.map((reward) => ({ ...reward, vault: DISTRIBUTOR }))).map(({ account, token, amount }) => ({
    ...{ user: getAddress(account), token: getAddress(token), amount },
  }))
}

function keyOf({ account, token, vault }: Omit<Reward, 'amount'>): string {
  return [account, token, vault].join().toLowerCase()
}

/** Labels of transactions in error messages. Each label names the only reason for which the reward contract can reject the call. */
const LABELS = {
  updateTree: 'updateTree, because a dispute is open',
  disputeTree: 'disputeTree, because no tree is in its dispute period or a dispute is open',
  resolveDispute: 'resolveDispute, because no dispute is open',
  revokeTree: 'revokeTree, because a dispute is open',
  endDisputePeriod: 'endDisputePeriod',
} as const

function call(functionName: keyof typeof LABELS, args: readonly unknown[] = []): LocalTransaction {
  // The cast is safe: viem cannot type the arguments for a union of functions, and the contract checks them.
  const data = encodeFunctionData({ abi: distributorAbi, functionName, args } as Parameters<
    typeof encodeFunctionData
  >[0])
  return { label: LABELS[functionName], from: OPERATOR, to: DISTRIBUTOR, data }
}
