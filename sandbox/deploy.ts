import { type Address, maxUint256, numberToHex, parseUnits } from 'viem'
import { bridgeTokenOf } from '../lib/bridge/tokens.ts'
import { ACCOUNTS } from './accounts.ts'
import { openPlan, type Plan } from './chains/plan.ts'
import type { LocalChain } from './chains.ts'
import { callRpc } from './rpc.ts'
import { readNonces } from './transactions.ts'

/** A generation of Lagoon vault; `unknown` calls itself v0.7.0 and behaves as 0.6. */
export type LagoonGeneration = '0.1' | '0.4' | '0.5' | '0.6' | 'unknown'

/** What a token is deployed with. */
export type TokenOptions = { readonly name: string; readonly symbol: string; readonly decimals: number }

/** What a synchronous vault is deployed with; the owner is the admin by default. */
export type YieldVaultOptions = {
  readonly asset: Address
  readonly name: string
  readonly symbol: string
  readonly owner?: Address
}

/** What a Lagoon-like vault is deployed with; roles are those of `ACCOUNTS` by default. */
export type LagoonVaultOptions = {
  readonly generation: LagoonGeneration
  readonly asset: Address
  readonly name: string
  readonly symbol: string
  readonly admin?: Address
  readonly safe?: Address
  readonly valuationManager?: Address
  readonly whitelistManager?: Address
  readonly feeReceiver?: Address
  /** Whether only whitelisted accounts may deposit. */
  readonly whitelisted?: boolean
} & Partial<LagoonRates>

/** A Lagoon-like vault's fees in basis points; those on entry and exit and the haircut are taken from 0.6 on. */
export type LagoonRates = {
  readonly managementRate: number
  readonly performanceRate: number
  readonly entryRate: number
  readonly exitRate: number
  readonly haircutRate: number
}

/** Who gets the protocol's part of every fee. */
export const FEE_REGISTRY: Address = '0x00000000000000000000000000000000FEE5fEe5'

const NO_FEES: LagoonRates = { managementRate: 0, performanceRate: 0, entryRate: 0, exitRate: 0, haircutRate: 0 }

const IMPLEMENTATIONS: { readonly [generation in LagoonGeneration]: string } = {
  '0.1': 'LagoonVaultV01',
  '0.4': 'LagoonVaultV04',
  '0.5': 'LagoonVaultV05',
  '0.6': 'LagoonVaultV06',
  unknown: 'LagoonVaultUnknown',
}

/** The address of a new mintable ERC-20. */
export function deployToken(chain: LocalChain, options: TokenOptions): Promise<Address> {
  return deployed(chain, (plan) => planToken(plan, options))
}

/** The address of a new token with the habits of USDT: 6 decimals, no return values, approvals only from zero. */
export function deployTether(chain: LocalChain): Promise<Address> {
  return deployed(chain, planTether)
}

/** The address of a new synchronous ERC-4626 vault. */
export function deployYieldVault(chain: LocalChain, options: YieldVaultOptions): Promise<Address> {
  return deployed(chain, (plan) => planYieldVault(plan, options))
}

/** The address of a new Lagoon-like vault, a proxy that the admin may upgrade; its safe approves it to take assets. */
export function deployLagoonVault(chain: LocalChain, options: LagoonVaultOptions): Promise<Address> {
  return deployed(chain, (plan) => planLagoonVault(plan, options))
}

/** Puts another generation's code behind a vault's address; its storage stays as it is. */
export async function upgradeLagoonVault(
  chain: LocalChain,
  vault: Address,
  generation: LagoonGeneration,
): Promise<void> {
  await deployed(chain, (plan) => {
    const implementation = plan.deploy(IMPLEMENTATIONS[generation], [])
    plan.call(ACCOUNTS.admin.address, vault, 'Proxy', 'upgradeTo', [implementation])
    return implementation
  })
}

/** A token of the local world. */
export type LocalToken = TokenOptions & { readonly chainId: number; readonly address: Address }

/** A vault of the local world: `async` ones settle requests, `sync` ones give shares at once. */
export type LocalVault = {
  readonly chainId: number
  readonly address: Address
  readonly type: 'async' | 'sync'
  readonly protocol: 'lagoon' | 'erc4626'
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

type TokenSymbol = 'USDC' | 'DAI' | 'USDT'
type VaultSpec = { readonly asset: TokenSymbol; readonly name: string; readonly symbol: string }
type LagoonSpec = VaultSpec & Partial<LagoonRates> & { readonly generation: LagoonGeneration }

const WORLDS: { readonly [chainId: number]: { readonly lagoon: readonly LagoonSpec[]; readonly sync: VaultSpec } } = {
  8453: {
    lagoon: [
      { generation: '0.5', asset: 'USDC', name: 'Harbor USDC', symbol: 'hbUSDC' },
      { generation: '0.4', asset: 'DAI', name: 'Meridian DAI', symbol: 'mdDAI' },
      { generation: '0.6', asset: 'USDT', name: 'Northwind USDT', symbol: 'nwUSDT' },
      { generation: '0.6', asset: 'USDC', name: 'Lantern USDC', symbol: 'ltUSDC', entryRate: 10 },
    ],
    sync: { asset: 'USDC', name: 'Cove USDC Savings', symbol: 'cvUSDC' },
  },
  42161: {
    lagoon: [
      { generation: '0.6', asset: 'USDC', name: 'Tideline USDC', symbol: 'tlUSDC' },
      { generation: '0.5', asset: 'DAI', name: 'Keel DAI', symbol: 'klDAI' },
      { generation: '0.4', asset: 'USDT', name: 'Breakwater USDT', symbol: 'bwUSDT' },
      { generation: '0.5', asset: 'USDT', name: 'Compass USDT', symbol: 'cpUSDT' },
    ],
    sync: { asset: 'DAI', name: 'Mooring DAI Savings', symbol: 'mrDAI' },
  },
}

const VERSIONS: { readonly [generation in LagoonGeneration]: string | undefined } = {
  '0.1': undefined,
  '0.4': 'v0.4.0',
  '0.5': 'v0.5.0',
  '0.6': 'v0.6.0',
  unknown: 'v0.7.0',
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
  const spec = WORLDS[chainId]
  if (!spec) throw new Error(`No local world for chain ${chainId}; there is one for ${Object.keys(WORLDS).join(', ')}`)
  // Without this both chains would have the same addresses, and a mix-up of chains would go unnoticed.
  const admin = ACCOUNTS.admin.address
  const [nonce = 0] = await readNonces(chain, [admin])
  if (nonce < chainId) await callRpc(chain, [{ method: 'anvil_setNonce', params: [admin, numberToHex(chainId)] }])

  const tokens = await deployTokens(chain)
  const plan = await openPlan(chain)
  for (const token of Object.values(tokens)) {
    for (const user of ACCOUNTS.users) planMint(plan, token, user.address, USER_BALANCE)
  }

  const implementations = new Map<LagoonGeneration, Address>()
  const vaults = spec.lagoon.map(({ generation, asset, ...options }): LocalVault => {
    const token = tokens[asset]
    const implementation = implementations.get(generation) ?? plan.deploy(IMPLEMENTATIONS[generation], [])
    implementations.set(generation, implementation)
    const address = planLagoonVault(plan, { generation, asset: token.address, ...options }, implementation)
    planFirstSettlements(plan, token, address)
    const vault = {
      chainId,
      address,
      type: 'async',
      protocol: 'lagoon',
      asset: token.address,
      name: options.name,
    } as const
    const version = VERSIONS[generation]
    return version === undefined ? vault : { ...vault, version }
  })

  const { asset, ...options } = spec.sync
  const token = tokens[asset]
  const address = planYieldVault(plan, { asset: token.address, ...options })
  planFirstDeposit(plan, token, address)
  const unlisted = planUnlisted(plan, chainId)
  const collectibles = planCollectibles(plan)
  await plan.execute()
  return {
    unlisted,
    collectibles,
    tokens: Object.values(tokens),
    vaults: [
      ...vaults,
      { chainId, address, type: 'sync', protocol: 'erc4626', asset: token.address, name: options.name },
    ],
  }
}

const lastDeployments = new Map<string, Promise<unknown>>()

/** Deployments asked for at the same moment are made one after the other, or they would plan the same addresses. */
function deployed(chain: LocalChain, add: (plan: Plan) => Address): Promise<Address> {
  const earlier = lastDeployments.get(chain.rpcUrl) ?? Promise.resolve()
  const deployment = earlier.then(async () => {
    const plan = await openPlan(chain)
    const address = add(plan)
    await plan.execute()
    return address
  })
  lastDeployments.set(
    chain.rpcUrl,
    deployment.catch(() => undefined),
  )
  return deployment
}

/** The tokens at the addresses that they have on the real chain, so that nothing has to be told of local ones. */
async function deployTokens(chain: LocalChain): Promise<Record<TokenSymbol, LocalToken>> {
  const plan = await openPlan(chain)
  const usdc = { name: 'USD Coin', symbol: 'USDC', decimals: 6 } as const
  const dai = { name: 'Dai Stablecoin', symbol: 'DAI', decimals: 18 } as const
  const usdt = { name: 'Tether USD', symbol: 'USDT', decimals: 6 } as const
  const addresses = { USDC: planToken(plan, usdc), DAI: planToken(plan, dai), USDT: planTether(plan) }
  await plan.execute()

  const place = async (token: TokenOptions & { symbol: TokenSymbol }): Promise<LocalToken> => {
    const address = bridgeTokenOf(chain.chainId, token.symbol)?.address
    if (!address) throw new Error(`${token.symbol} has no address on chain ${chain.chainId}`)
    await copyContract(chain, addresses[token.symbol], address)
    return { chainId: chain.chainId, ...token, address }
  }
  return { USDC: await place(usdc), DAI: await place(dai), USDT: await place(usdt) }
}

// Names and symbols of both kinds of token are short texts in the first words of their storage.
const COPIED_WORDS = 5

/** Puts a contract's code and the first words of its storage at another address. */
export async function copyContract(chain: LocalChain, from: Address, to: Address): Promise<void> {
  const slots = Array.from({ length: COPIED_WORDS }, (_, index) => numberToHex(index, { size: 32 }))
  const [code, ...words] = await callRpc(chain, [
    { method: 'eth_getCode', params: [from, 'latest'] },
    ...slots.map((slot) => ({ method: 'eth_getStorageAt', params: [from, slot, 'latest'] })),
  ])
  await callRpc(chain, [
    { method: 'anvil_setCode', params: [to, code] },
    ...slots.map((slot, index) => ({ method: 'anvil_setStorageAt', params: [to, slot, words[index]] })),
  ])
}

function planToken(plan: Plan, { name, symbol, decimals }: TokenOptions): Address {
  return plan.deploy('Token', [name, symbol, decimals])
}

function planTether(plan: Plan): Address {
  return plan.deploy('TetherToken', ['Tether USD', 'USDT'])
}

function planYieldVault(plan: Plan, options: YieldVaultOptions): Address {
  const { asset, name, symbol, owner = ACCOUNTS.admin.address } = options
  return plan.deploy('YieldVault', [asset, name, symbol, owner])
}

function planLagoonVault(
  plan: Plan,
  options: LagoonVaultOptions,
  implementation = plan.deploy(IMPLEMENTATIONS[options.generation], []),
): Address {
  const admin = options.admin ?? ACCOUNTS.admin.address
  const safe = options.safe ?? ACCOUNTS.safe.address
  const initialValues = {
    asset: options.asset,
    name: options.name,
    symbol: options.symbol,
    admin,
    safe,
    valuationManager: options.valuationManager ?? ACCOUNTS.valuationManager.address,
    whitelistManager: options.whitelistManager ?? admin,
    feeReceiver: options.feeReceiver ?? ACCOUNTS.feeReceiver.address,
    feeRegistry: FEE_REGISTRY,
    whitelisted: options.whitelisted ?? false,
    rates: { ...NO_FEES, ...options },
  }
  const initialize = plan.encode(IMPLEMENTATIONS[options.generation], 'initialize', [initialValues])
  const vault = plan.deploy('Proxy', [implementation, ACCOUNTS.admin.address, initialize])
  // Redemptions are settled by the vault taking the assets out of the safe.
  plan.call(safe, options.asset, 'Token', 'approve', [vault, maxUint256])
  return vault
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

function planFirstDeposit(plan: Plan, token: LocalToken, vault: Address): void {
  const anchor = ACCOUNTS.anchor.address
  planApproval(plan, token, vault)
  plan.call(anchor, vault, 'YieldVault', 'deposit', [parseUnits(FIRST_DEPOSIT, token.decimals), anchor])
  planMint(plan, token, vault, FIRST_GAIN)
}
