import { type Address, keccak256, maxUint256, numberToHex, slice, toHex } from 'viem'
import { ACCOUNTS } from './accounts.ts'
import { createPlan, type Plan } from './chains/plan.ts'
import type { LocalChain } from './chains.ts'
import { copyContract } from './copies.ts'
import { callRpc } from './rpc.ts'

/** Version of the Lagoon vault contract. `unknown` reports v0.7.0 and behaves like v0.6. */
export type LagoonGeneration = '0.1' | '0.2' | '0.4' | '0.5' | '0.5.1' | '0.6' | 'unknown'

/** Constructor arguments of a token. */
export type TokenOptions = { readonly name: string; readonly symbol: string; readonly decimals: number }

/**
 * Kind of ERC-4626 vault. `illiquid` can lend out its assets and then not pay. `silent` returns 0 for every limit, such as `maxDeposit`.
 * `cooldown` pays only after a delay. `exitFee` charges a fee on withdrawals, `entryFee` also on deposits. `noExit` never pays. `lying`
 * contradicts its previews. `strict` rejects redemptions of shares worth no assets. `dailyLimit` limits deposits per day.
 */
export type YieldVaultKind =
  | 'plain'
  | 'illiquid'
  | 'silent'
  | 'cooldown'
  | 'exitFee'
  | 'entryFee'
  | 'noExit'
  | 'lying'
  | 'strict'
  | 'dailyLimit'

/**
 * Harmful behaviour of a token's transfers. `burnsGas` uses all gas. `callsBack` claims rewards again during a transfer. `movesNothing`
 * succeeds without moving tokens. `changesDecimals` has other decimals in every block. `none` is for tokens that turn harmful later.
 */
export type HarmfulBehavior = keyof typeof HARMS

/** Options of a synchronous ERC-4626 vault. By default `make` is `plain`, and the account `admin` owns the vault. */
export type YieldVaultOptions = {
  readonly make?: YieldVaultKind
  readonly asset: Address
  readonly name: string
  readonly symbol: string
  readonly owner?: Address
}

/**
 * Kind of ERC-7540 vault. `aggregated` has a separate share token, and request id 0 for all requests. `counted` gives each request its own
 * id. `redemptions` and `syncDeposits` mint shares instantly, and only redemptions need a request. `deposits` pays redemptions instantly,
 * and only deposits need a request. Against the standard, the `Deposit` events of `counted` and `syncDeposits` name the receiver first.
 */
export type AsyncVaultKind = 'aggregated' | 'counted' | 'redemptions' | 'syncDeposits' | 'deposits'

/** Options of an ERC-7540 vault. By default shares have 6 decimals, and the account `safe` is the vault's manager. */
export type AsyncVaultOptions = {
  readonly make: AsyncVaultKind
  readonly asset: Address
  readonly name: string
  readonly symbol: string
  /** Decimals of the shares, only for `aggregated` and `counted`; shares of other kinds have the asset's decimals. */
  readonly shareDecimals?: number
  readonly manager?: Address
}

/** Options of a local imitation of a Lagoon vault. By default, accounts in `ACCOUNTS` have the vault's roles. */
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
  readonly whitelisted?: boolean
  /** True for a proxy that reads the address of its implementation from a beacon, as Lagoon's first vaults do. */
  readonly hasBeacon?: boolean
} & Partial<LagoonRates>

/** Fees of a Lagoon vault in basis points. Entry fee, exit fee and haircut exist since v0.6. */
export type LagoonRates = {
  readonly managementRate: number
  readonly performanceRate: number
  readonly entryRate: number
  readonly exitRate: number
  readonly haircutRate: number
}

/** Address of Lagoon's fee registry, which receives the protocol's share of every fee. */
export const FEE_REGISTRY: Address = '0x00000000000000000000000000000000FEE5fEe5'

const NO_FEES: LagoonRates = { managementRate: 0, performanceRate: 0, entryRate: 0, exitRate: 0, haircutRate: 0 }

const IMPLEMENTATIONS: { readonly [generation in LagoonGeneration]: string } = {
  '0.1': 'LagoonVaultV01',
  '0.2': 'LagoonVaultV02',
  '0.4': 'LagoonVaultV04',
  '0.5': 'LagoonVaultV05',
  '0.5.1': 'LagoonVaultV051',
  '0.6': 'LagoonVaultV06',
  unknown: 'LagoonVaultUnknown',
}

const YIELD_VAULTS: { readonly [make in YieldVaultKind]: string } = {
  plain: 'YieldVault',
  illiquid: 'IlliquidYieldVault',
  silent: 'SilentYieldVault',
  cooldown: 'CooldownYieldVault',
  exitFee: 'ExitFeeYieldVault',
  entryFee: 'EntryFeeYieldVault',
  noExit: 'NoExitYieldVault',
  lying: 'LyingYieldVault',
  strict: 'StrictYieldVault',
  dailyLimit: 'DailyLimitYieldVault',
}

/** Numbers by which the contract HostileToken identifies each behaviour. */
const HARMS = { none: 0, burnsGas: 1, changesDecimals: 2, callsBack: 3, reverts: 4, movesNothing: 5 } as const

const ASYNC_VAULTS: { readonly [make in AsyncVaultKind]: string } = {
  aggregated: 'AsyncVault',
  counted: 'AsyncVaultCounted',
  redemptions: 'AsyncRedemptionVault',
  syncDeposits: 'SyncDepositVault',
  deposits: 'AsyncDepositVault',
}

/** Deploys a mintable ERC-20 and returns its address. */
export function deployToken(chain: LocalChain, options: TokenOptions): Promise<Address> {
  return deployPlanned(chain, (plan) => planToken(plan, options))
}

/**
 * Deploys a token that behaves like USDT and returns its address. The token has 6 decimals, its functions return no values, and it rejects
 * a change between two non-zero allowances.
 */
export function deployTether(chain: LocalChain): Promise<Address> {
  return deployPlanned(chain, planTether)
}

/** Deploys an ERC-20 with 18 decimals and this harmful behaviour. Any account can mint it. Returns its address. */
export function deployHostileToken(chain: LocalChain, harm: HarmfulBehavior): Promise<Address> {
  return deployPlanned(chain, (plan) => plan.deploy('HostileToken', [HARMS[harm]]))
}

/** Changes the harmful behaviour of a hostile token. */
export async function setHarm(chain: LocalChain, token: Address, harm: HarmfulBehavior): Promise<void> {
  await deployPlanned(chain, (plan) => {
    plan.call(ACCOUNTS.admin.address, token, 'HostileToken', 'setHarm', [HARMS[harm]])
    return token
  })
}

/** Deploys a synchronous ERC-4626 vault and returns its address. */
export function deployYieldVault(chain: LocalChain, options: YieldVaultOptions): Promise<Address> {
  return deployPlanned(chain, (plan) => planYieldVault(plan, options))
}

/**
 * Deploys an ERC-7540 vault and returns its address. The vault's manager approves the vault, which takes the assets of redemptions from the
 * manager.
 */
export function deployAsyncVault(chain: LocalChain, options: AsyncVaultOptions): Promise<Address> {
  return deployPlanned(chain, (plan) => planAsyncVault(plan, options))
}

/**
 * Deploys a local imitation of a Lagoon vault and returns its address. The account `admin` may upgrade the proxy. The safe approves the
 * vault, which takes the assets of redemptions from the safe.
 */
export function deployLagoonVault(chain: LocalChain, options: LagoonVaultOptions): Promise<Address> {
  return deployPlanned(chain, (plan) => planLagoonVault(plan, options))
}

const [IMPLEMENTATION_SLOT, BEACON_SLOT] = (['implementation', 'beacon'] as const).map((name) =>
  numberToHex(BigInt(keccak256(toHex(`eip1967.proxy.${name}`))) - 1n, { size: 32 }),
)

/** Upgrades a Lagoon vault, or all vaults that share its beacon, to another contract version. The storage stays. */
export async function upgradeLagoonVault(
  chain: LocalChain,
  vault: Address,
  generation: LagoonGeneration,
): Promise<void> {
  const [word] = await callRpc(chain, [{ method: 'eth_getStorageAt', params: [vault, BEACON_SLOT, 'latest'] }])
  const beacon = BigInt(String(word))
  await deployPlanned(chain, (plan) => {
    const implementation = planLagoonImplementation(plan, generation)
    const [to, name] = beacon === 0n ? [vault, 'Proxy'] : [numberToHex(beacon, { size: 20 }), 'Beacon']
    plan.call(ACCOUNTS.admin.address, to, name, 'upgradeTo', [implementation])
    return implementation
  })
}

/**
 * Deploys a copy of a vault's implementation at another address, upgrades the vault to the copy, and returns the copy's address. Throws for
 * a vault that is no upgradable proxy.
 */
export async function upgradeToCopy(chain: LocalChain, vault: Address): Promise<Address> {
  const [word] = await callRpc(chain, [{ method: 'eth_getStorageAt', params: [vault, IMPLEMENTATION_SLOT, 'latest'] }])
  if (BigInt(String(word)) === 0n)
    throw new Error(`${vault} on chain ${chain.chainId} is no proxy that can be upgraded`)
  const implementation = numberToHex(BigInt(String(word)), { size: 20 })
  const copy = slice(keccak256(implementation), 12)
  await copyContract(chain, implementation, copy)
  return deployPlanned(chain, (plan) => {
    plan.call(ACCOUNTS.admin.address, vault, 'Proxy', 'upgradeTo', [copy])
    return copy
  })
}

const lastDeployments = new Map<string, Promise<unknown>>()

/** Runs deployments one after another, because concurrent plans would compute the same addresses. */
function deployPlanned(chain: LocalChain, add: (plan: Plan) => Address): Promise<Address> {
  const earlier = lastDeployments.get(chain.rpcUrl) ?? Promise.resolve()
  const deployment = earlier.then(async () => {
    const plan = await createPlan(chain)
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

/** Adds the deployment of a token to a plan of transactions. Returns the token's future address. Any account can mint the token. */
export function planToken(plan: Plan, { name, symbol, decimals }: TokenOptions): Address {
  return plan.deploy('Token', [name, symbol, decimals])
}

/** Adds the deployment of a token that behaves like USDT to a plan of transactions. Returns the token's future address. */
export function planTether(plan: Plan): Address {
  return plan.deploy('TetherToken', ['Tether USD', 'USDT'])
}

/** Adds the deployment of a synchronous vault to a plan of transactions. Returns the vault's future address. */
export function planYieldVault(plan: Plan, options: YieldVaultOptions): Address {
  const { make = 'plain', asset, name, symbol, owner = ACCOUNTS.admin.address } = options
  return plan.deploy(YIELD_VAULTS[make], [asset, name, symbol, owner])
}

/**
 * Adds the deployment of an ERC-7540 vault and the manager's approval of asset transfers to a plan of transactions. Returns the vault's
 * future address.
 */
export function planAsyncVault(plan: Plan, options: AsyncVaultOptions): Address {
  const { make, asset, name, symbol, shareDecimals = 6, manager = ACCOUNTS.safe.address } = options
  const decimals = make === 'aggregated' || make === 'counted' ? [shareDecimals] : []
  const vault = plan.deploy(ASYNC_VAULTS[make], [asset, name, symbol, ...decimals, manager])
  // The vault needs this approval, because it takes the assets of redemptions from its manager.
  plan.call(manager, asset, 'Token', 'approve', [vault, maxUint256])
  return vault
}

/** Adds the deployment of a Lagoon vault's implementation contract to a plan of transactions. Returns the contract's future address. */
export function planLagoonImplementation(plan: Plan, generation: LagoonGeneration): Address {
  return plan.deploy(IMPLEMENTATIONS[generation], [])
}

/**
 * Adds the deployment of a Lagoon-like vault and the safe's approval of asset transfers to a plan of transactions. Returns the vault's
 * future address.
 */
export function planLagoonVault(
  plan: Plan,
  options: LagoonVaultOptions,
  implementation = planLagoonImplementation(plan, options.generation),
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
  const vault = options.hasBeacon
    ? plan.deploy('ProxyWithBeacon', [plan.deploy('Beacon', [implementation, ACCOUNTS.admin.address]), initialize])
    : plan.deploy('Proxy', [implementation, ACCOUNTS.admin.address, initialize])
  // The vault needs this approval, because it takes the assets of redemptions from its safe.
  plan.call(safe, options.asset, 'Token', 'approve', [vault, maxUint256])
  return vault
}
