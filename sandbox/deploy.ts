import { type Address, keccak256, maxUint256, numberToHex, slice, toHex } from 'viem'
import { ACCOUNTS } from './accounts.ts'
import { openPlan, type Plan } from './chains/plan.ts'
import type { LocalChain } from './chains.ts'
import { copyContract } from './copies.ts'
import { callRpc } from './rpc.ts'

/** A generation of Lagoon vault; `unknown` calls itself v0.7.0 and behaves as 0.6. */
export type LagoonGeneration = '0.1' | '0.2' | '0.4' | '0.5' | '0.5.1' | '0.6' | 'unknown'

/** What a token is deployed with. */
export type TokenOptions = { readonly name: string; readonly symbol: string; readonly decimals: number }

/**
 * A make of ERC-4626 vault: `illiquid` lends its assets out, `silent` says 0 for every limit, `cooldown` refuses to pay
 * at once, `exitFee` takes a fee on withdrawal, `entryFee` one on deposit too, `noExit` never pays, `lying` does not do
 * what it says, `strict` redeems nothing that is worth nothing.
 */
export type YieldVaultMake =
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
 * A harm that a token does: `burnsGas`, `callsBack` (it claims again), `reverts` and `movesNothing` in a transfer;
 * `changesDecimals` in each block. `none` is for tokens that turn bad later.
 */
export type Harm = keyof typeof HARMS

/** What a synchronous vault is deployed with; it is a plain one, and the owner is the admin, by default. */
export type YieldVaultOptions = {
  readonly make?: YieldVaultMake
  readonly asset: Address
  readonly name: string
  readonly symbol: string
  readonly owner?: Address
}

/**
 * A make of ERC-7540 vault that is no Lagoon's: `aggregated` has the request id 0 and a share token of its own,
 * `counted` an id for each request, `redemptions` takes deposits at once and only redemptions by request, as does
 * `syncDeposits`; `deposits` takes only deposits by request and pays at once. Of `counted` and `syncDeposits` the event
 * `Deposit` names the receiver of the shares first.
 */
export type AsyncVaultMake = 'aggregated' | 'counted' | 'redemptions' | 'syncDeposits' | 'deposits'

/** What such a vault is deployed with; its shares have 6 decimals and the safe of `ACCOUNTS` manages it by default. */
export type AsyncVaultOptions = {
  readonly make: AsyncVaultMake
  readonly asset: Address
  readonly name: string
  readonly symbol: string
  /** Only of `aggregated` and `counted`: other shares have the asset's. */
  readonly shareDecimals?: number
  readonly manager?: Address
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
  /** Whether its proxy asks a beacon for its code, as Lagoon's first vaults do, or knows it itself. */
  readonly hasBeacon?: boolean
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
  '0.2': 'LagoonVaultV02',
  '0.4': 'LagoonVaultV04',
  '0.5': 'LagoonVaultV05',
  '0.5.1': 'LagoonVaultV051',
  '0.6': 'LagoonVaultV06',
  unknown: 'LagoonVaultUnknown',
}

const YIELD_VAULTS: { readonly [make in YieldVaultMake]: string } = {
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

/** The numbers that the contract has for them. */
const HARMS = { none: 0, burnsGas: 1, changesDecimals: 2, callsBack: 3, reverts: 4, movesNothing: 5 } as const

const ASYNC_VAULTS: { readonly [make in AsyncVaultMake]: string } = {
  aggregated: 'AsyncVault',
  counted: 'AsyncVaultCounted',
  redemptions: 'AsyncRedemptionVault',
  syncDeposits: 'SyncDepositVault',
  deposits: 'AsyncDepositVault',
}

/** The address of a new mintable ERC-20. */
export function deployToken(chain: LocalChain, options: TokenOptions): Promise<Address> {
  return deployed(chain, (plan) => planToken(plan, options))
}

/** The address of a new token with the habits of USDT: 6 decimals, no return values, approvals only from zero. */
export function deployTether(chain: LocalChain): Promise<Address> {
  return deployed(chain, planTether)
}

/** Deploys an ERC-20 with 18 decimals that does this harm and that anyone can mint; returns its address. */
export function deployHostileToken(chain: LocalChain, harm: Harm): Promise<Address> {
  return deployed(chain, (plan) => plan.deploy('HostileToken', [HARMS[harm]]))
}

/** Has a hostile token do another harm from now on. */
export async function setHarm(chain: LocalChain, token: Address, harm: Harm): Promise<void> {
  await deployed(chain, (plan) => {
    plan.call(ACCOUNTS.admin.address, token, 'HostileToken', 'setHarm', [HARMS[harm]])
    return token
  })
}

/** The address of a new synchronous ERC-4626 vault. */
export function deployYieldVault(chain: LocalChain, options: YieldVaultOptions): Promise<Address> {
  return deployed(chain, (plan) => planYieldVault(plan, options))
}

/** The address of a new ERC-7540 vault of another make than Lagoon's; its manager approves it to take assets. */
export function deployAsyncVault(chain: LocalChain, options: AsyncVaultOptions): Promise<Address> {
  return deployed(chain, (plan) => planAsyncVault(plan, options))
}

/** The address of a new Lagoon-like vault, a proxy that the admin may upgrade; its safe approves it to take assets. */
export function deployLagoonVault(chain: LocalChain, options: LagoonVaultOptions): Promise<Address> {
  return deployed(chain, (plan) => planLagoonVault(plan, options))
}

/** ERC-1967's slots. */
const [IMPLEMENTATION_SLOT, BEACON_SLOT] = (['implementation', 'beacon'] as const).map((name) =>
  numberToHex(BigInt(keccak256(toHex(`eip1967.proxy.${name}`))) - 1n, { size: 32 }),
)

/** Puts another generation's code behind a vault's address, and all others of its beacon; its storage stays as it is. */
export async function upgradeLagoonVault(
  chain: LocalChain,
  vault: Address,
  generation: LagoonGeneration,
): Promise<void> {
  const [word] = await callRpc(chain, [{ method: 'eth_getStorageAt', params: [vault, BEACON_SLOT, 'latest'] }])
  const beacon = BigInt(String(word))
  await deployed(chain, (plan) => {
    const implementation = planLagoonImplementation(plan, generation)
    const [to, name] = beacon === 0n ? [vault, 'Proxy'] : [numberToHex(beacon, { size: 20 }), 'Beacon']
    plan.call(ACCOUNTS.admin.address, to, name, 'upgradeTo', [implementation])
    return implementation
  })
}

/** Puts a copy of the code behind a vault's address in its place, which changes the code's address and nothing else; that address. */
export async function upgradeToCopy(chain: LocalChain, vault: Address): Promise<Address> {
  const [word] = await callRpc(chain, [{ method: 'eth_getStorageAt', params: [vault, IMPLEMENTATION_SLOT, 'latest'] }])
  if (BigInt(String(word)) === 0n)
    throw new Error(`${vault} on chain ${chain.chainId} is no proxy that can be upgraded`)
  const implementation = numberToHex(BigInt(String(word)), { size: 20 })
  const copy = slice(keccak256(implementation), 12)
  await copyContract(chain, implementation, copy)
  return deployed(chain, (plan) => {
    plan.call(ACCOUNTS.admin.address, vault, 'Proxy', 'upgradeTo', [copy])
    return copy
  })
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

/** Plans a token that everybody can mint; its address to be. */
export function planToken(plan: Plan, { name, symbol, decimals }: TokenOptions): Address {
  return plan.deploy('Token', [name, symbol, decimals])
}

/** Plans a token with the habits of USDT; its address to be. */
export function planTether(plan: Plan): Address {
  return plan.deploy('TetherToken', ['Tether USD', 'USDT'])
}

/** Plans a synchronous vault; its address to be. */
export function planYieldVault(plan: Plan, options: YieldVaultOptions): Address {
  const { make = 'plain', asset, name, symbol, owner = ACCOUNTS.admin.address } = options
  return plan.deploy(YIELD_VAULTS[make], [asset, name, symbol, owner])
}

/** Plans an ERC-7540 vault with its manager's approval; its address to be. */
export function planAsyncVault(plan: Plan, options: AsyncVaultOptions): Address {
  const { make, asset, name, symbol, shareDecimals = 6, manager = ACCOUNTS.safe.address } = options
  const decimals = make === 'aggregated' || make === 'counted' ? [shareDecimals] : []
  const vault = plan.deploy(ASYNC_VAULTS[make], [asset, name, symbol, ...decimals, manager])
  // Redemptions are fulfilled by the vault taking the assets from the manager.
  plan.call(manager, asset, 'Token', 'approve', [vault, maxUint256])
  return vault
}

/** Plans a generation's code, for many vaults; its address to be. */
export function planLagoonImplementation(plan: Plan, generation: LagoonGeneration): Address {
  return plan.deploy(IMPLEMENTATIONS[generation], [])
}

/** Plans a Lagoon-like vault with its safe's approval; its address to be. */
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
  // Redemptions are settled by the vault taking the assets out of the safe.
  plan.call(safe, options.asset, 'Token', 'approve', [vault, maxUint256])
  return vault
}
