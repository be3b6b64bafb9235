import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hash,
  type Hex,
  parseAbi,
  parseAbiParameters,
  parseUnits,
  zeroAddress,
} from 'viem'
import { ACCOUNTS } from '../accounts.ts'
import { type BridgeDeposit, bridgeContracts, multicallHandlerAbi, readDeposits, spokePoolAbi } from '../bridge.ts'
import type { LocalChain } from '../chains.ts'
import { planLagoonImplementation, planLagoonVault, planYieldVault } from '../deploy.ts'
import type { Relayer } from '../relayer.ts'
import { DISTRIBUTOR, distributorAbi, type Reward, type RewardOperator } from '../rewards.ts'
import { callRpc } from '../rpc.ts'
import { sendTransactions, transact } from '../transactions.ts'
import { createPlan, type Plan } from './plan.ts'
import type { LocalVault, LocalWorld } from './world.ts'

/** API request whose response shows a prepared state, such as a pending deposit. */
export type StateRequest = { readonly path: string; readonly body?: object }

/**
 * Prepared states: deposits, withdrawals, rewards and transfers in each status that a wallet must handle. `questions` are the API requests
 * that show the states, by name. No curator settles the vaults in `vaults`, so their pending requests stay pending.
 */
export type States = {
  readonly vaults: readonly LocalVault[]
  readonly questions: Readonly<Record<string, StateRequest>>
  /** Requests for the status of transfers. The service reports the final status only after several such requests. */
  readonly slow: readonly StateRequest[]
  /** Transaction that the service's records mark as replaced by another. */
  readonly dropped: { readonly chainId: number; readonly transactionHash: Hash; readonly sender: Address }
  /** States that could not be prepared. `questions` has no requests for these states. */
  readonly missing: readonly { readonly name: string; readonly why: string }[]
}

type Chain = LocalChain & LocalWorld
const [A, B, C, D, E, F, G, H] = ACCOUNTS.states.map(({ address }) => address) as [
  ...[Address, Address, Address, Address],
  ...[Address, Address, Address, Address],
]
const FUNDS = parseUnits('100000', 6)
/** Amount of each deposit, in the smallest unit of USDC. */
const AMOUNT = parseUnits('250', 6)
/** Shares that a vault's first settlement mints for a deposit of `AMOUNT`, in the shares' smallest unit. */
const SHARES = parseUnits('250', 18)
/** The account that the demo wallet shows first. */
const ALICE = ACCOUNTS.users[0].address
const REWARD = parseUnits('2.5', 18)
const FEE = parseUnits('1', 6)
const DAY = 86_400
/** The bridge rejects a deposit whose fill deadline is more than this number of seconds ahead. */
const MAX_DEADLINE = 21_600
/** Id of a chain that the service does not support. */
const UNICHAIN = 130
/** Invented hash, for the status of a transfer whose transaction no node knows. */
const UNSEEN: Hash = `0x${'00'.repeat(30)}0001`
/** Invented hash of a transaction that another transaction replaced, according to the service's records. */
const DROPPED: Hash = `0x${'00'.repeat(30)}0002`

const MESSAGE = parseAbiParameters([
  '(Call[] calls, address fallbackRecipient) instructions',
  'struct Call { address target; bytes callData; uint256 value; }',
])
const TOKEN = parseAbi(['function approve(address spender, uint256 amount)'])
const VAULT = parseAbi(['function deposit(uint256 assets, address receiver)'])

/**
 * Prepares all states, with bridge transfers from the first chain to the second. Both chains must mine a block per
 * transaction. `toNow` moves the chains' clocks from the past to the present. States that need final blocks are
 * prepared before `toNow`. States that end within hours, such as a dispute period, are prepared after it.
 */
export async function prepareStates(
  chains: readonly Chain[],
  { relayer, rewards }: { readonly relayer: Relayer; readonly rewards: RewardOperator },
  toNow: () => Promise<unknown>,
): Promise<States> {
  const [base, arbitrum] = [requireValue(chains[0]), requireValue(chains[1])]
  const missing: { name: string; why: string }[] = []
  /** Prepares one state. Records a failure and returns undefined, so that the other states are still prepared. */
  const tryToMake = <T>(name: string, act: () => Promise<T>): Promise<T | undefined> =>
    act().catch((error: unknown) => {
      missing.push({ name, why: error instanceof Error ? error.message : String(error) })
      return undefined
    })

  const [vaults, savings] = await Promise.all([
    tryToMake('vaults and what accounts have in them', () => playVaults(base)),
    tryToMake('vaults of the second chain', () => playSavings(arbitrum)),
  ])
  const past = savings && (await tryToMake('transfers', () => sendTransfers(base, arbitrum, savings)))
  if (past) {
    await tryToMake('transfer delivered', () => relayer.fill(past.delivered))
    await tryToMake('transfer deposited', () => relayer.fill(past.deposited))
    await tryToMake('transfer not deposited', () => relayer.fill(past.notDeposited))
    await tryToMake('transfer refunded', () => relayer.refundTogether([past.refunded]))
    const deferred = { deferred: true }
    await tryToMake('transfer whose refund waits to be claimed', () =>
      relayer.refundTogether([past.deferred], deferred),
    )
  }
  const [vault] = vaults?.all ?? []
  const rewarded = vault && (await tryToMake('rewards', () => playRewards(base, arbitrum, rewards, vault)))
  await toNow()

  const disputable = 'rewards in their dispute period'
  const newest = rewarded && (await tryToMake(disputable, () => postRewards(arbitrum, rewards, rewarded.next)))
  const present = await tryToMake('transfers of now', async () => {
    const deadline = (await timeOf(base)) + MAX_DEADLINE
    const orders = { bridging: { account: E, deadline }, slow: { account: F, deadline } }
    return await sendDeposits(base, arbitrum, orders)
  })
  if (present) {
    await tryToMake('transfer bridging', () => relayer.ignore(present.bridging))
    await tryToMake('transfer bridging slowly', () => relayer.requestSlowFill(present.slow))
  }

  const transfer = (hash: Hash): StateRequest => ({
    path: `/defi-vaults/v1/defi/cross-chain/${hash}/status?srcChainId=${base.chainId}`,
  })
  const of = ({ transactionHash }: BridgeDeposit) => transfer(transactionHash)
  const questions: Record<string, StateRequest> = {
    ...vaults?.questions,
    ...rewarded?.questions,
    ...(newest && { [disputable]: newest }),
    'transfer pending': transfer(UNSEEN),
    'transfer replaced': transfer(DROPPED),
    ...(present && { 'transfer bridging': of(present.bridging), 'transfer bridging slowly': of(present.slow) }),
    ...(past && {
      'transfer delivered': of(past.delivered),
      'transfer deposited': of(past.deposited),
      'transfer not deposited': of(past.notDeposited),
      'transfer to a chain that is not followed': of(past.elsewhere),
      'transfer expired': of(past.expired),
      'transfer refunded': of(past.refunded),
      'transfer whose refund waits to be claimed': of(past.deferred),
      'transfer whose refund was never found': of(past.lost),
      'transfer reverted': transfer(past.reverted),
      'transfer without a deposit': transfer(past.approval),
    }),
  }
  for (const { name } of missing) delete questions[name]
  return {
    vaults: [...(vaults?.all ?? []), ...(savings?.all ?? [])],
    slow: past ? [of(past.refunded), of(past.lost)] : [],
    dropped: { chainId: base.chainId, transactionHash: DROPPED, sender: H },
    questions,
    missing,
  }
}

async function playVaults(chain: Chain) {
  const plan = await createPlan(chain)
  const asset = usdcOf(chain)
  const { chainId } = chain
  const all: LocalVault[] = []
  const implementation = planLagoonImplementation(plan, '0.5')
  const openLagoon = (name: string, symbol: string, options: { whitelisted?: boolean; generation?: '0.6' } = {}) => {
    const { generation = '0.5' } = options
    const address = planLagoonVault(
      plan,
      { ...options, generation, asset, name, symbol },
      generation === '0.5' ? implementation : undefined,
    )
    all.push({ chainId, address, type: 'async', protocol: 'lagoon', version: `v${generation}.0`, asset, name })
    return address
  }
  for (const account of [A, B, C, D, E, F, G, H]) {
    plan.call(account, asset, 'Token', 'mint', [account, FUNDS])
    plan.call(account, asset, 'Token', 'approve', [bridgeContracts(chainId).pool, FUNDS])
  }
  const lagoon = lagoonCalls(plan, asset)

  const vault = openLagoon('States', 'stUSDC')
  for (const account of [B, D, E, F, G]) lagoon.request(vault, account)
  lagoon.settle(vault, 0n)
  for (const account of [D, E, F, G]) lagoon.claim(vault, account)
  for (const account of [F, G]) lagoon.requestRedeem(vault, account)
  lagoon.settle(vault, 5n * AMOUNT)
  lagoon.redeem(vault, G)
  lagoon.requestRedeem(vault, E)
  lagoon.request(vault, A)
  lagoon.request(vault, C)
  plan.call(C, vault, 'LagoonVaultV05', 'cancelRequestDeposit', [])

  const paused = openLagoon('States, paused', 'stPaused')
  plan.call(ACCOUNTS.admin.address, paused, 'LagoonVaultV05', 'pause', [])
  const closing = openLagoon('States, closing', 'stClosing')
  const closed = openLagoon('States, closed', 'stClosed')
  for (const one of [closing, closed]) {
    lagoon.request(one, H)
    lagoon.settle(one, 0n)
    lagoon.claim(one, H)
    plan.call(ACCOUNTS.admin.address, one, 'LagoonVaultV05', 'initiateClosing', [])
  }
  plan.call(ACCOUNTS.valuationManager.address, closed, 'LagoonVaultV05', 'updateNewTotalAssets', [AMOUNT])
  plan.call(ACCOUNTS.safe.address, closed, 'LagoonVaultV05', 'close', [AMOUNT])
  const listed = openLagoon('States, for members', 'stMembers', { whitelisted: true })
  const full = openLagoon('States, full', 'stFull', { generation: '0.6' })
  plan.call(ACCOUNTS.safe.address, full, 'LagoonVaultV06', 'updateMaxCap', [1n])

  const lent = planYieldVault(plan, { make: 'illiquid', asset, name: 'States, lent out', symbol: 'stLent' })
  all.push({ chainId, address: lent, type: 'sync', protocol: 'erc4626', asset, name: 'States, lent out' })
  plan.call(H, asset, 'Token', 'approve', [lent, AMOUNT])
  plan.call(H, lent, 'YieldVault', 'deposit', [AMOUNT, H])
  plan.call(ACCOUNTS.admin.address, lent, 'IlliquidYieldVault', 'lend', [AMOUNT])

  const cooling = planYieldVault(plan, { make: 'cooldown', asset, name: 'States, with a cooldown', symbol: 'stCool' })
  all.push({ chainId, address: cooling, type: 'sync', protocol: 'cooldown', asset, name: 'States, with a cooldown' })
  for (const account of [F, H]) {
    plan.call(account, asset, 'Token', 'approve', [cooling, AMOUNT])
    plan.call(account, cooling, 'YieldVault', 'deposit', [AMOUNT, account])
  }
  plan.call(F, cooling, 'CooldownYieldVault', 'cooldownShares', [AMOUNT])
  const taxed = planYieldVault(plan, { make: 'entryFee', asset, name: 'States, with fees', symbol: 'stFees' })
  all.push({ chainId, address: taxed, type: 'sync', protocol: 'erc4626', asset, name: 'States, with fees' })
  await plan.execute()

  const status = (kind: 'deposit' | 'withdraw', account: Address, of = vault): StateRequest => ({
    path: `/defi-vaults/v1/defi/vault/${of}/${kind}-status?userAddress=${account}`,
  })
  const prepare = (kind: 'deposit' | 'withdraw', vaultAddress: Address, userAddress: Address): StateRequest => ({
    path: `/defi-vaults/v1/defi/vault/${kind}`,
    body: { vaultAddress, userAddress, ...(kind === 'withdraw' ? { max: true } : { amount: `${AMOUNT}` }) },
  })
  return {
    all,
    questions: {
      'deposit pending': status('deposit', A),
      'deposit claimable': status('deposit', B),
      'deposit cancelled': { path: `/defi-vaults/v1/defi/user/${C}/deposits` },
      deposited: status('deposit', D),
      'no deposit': status('deposit', H),
      'withdrawal pending': status('withdraw', E),
      'withdrawal claimable': status('withdraw', F),
      'withdrawal paid': status('withdraw', G),
      'no withdrawal': status('withdraw', H),
      'deposit into a paused vault': prepare('deposit', paused, H),
      'deposit into a closing vault': prepare('deposit', closing, H),
      'withdrawal from a closing vault': prepare('withdraw', closing, H),
      'deposit into a closed vault': prepare('deposit', closed, H),
      'withdrawal from a closed vault': prepare('withdraw', closed, H),
      'deposit into a vault for members': prepare('deposit', listed, H),
      'deposit into a full vault': prepare('deposit', full, H),
      'withdrawal from a vault that has lent all': prepare('withdraw', lent, H),
      'withdrawal from a vault with a cooldown': prepare('withdraw', cooling, H),
      'withdrawal in its cooldown': status('withdraw', F, cooling),
      'deposit into a vault with fees': prepare('deposit', taxed, H),
    },
  }
}

function lagoonCalls(plan: Plan, asset: Address) {
  const name = 'LagoonVaultV05'
  return {
    request(vault: Address, account: Address) {
      plan.call(account, asset, 'Token', 'approve', [vault, AMOUNT])
      plan.call(account, vault, name, 'requestDeposit', [AMOUNT, account, account])
    },
    settle(vault: Address, totalAssets: bigint) {
      plan.call(ACCOUNTS.valuationManager.address, vault, name, 'updateNewTotalAssets', [totalAssets])
      plan.call(ACCOUNTS.safe.address, vault, name, 'settleDeposit', [totalAssets])
    },
    claim: (vault: Address, account: Address) =>
      plan.call(account, vault, 'LagoonVaultV04', 'deposit', [AMOUNT, account, account]),
    requestRedeem: (vault: Address, account: Address) =>
      plan.call(account, vault, name, 'requestRedeem', [SHARES, account, account]),
    redeem: (vault: Address, account: Address) => plan.call(account, vault, name, 'redeem', [SHARES, account, account]),
  }
}

/**
 * Grants rewards on both chains, and claims a part on the first chain. Returns the API requests that show these
 * rewards. Also returns `next`: further rewards on the second chain, which `postRewards` grants later.
 */
async function playRewards(base: Chain, arbitrum: Chain, rewards: RewardOperator, vault: LocalVault) {
  const token = requireValue(base.rewardToken).address
  const spam = requireValue(base.unlisted?.at(-1)).address
  const reward = (account: Address, amount: bigint, other: Partial<Reward> = {}): Reward => ({
    ...{ account, token, vault: vault.address, amount },
    ...other,
  })
  const onSecond = { token: requireValue(arbitrum.rewardToken).address }
  const ofAlice = (amounts: readonly bigint[]) =>
    [base.vaults.find(({ type }) => type === 'async'), base.vaults.find(({ type }) => type === 'sync')].flatMap(
      (used, index) => (used ? [reward(ALICE, amounts[index] ?? 0n, { vault: used.address })] : []),
    )

  await rewards.grant(base.chainId, [reward(D, REWARD)])
  // A Merkle tree with a single leaf has the leaf as root, so the proof is empty.
  const args = [[D], [token], [REWARD], [[]]] as const
  const data = encodeFunctionData({ abi: distributorAbi, functionName: 'claim', args })
  await transact(base, [{ label: 'claim', from: D, to: DISTRIBUTOR, data }])
  await rewards.grant(base.chainId, [
    ...[reward(D, 2n * REWARD), reward(E, REWARD, { token: spam })],
    ...ofAlice([5n * REWARD, REWARD]),
  ])
  rewards.addPending(base.chainId, [reward(B, REWARD), ...ofAlice([REWARD / 4n])])
  await rewards.grant(arbitrum.chainId, [reward(C, REWARD, onSecond)])
  return {
    next: [C, ALICE].map((account) => reward(account, REWARD, onSecond)),
    questions: {
      'rewards claimable': buildRewardsRequest(D, base),
      'rewards pending': buildRewardsRequest(B, base),
      'rewards in a spam token': buildRewardsRequest(E, base),
      'no rewards': buildRewardsRequest(H, base),
    },
  }
}

async function postRewards(chain: Chain, rewards: RewardOperator, next: readonly Reward[]): Promise<StateRequest> {
  await rewards.grant(chain.chainId, next, { inDisputePeriod: true })
  return buildRewardsRequest(requireValue(next[0]).account, chain)
}

function buildRewardsRequest(account: Address, { chainId }: Chain): StateRequest {
  return { path: `/defi-vaults/v1/defi/user/${account}/rewards?chainId=${chainId}` }
}

async function playSavings(chain: Chain) {
  const plan = await createPlan(chain)
  const asset = usdcOf(chain)
  const names = ['States, savings', 'States, paused savings'] as const
  const [open, paused] = names.map((name) => planYieldVault(plan, { asset, name, symbol: 'stSave' })) as [
    Address,
    Address,
  ]
  plan.call(ACCOUNTS.admin.address, paused, 'YieldVault', 'pause', [])
  await plan.execute()
  const all = [open, paused].map(
    (address, index): LocalVault => ({
      ...{ chainId: chain.chainId, address, type: 'sync', protocol: 'erc4626', asset },
      name: names[index] ?? '',
    }),
  )
  return { open, paused, all }
}

async function sendTransfers(base: Chain, arbitrum: Chain, savings: { open: Address; paused: Address }) {
  const deadline = (await timeOf(base)) + 3600
  // This deadline is already over on both chains. A deposit expires by the destination chain's clock, and its refund becomes due by the
  // origin chain's clock.
  const over = Math.min(await timeOf(base), await timeOf(arbitrum)) - 1
  const deposits = await sendDeposits(base, arbitrum, {
    delivered: { account: G, deadline },
    deposited: { account: G, deadline, into: savings.open },
    notDeposited: { account: H, deadline, into: savings.paused },
    elsewhere: { account: H, deadline, to: UNICHAIN },
    // Each deposit below has its own account, because refunds do not name their deposit.
    expired: { account: A, deadline: over },
    refunded: { account: B, deadline: over },
    deferred: { account: C, deadline: over },
    lost: { account: D, deadline: over - 30 * DAY },
  })
  const { pool } = bridgeContracts(base.chainId)
  const tooOld = encodeDeposit(base, arbitrum, { account: H, deadline, quotedAt: 0 })
  const [approval, reverted] = await sendTransactions(base, [
    { label: 'approve', from: H, to: usdcOf(base), data: encodeApproval(pool, FUNDS) },
    { label: 'depositV3', from: H, to: pool, data: tooOld },
  ])
  return { ...deposits, approval: requireValue(approval), reverted: requireValue(reverted) }
}

type Order = {
  readonly account: Address
  /** Fill deadline in seconds since 1970; it may be in the past. */
  readonly deadline: number
  readonly into?: Address
  /** Id of the destination chain; the second chain by default. */
  readonly to?: number
}

async function sendDeposits<Name extends string>(
  base: Chain,
  arbitrum: Chain,
  orders: Readonly<Record<Name, Order>>,
): Promise<Readonly<Record<Name, BridgeDeposit>>> {
  const { pool } = bridgeContracts(base.chainId)
  const quotedAt = await timeOf(base)
  // The cast is safe: `orders` has only these keys.
  const names = Object.keys(orders) as Name[]
  const hashes = await transact(
    base,
    names.map((name) => ({
      ...{ label: `depositV3: ${name}`, from: orders[name].account, to: pool },
      data: encodeDeposit(base, arbitrum, { ...orders[name], quotedAt }),
    })),
  )
  const deposits = await readDeposits(base)
  const sent = names.map((name, index) => [
    name,
    requireValue(deposits.find(({ transactionHash }) => transactionHash === hashes[index])),
  ])
  // The cast is safe: `sent` has an entry for every name.
  return Object.fromEntries(sent) as Record<Name, BridgeDeposit>
}

function encodeDeposit(
  base: Chain,
  arbitrum: Chain,
  { account, deadline, quotedAt, into, to }: Order & { quotedAt: number },
): Hex {
  const token = usdcOf(arbitrum)
  const { multicallHandler } = bridgeContracts(arbitrum.chainId)
  return encodeFunctionData({
    abi: spokePoolAbi,
    functionName: 'depositV3',
    args: [
      ...([account, into ? multicallHandler : account, usdcOf(base), token] as const),
      ...([AMOUNT, AMOUNT - FEE, BigInt(to ?? arbitrum.chainId), zeroAddress] as const),
      ...([quotedAt, deadline, 0] as const),
      into ? encodeMessage(multicallHandler, { token, vault: into, account }) : '0x',
    ],
  })
}

/** Encodes a bridge message that deposits the whole token balance of the bridge's handler into a vault. */
function encodeMessage(
  handler: Address,
  { token, vault, account }: { token: Address; vault: Address; account: Address },
) {
  const withBalance = (target: Address, callData: Hex, offset: bigint) => ({
    target: handler,
    value: 0n,
    callData: encodeFunctionData({
      abi: multicallHandlerAbi,
      functionName: 'makeCallWithBalance',
      args: [target, callData, 0n, [{ token, offset }]],
    }),
  })
  const approval = encodeApproval(vault, 0n)
  const deposit = encodeFunctionData({ abi: VAULT, functionName: 'deposit', args: [0n, account] })
  // The offsets locate the amount in the calldata after a 4-byte selector: `approve` has it as second argument, `deposit` as first.
  const calls = [
    { target: token, callData: approval, value: 0n },
    withBalance(token, approval, 36n),
    withBalance(vault, deposit, 4n),
  ]
  return encodeAbiParameters(MESSAGE, [{ calls, fallbackRecipient: account }])
}

function encodeApproval(spender: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: TOKEN, functionName: 'approve', args: [spender, amount] })
}

function usdcOf({ tokens }: Chain): Address {
  return requireValue(tokens.find(({ symbol }) => symbol === 'USDC')).address
}

async function timeOf(chain: Chain): Promise<number> {
  const [block] = await callRpc(chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  // The cast is safe: every block has a timestamp.
  return Number((block as { timestamp: string }).timestamp)
}

function requireValue<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('A value that the states need is missing')
  return value
}
