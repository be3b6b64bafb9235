import { type Address, numberToHex, parseUnits } from 'viem'
import { bridgeTokenBySymbol } from '../../lib/bridge/tokens.ts'
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
import { callRpc } from '../rpc.ts'
import { readNonces } from '../transactions.ts'
import { openPlan, type Plan } from './plan.ts'

/** A token of the local world. */
export type LocalToken = TokenOptions & { readonly chainId: number; readonly address: Address }

/** A vault of the local world: `async` ones settle requests, `sync` ones give shares at once. */
export type LocalVault = {
  readonly chainId: number
  readonly address: Address
  readonly type: 'async' | 'sync'
  readonly protocol: 'lagoon' | 'erc4626' | 'erc7540' | 'cooldown'
  /** What `version()` answers; absent where there is no such function. */
  readonly version?: string
  readonly asset: Address
  readonly name: string
}

/** Everything that is deployed on a local chain. */
export type LocalWorld = {
  readonly tokens: readonly LocalToken[]
  readonly vaults: readonly LocalVault[]
  /** Tokens that no list names, one of them spam. */
  readonly unlisted?: readonly LocalToken[]
  /** A collection of NFTs, of which the first user has some. */
  readonly collectibles?: Address
}

/** The tokens of every chain; they stand at the addresses that the bridge's tokens have on the real one. */
const TOKENS = [
  { name: 'USD Coin', symbol: 'USDC', decimals: 6 },
  { name: 'Dai Stablecoin', symbol: 'DAI', decimals: 18 },
  { name: 'Tether USD', symbol: 'USDT', decimals: 6 },
] as const satisfies readonly TokenOptions[]

type VaultSpec = {
  readonly asset: (typeof TOKENS)[number]['symbol']
  readonly name: string
  readonly symbol: string
  /** Of a Lagoon vault. */
  readonly generation?: Extract<LagoonGeneration, '0.4' | '0.5' | '0.6'>
  /** Of another ERC-7540 vault; a vault with neither is synchronous. */
  readonly make?: 'aggregated'
} & Partial<LagoonRates>

/** The vaults of each chain. */
const VAULTS: { readonly [chainId: number]: readonly VaultSpec[] } = {
  8453: [
    { generation: '0.5', asset: 'USDC', name: 'Harbor USDC', symbol: 'hbUSDC' },
    { generation: '0.4', asset: 'DAI', name: 'Meridian DAI', symbol: 'mdDAI' },
    { generation: '0.6', asset: 'USDT', name: 'Northwind USDT', symbol: 'nwUSDT' },
    { generation: '0.6', asset: 'USDC', name: 'Lantern USDC', symbol: 'ltUSDC', entryRate: 10 },
    { make: 'aggregated', asset: 'USDC', name: 'Causeway USDC', symbol: 'cwUSDC' },
    { asset: 'USDC', name: 'Cove USDC Savings', symbol: 'cvUSDC' },
  ],
  42161: [
    { generation: '0.6', asset: 'USDC', name: 'Tideline USDC', symbol: 'tlUSDC' },
    { generation: '0.5', asset: 'DAI', name: 'Keel DAI', symbol: 'klDAI' },
    { generation: '0.4', asset: 'USDT', name: 'Breakwater USDT', symbol: 'bwUSDT' },
    { generation: '0.5', asset: 'USDT', name: 'Compass USDT', symbol: 'cpUSDT' },
    { asset: 'DAI', name: 'Mooring DAI Savings', symbol: 'mrDAI' },
  ],
}

const UNLISTED: readonly TokenOptions[] = [
  { name: 'Harbor Points', symbol: 'HARBOR', decimals: 18 },
  { name: '! Claim USDC at https://usdc-drop.xyz', symbol: 'USDC-DROP.XYZ', decimals: 6 },
]
const COLLECTIBLES = 3

// In whole tokens.
const UNLISTED_BALANCE = '1250'
const USER_BALANCE = '1000000'
const FIRST_DEPOSIT = '250000'
const FIRST_GAIN = '4125.5'

/**
 * The tokens and vaults of the local Base (8453) or Arbitrum (42161), with users funded and every vault holding a
 * settled first deposit that gained about 1.65 %. Throws for another chain id.
 */
export async function deployLocalWorld(chain: LocalChain): Promise<LocalWorld> {
  const { chainId } = chain
  const specs = VAULTS[chainId]
  if (!specs) throw new Error(`No local world for chain ${chainId}; there is one for ${Object.keys(VAULTS).join(', ')}`)
  // Different addresses on each chain, so that a mix-up of chains is noticed.
  const admin = ACCOUNTS.admin.address
  const [nonce = 0] = await readNonces(chain, [admin])
  if (nonce < chainId) await callRpc(chain, [{ method: 'anvil_setNonce', params: [admin, numberToHex(chainId)] }])

  const tokens = await deployTokens(chain)
  const plan = await openPlan(chain)
  for (const token of tokens) {
    for (const user of ACCOUNTS.users) planMint(plan, token, user.address, USER_BALANCE)
  }
  const implementations = new Map<LagoonGeneration, Address>()
  const implementationOf = (generation: LagoonGeneration): Address => {
    const implementation = implementations.get(generation) ?? planLagoonImplementation(plan, generation)
    implementations.set(generation, implementation)
    return implementation
  }
  const vaults = specs.map(({ generation, make, asset, ...options }): LocalVault => {
    const token = tokens.find(({ symbol }) => symbol === asset)
    if (!token) throw new Error(`There is no ${asset}`)
    const vault = { chainId, asset: token.address, name: options.name }
    const vaultOptions = { ...options, asset: token.address }
    if (make !== undefined) {
      const address = planAsyncVault(plan, { ...vaultOptions, make })
      planFirstFulfilment(plan, token, address)
      return { ...vault, address, type: 'async', protocol: 'erc7540' }
    }
    if (generation === undefined) {
      const address = planYieldVault(plan, vaultOptions)
      planFirstDeposit(plan, token, address)
      return { ...vault, address, type: 'sync', protocol: 'erc4626' }
    }
    const address = planLagoonVault(plan, { ...vaultOptions, generation }, implementationOf(generation))
    planFirstSettlements(plan, token, address)
    return { ...vault, address, type: 'async', protocol: 'lagoon', version: `v${generation}.0` }
  })
  const unlisted = planUnlisted(plan, chainId)
  const collectibles = planCollectibles(plan)
  await plan.execute()
  return { tokens, vaults, unlisted, collectibles }
}

/** The tokens at their real addresses, so that the service needs no configuration for local ones. */
async function deployTokens(chain: LocalChain): Promise<LocalToken[]> {
  const { chainId } = chain
  const plan = await openPlan(chain)
  const deployed = TOKENS.map((token) => ({
    token,
    from: token.symbol === 'USDT' ? planTether(plan) : planToken(plan, token),
  }))
  await plan.execute()

  const tokens: LocalToken[] = []
  for (const { token, from } of deployed) {
    const address = bridgeTokenBySymbol(chainId, token.symbol)?.address
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

function planMint(plan: Plan, token: LocalToken, to: Address, amount: string): void {
  plan.call(ACCOUNTS.admin.address, token.address, 'Token', 'mint', [to, parseUnits(amount, token.decimals)])
}

function planApproval(plan: Plan, token: LocalToken, vault: Address): void {
  planMint(plan, token, ACCOUNTS.anchor.address, FIRST_DEPOSIT)
  const amount = parseUnits(FIRST_DEPOSIT, token.decimals)
  plan.call(ACCOUNTS.anchor.address, token.address, 'Token', 'approve', [vault, amount])
}

/** A deposit by the anchor, settled and claimed, and a second valuation with a gain. */
function planFirstSettlements(plan: Plan, token: LocalToken, vault: Address): void {
  const anchor = ACCOUNTS.anchor.address
  const deposit = parseUnits(FIRST_DEPOSIT, token.decimals)
  const settle = (totalAssets: bigint) => {
    plan.call(ACCOUNTS.valuationManager.address, vault, 'LagoonVaultV04', 'updateNewTotalAssets', [totalAssets])
    plan.call(ACCOUNTS.safe.address, vault, 'LagoonVaultV04', 'settleDeposit', [totalAssets])
  }
  planApproval(plan, token, vault)
  plan.call(anchor, vault, 'LagoonVaultV04', 'requestDeposit', [deposit, anchor, anchor])
  settle(0n)
  plan.call(anchor, vault, 'LagoonVaultV04', 'deposit', [deposit, anchor, anchor])
  planMint(plan, token, ACCOUNTS.safe.address, FIRST_GAIN)
  settle(deposit + parseUnits(FIRST_GAIN, token.decimals))
}

/** A deposit by the anchor, fulfilled a share for a token and claimed, and a price with a gain. */
function planFirstFulfilment(plan: Plan, token: LocalToken, vault: Address): void {
  const anchor = ACCOUNTS.anchor.address
  const safe = ACCOUNTS.safe.address
  const [deposit, gain] = [parseUnits(FIRST_DEPOSIT, token.decimals), parseUnits(FIRST_GAIN, token.decimals)]
  const shares = parseUnits(FIRST_DEPOSIT, 6)
  planApproval(plan, token, vault)
  plan.call(anchor, vault, 'AsyncVault', 'requestDeposit', [deposit, anchor, anchor])
  plan.call(safe, vault, 'AsyncVault', 'fulfillDeposit', [0n, anchor, deposit, shares])
  plan.call(anchor, vault, 'AsyncVault', 'mint', [shares, anchor, anchor])
  planMint(plan, token, safe, FIRST_GAIN)
  plan.call(safe, vault, 'AsyncVault', 'updatePrice', [((deposit + gain) * 10n ** 18n) / deposit])
}

function planFirstDeposit(plan: Plan, token: LocalToken, vault: Address): void {
  const anchor = ACCOUNTS.anchor.address
  planApproval(plan, token, vault)
  plan.call(anchor, vault, 'YieldVault', 'deposit', [parseUnits(FIRST_DEPOSIT, token.decimals), anchor])
  planMint(plan, token, vault, FIRST_GAIN)
}
