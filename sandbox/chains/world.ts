import { type Address, concat, numberToHex, parseUnits } from 'viem'
import { findBridgeTokenBySymbol } from '../../lib/bridge/tokens.ts'
import { ACCOUNTS } from '../accounts.ts'
import type { LocalChain } from '../chains.ts'
import { copyContract } from '../copies.ts'
import {
  type LagoonGeneration,
  type LagoonRates,
  planAsyncVault,
  planLagoonImplementation,
  planLagoonVault,
  planTether,
  planToken,
  planYieldVault,
  type TokenOptions,
} from '../deploy.ts'
import { installDistributor } from '../rewards.ts'
import { callRpc } from '../rpc.ts'
import { readNonces } from '../transactions.ts'
import { createPlan, type Plan } from './plan.ts'

/** Token that is deployed on a local chain. */
export type LocalToken = TokenOptions & { readonly chainId: number; readonly address: Address }

/** Local vault. `async` vaults settle deposits and withdrawals later; `sync` vaults mint shares instantly. */
export type LocalVault = {
  readonly chainId: number
  readonly address: Address
  readonly type: 'async' | 'sync'
  readonly protocol: 'lagoon' | 'erc4626' | 'erc7540' | 'cooldown'
  /** Result of the contract's function `version()`; undefined if the contract has no such function. */
  readonly version?: string
  readonly asset: Address
  readonly name: string
}

/** Contracts that are deployed on a local chain. */
export type LocalWorld = {
  readonly tokens: readonly LocalToken[]
  readonly vaults: readonly LocalVault[]
  /** Tokens that no token list contains; the last one is spam. */
  readonly unlisted?: readonly LocalToken[]
  /** Token in which campaigns pay rewards; token lists contain it. */
  readonly rewardToken?: LocalToken
  /** Address of an NFT collection. */
  readonly collectibles?: Address
}

/** Tokens that are deployed at the real addresses of the bridge's tokens. */
const TOKENS = [
  { name: 'USD Coin', symbol: 'USDC', decimals: 6 },
  { name: 'Dai Stablecoin', symbol: 'DAI', decimals: 18 },
  { name: 'Tether USD', symbol: 'USDT', decimals: 6 },
] as const satisfies readonly TokenOptions[]

type VaultSpec = {
  readonly asset: (typeof TOKENS)[number]['symbol']
  readonly name: string
  readonly symbol: string
  /** Amount of the vault's first deposit, in whole tokens. */
  readonly size: string
  /** Deposit cap in whole tokens, only for Lagoon vaults since v0.6. */
  readonly cap?: string
  /**
   * Day of the chain's history on which the vault is deployed; by default the vault exists from the start. Chains without history lack
   * vaults with such a day.
   */
  readonly opens?: number
  /** Contract version, only for Lagoon vaults. */
  readonly generation?: Extract<LagoonGeneration, '0.4' | '0.5' | '0.6'>
  /** Kind of an ERC-7540 vault that is not Lagoon's. A vault without `generation` and `make` is synchronous (ERC-4626). */
  readonly make?: 'aggregated'
} & Partial<LagoonRates>

const VAULTS: { readonly [chainId: number]: readonly VaultSpec[] } = {
  8453: [
    { generation: '0.5', asset: 'USDC', name: 'Harbor USDC', symbol: 'hbUSDC', size: '250000' },
    { generation: '0.4', asset: 'DAI', name: 'Meridian DAI', symbol: 'mdDAI', size: '1840000' },
    { generation: '0.6', asset: 'USDT', name: 'Northwind USDT', symbol: 'nwUSDT', size: '640000', cap: '680000' },
    { generation: '0.6', asset: 'USDC', name: 'Lantern USDC', symbol: 'ltUSDC', size: '11700000', entryRate: 10 },
    { make: 'aggregated', asset: 'USDC', name: 'Causeway USDC', symbol: 'cwUSDC', size: '3300000' },
    { asset: 'USDC', name: 'Cove USDC Savings', symbol: 'cvUSDC', size: '86000' },
    { asset: 'USDT', name: 'Skiff USDT Savings', symbol: 'skUSDT', size: '41000', opens: 117 },
  ],
  42161: [
    { generation: '0.6', asset: 'USDC', name: 'Tideline USDC', symbol: 'tlUSDC', size: '5200000' },
    { generation: '0.5', asset: 'DAI', name: 'Keel DAI', symbol: 'klDAI', size: '410000' },
    { generation: '0.4', asset: 'USDT', name: 'Breakwater USDT', symbol: 'bwUSDT', size: '930000' },
    { generation: '0.5', asset: 'USDT', name: 'Compass USDT', symbol: 'cpUSDT', size: '120000' },
    { asset: 'DAI', name: 'Mooring DAI Savings', symbol: 'mrDAI', size: '2100000' },
    { asset: 'USDC', name: 'Jetty USDC Savings', symbol: 'jtUSDC', size: '67000', opens: 80 },
  ],
}

/** MORPHO, the reward token of most campaigns. It is deployed at its real addresses. */
const REWARD_TOKEN: TokenOptions = { name: 'Morpho Token', symbol: 'MORPHO', decimals: 18 }
const REWARD_TOKEN_ADDRESSES: Readonly<Record<number, Address>> = {
  8453: '0xBAa5CC21fd487B8Fcc2F632f3F4E8D37262a0842',
  42161: '0x40BD670A58238e6E230c430BBb5cE6ec0d40df48',
}

const UNLISTED: readonly TokenOptions[] = [
  { name: 'Harbor Points', symbol: 'HARBOR', decimals: 18 },
  { name: '! Claim USDC at https://usdc-drop.xyz', symbol: 'USDC-DROP.XYZ', decimals: 6 },
]
const COLLECTIBLES = 3

// Balance of each user in each unlisted token, in whole tokens.
const UNLISTED_BALANCE = '1250'
/** Balance of each user in each token, in whole tokens. */
export const USER_BALANCE = '1000000'
const SMART_BALANCE = '5000'
/** Gain of each vault, in millionths of its first deposit. */
const FIRST_GAIN = 16_502n

/**
 * Deploys the tokens and vaults of the local Base (8453) or Arbitrum (42161), and funds the users. Every vault has a settled first deposit,
 * which gained about 1.65 %. Throws for another chain.
 */
export async function deployLocalWorld(chain: LocalChain): Promise<LocalWorld> {
  const { chainId } = chain
  const rewardTokenAddress = REWARD_TOKEN_ADDRESSES[chainId]
  if (!VAULTS[chainId] || !rewardTokenAddress)
    throw new Error(`No local world for chain ${chainId}; there is one for ${Object.keys(VAULTS).join(', ')}`)
  // The admin's nonces begin at the chain id, so that contracts have different addresses on each chain. Tests then notice mixed-up chains.
  const admin = ACCOUNTS.admin.address
  const [nonce = 0] = await readNonces(chain, [admin])
  if (nonce < chainId) await callRpc(chain, [{ method: 'anvil_setNonce', params: [admin, numberToHex(chainId)] }])

  const tokens = await deployTokens(chain)
  const plan = await createPlan(chain)
  for (const token of tokens) {
    for (const user of ACCOUNTS.users) planMint(plan, token, user.address, USER_BALANCE)
    planMint(plan, token, ACCOUNTS.smart.address, SMART_BALANCE)
  }
  const delegate = plan.deploy('DelegatedAccount', [])
  const vaults = planVaults(plan, tokens)
  const unlisted = planUnlisted(plan, chainId)
  const collectibles = planCollectibles(plan)
  const rewardTokenFrom = planToken(plan, REWARD_TOKEN)
  await plan.execute()
  await installDistributor(chain)
  const rewardToken = { chainId, ...REWARD_TOKEN, address: rewardTokenAddress }
  await copyContract(chain, rewardTokenFrom, rewardToken.address)
  // Code that begins with 0xef0100 makes the account delegate its calls to a contract (EIP-7702).
  await callRpc(chain, [{ method: 'anvil_setCode', params: [ACCOUNTS.smart.address, concat(['0xef0100', delegate])] }])
  return { tokens, vaults, unlisted, rewardToken, collectibles }
}

/** Deploys the vaults that open on this day of the chain's history, and returns them. */
export async function openVaults(chain: LocalChain, tokens: readonly LocalToken[], day: number): Promise<LocalVault[]> {
  const plan = await createPlan(chain)
  const vaults = planVaults(plan, tokens, day)
  await plan.execute()
  return vaults
}

function planVaults(plan: Plan, tokens: readonly LocalToken[], day?: number): LocalVault[] {
  const specs = VAULTS[tokens[0]?.chainId ?? 0]?.filter(({ opens }) => opens === day) ?? []
  const implementations = new Map<LagoonGeneration, Address>()
  const implementationOf = (generation: LagoonGeneration): Address => {
    const implementation = implementations.get(generation) ?? planLagoonImplementation(plan, generation)
    implementations.set(generation, implementation)
    return implementation
  }
  return specs.map(({ generation, make, asset, size, cap, ...options }): LocalVault => {
    const token = tokens.find(({ symbol }) => symbol === asset)
    if (!token) throw new Error(`There is no ${asset}`)
    const vault = { chainId: token.chainId, asset: token.address, name: options.name }
    const vaultOptions = { ...options, asset: token.address }
    if (make !== undefined) {
      const address = planAsyncVault(plan, { ...vaultOptions, make })
      planFirstFulfilment(plan, token, address, size)
      return { ...vault, address, type: 'async', protocol: 'erc7540' }
    }
    if (generation === undefined) {
      const address = planYieldVault(plan, vaultOptions)
      planFirstDeposit(plan, token, address, size)
      return { ...vault, address, type: 'sync', protocol: 'erc4626' }
    }
    const address = planLagoonVault(plan, { ...vaultOptions, generation }, implementationOf(generation))
    planFirstSettlements(plan, token, address, size)
    if (cap)
      plan.call(ACCOUNTS.safe.address, address, 'LagoonVaultV06', 'updateMaxCap', [parseUnits(cap, token.decimals)])
    return { ...vault, address, type: 'async', protocol: 'lagoon', version: `v${generation}.0` }
  })
}

/** Deploys tokens at their real addresses, so that the service needs no local configuration. */
async function deployTokens(chain: LocalChain): Promise<LocalToken[]> {
  const { chainId } = chain
  const plan = await createPlan(chain)
  const deployed = TOKENS.map((token) => ({
    token,
    from: token.symbol === 'USDT' ? planTether(plan) : planToken(plan, token),
  }))
  await plan.execute()

  const tokens: LocalToken[] = []
  for (const { token, from } of deployed) {
    const address = findBridgeTokenBySymbol(chainId, token.symbol)?.address
    if (!address) throw new Error(`${token.symbol} has no address on chain ${chainId}`)
    await copyContract(chain, from, address)
    tokens.push({ chainId, ...token, address })
  }
  return tokens
}

function planUnlisted(plan: Plan, chainId: number): LocalToken[] {
  return UNLISTED.map((options) => {
    const token = { chainId, address: planToken(plan, options), ...options }
    for (const user of ACCOUNTS.users) planMint(plan, token, user.address, UNLISTED_BALANCE)
    return token
  })
}

function planCollectibles(plan: Plan): Address {
  const collection = plan.deploy('Collectible', [])
  for (let minted = 0; minted < COLLECTIBLES; minted += 1) {
    plan.call(ACCOUNTS.admin.address, collection, 'Collectible', 'mint', [ACCOUNTS.users[0].address])
  }
  return collection
}

function planMint(plan: Plan, { address, decimals }: LocalToken, to: Address, amount: string | bigint): void {
  const units = typeof amount === 'string' ? parseUnits(amount, decimals) : amount
  plan.call(ACCOUNTS.admin.address, address, 'Token', 'mint', [to, units])
}

/**
 * Adds the funds and the approval for the anchor account's first deposit to a plan of transactions. Returns the deposit and its gain in the
 * smallest unit.
 */
function planFunds(plan: Plan, token: LocalToken, vault: Address, size: string) {
  planMint(plan, token, ACCOUNTS.anchor.address, size)
  const deposit = parseUnits(size, token.decimals)
  plan.call(ACCOUNTS.anchor.address, token.address, 'Token', 'approve', [vault, deposit])
  return { deposit, gain: (deposit * FIRST_GAIN) / 1_000_000n }
}

function planFirstSettlements(plan: Plan, token: LocalToken, vault: Address, size: string): void {
  const anchor = ACCOUNTS.anchor.address
  const settle = (totalAssets: bigint) => {
    plan.call(ACCOUNTS.valuationManager.address, vault, 'LagoonVaultV04', 'updateNewTotalAssets', [totalAssets])
    plan.call(ACCOUNTS.safe.address, vault, 'LagoonVaultV04', 'settleDeposit', [totalAssets])
  }
  const { deposit, gain } = planFunds(plan, token, vault, size)
  plan.call(anchor, vault, 'LagoonVaultV04', 'requestDeposit', [deposit, anchor, anchor])
  settle(0n)
  plan.call(anchor, vault, 'LagoonVaultV04', 'deposit', [deposit, anchor, anchor])
  planMint(plan, token, ACCOUNTS.safe.address, gain)
  settle(deposit + gain)
}

function planFirstFulfilment(plan: Plan, token: LocalToken, vault: Address, size: string): void {
  const anchor = ACCOUNTS.anchor.address
  const safe = ACCOUNTS.safe.address
  const shares = parseUnits(size, 6)
  const { deposit, gain } = planFunds(plan, token, vault, size)
  plan.call(anchor, vault, 'AsyncVault', 'requestDeposit', [deposit, anchor, anchor])
  plan.call(safe, vault, 'AsyncVault', 'fulfillDeposit', [0n, anchor, deposit, shares])
  plan.call(anchor, vault, 'AsyncVault', 'mint', [shares, anchor, anchor])
  planMint(plan, token, safe, gain)
  plan.call(safe, vault, 'AsyncVault', 'updatePrice', [((deposit + gain) * 10n ** 18n) / deposit])
}

function planFirstDeposit(plan: Plan, token: LocalToken, vault: Address, size: string): void {
  const { deposit, gain } = planFunds(plan, token, vault, size)
  plan.call(ACCOUNTS.anchor.address, vault, 'YieldVault', 'deposit', [deposit, ACCOUNTS.anchor.address])
  planMint(plan, token, vault, gain)
}
