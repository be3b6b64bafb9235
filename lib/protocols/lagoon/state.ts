import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex, pad } from 'viem'
import { buildCall, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import {
  buildReadPlan,
  type ChainReader,
  type NamedReads,
  type NamedResults,
  type ReadPlan,
} from '../../chain/reader.ts'
import { min } from '../../core/bigint.ts'
import { checksumAddress, MAX_UINT256 } from '../../core/codecs.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { buildVaultState, type VaultState } from '../vault-state.ts'
import { firstRatesAbi, lagoonAbi } from './abi.ts'
import type { LagoonVault } from './vault.ts'

/**
 * Base slots of the vault's storage structs (ERC-7201), the same in versions 0.1 to 0.6. Slots are read because newer
 * versions lack getters for many values. Vaults are upgradeable proxies, so every read determines the version anew.
 */
const ERC7540_STORAGE = 0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a00n
const FEES_STORAGE = 0xa5292f7ccd85acc1b3080c01f5da9af7799f2c26826bd4d79081d6511780bd00n
const ROLES_STORAGE = 0x7c302ed2c673c3d6b4551cf74a01ee649f887e14fd20d13dbca1b6099534d900n
const VAULT_STORAGE = 0x0e6b3200a60a991c539f47dddaca04a18eb4bcf2b53906fb44751d827f001400n

const vaultSlots = {
  newTotalAssets: slot(ERC7540_STORAGE + 1n),
  epochIds: slot(ERC7540_STORAGE + 2n),
  pendingSilo: slot(ERC7540_STORAGE + 8n),
  totalAssetsTimes: slot(ERC7540_STORAGE + 10n),
  maxCap: slot(ERC7540_STORAGE + 11n),
  syncMode: slot(ERC7540_STORAGE + 12n),
  lastFeeTime: slot(FEES_STORAGE + 2n),
  feeReceiver: slot(ROLES_STORAGE + 1n),
  safe: slot(ROLES_STORAGE + 2n),
  valuationManager: slot(ROLES_STORAGE + 4n),
  lifecycle: slot(VAULT_STORAGE),
}
const EPOCHS = ERC7540_STORAGE + 3n
const SETTLEMENTS = ERC7540_STORAGE + 4n
const LAST_DEPOSIT_REQUEST_IDS = ERC7540_STORAGE + 5n
const LAST_REDEEM_REQUEST_IDS = ERC7540_STORAGE + 6n

/** Value of `maxCap` that means that the vault has no cap. */
export const NO_CAP = MAX_UINT256

/** Lifecycle of a vault. `closing` and `closed` vaults accept requests but never settle them. */
type Lifecycle = 'open' | 'closing' | 'closed'

/** Groups of versions that take deposits in the same way. For an `unknown` version, the storage is not used and deposits are refused. */
type Generation = 'before 0.5' | '0.5' | '0.6' | 'unknown'

/** State of a Lagoon vault at one block. */
export type LagoonState = {
  readonly version: string | undefined
  readonly generation: Generation
  /** True if the contract has one of the view functions that only Lagoon vaults have. */
  readonly hasLagoonViews: boolean
  readonly lifecycle: Lifecycle | undefined
  /** Maximum total assets; 2^256 - 1 without a cap, undefined in versions other than 0.6. */
  readonly maxCap: bigint | undefined
  /** True if the vault's SyncMode allows instant deposits; always true in versions other than 0.6, which lack SyncMode. */
  readonly syncModeTakesDeposits: boolean
  /** True if the vault's SyncMode allows instant redemptions; always false in versions other than 0.6. */
  readonly syncModePaysRedemptions: boolean
  /**
   * Time until which the valuation allows instant deposits, in seconds since 1970. It is 0 before the first valuation and in versions
   * before 0.5.
   */
  readonly totalAssetsExpiration: bigint | undefined
  /**
   * Time of the last valuation, in seconds since 1970. The contract stores it as the time at which fees were last
   * taken, because settlements take fees.
   */
  readonly valuedAt: bigint | undefined
  readonly rates: LagoonRates | undefined
  readonly vaultState: VaultState
}

/** Fee rates in basis points; 0 for a fee that the vault's version does not have. */
export type LagoonRates = {
  readonly management: bigint
  readonly performance: bigint
  readonly entry: bigint
  readonly exit: bigint
  readonly haircut: bigint
}

/** Vault whose silo contract is not known yet while an operator adds the vault. */
type ReadableVault = Omit<TokenizedVault, 'firstBlock'> & Partial<Pick<LagoonVault, 'pendingSilo'>>

/** State of an account, in smallest units. A value is undefined if the vault does not report it. */
export type LagoonAccount = {
  readonly pendingAssets: bigint | undefined
  readonly shares: bigint | undefined
  readonly allowance: bigint | undefined
  readonly lastDepositRequestId: number
  /** True if the vault's access list admits the account. */
  readonly allowed: boolean | undefined
  /** True if the vault's access list admits the account that pays for the deposit. */
  readonly payerAllowed: boolean | undefined
  readonly claimableAssets: bigint | undefined
  /** Shares that claiming all settled deposits gives, after fees; undefined before version 0.2 and while the vault is paused. */
  readonly claimableShares: bigint | undefined
  readonly lastRedeemRequestId: number
  readonly pendingRedeemShares: bigint | undefined
  readonly redeemableShares: bigint | undefined
  /** Assets that claiming all settled redemptions pays; undefined if the vault does not report them. */
  readonly redeemableAssets: bigint | undefined
}

/** State of a vault and of one account in it, at the same block. */
export type LagoonSnapshot = { readonly state: LagoonState; readonly account: LagoonAccount }

/** Reads the vault. Parsing never throws: values that the vault does not report are undefined or named in `vaultState.missing`. */
export function readLagoonState(vault: ReadableVault): ReadPlan<LagoonState> {
  return buildReadPlan(vaultReads(vault), (snapshot) => parseVault(vault, snapshot))
}

/** Reads the vault and one account. `payer` is the account that pays for the deposit. Parsing never throws. */
export function readLagoonAccount(
  vault: LagoonVault,
  account: Address,
  payer: Address = account,
): ReadPlan<LagoonSnapshot> {
  return buildReadPlan(accountReads(vault, account, payer), (snapshot) => {
    const state = parseVault(vault, snapshot)
    return { state, account: parseAccount(state, snapshot) }
  })
}

/**
 * Reads the assets that the vault can take from its safe, the account that holds the vault's assets; undefined if
 * unknown. The plan's value is a function of the vault's state, because the state says whether the safe is still the same.
 */
export function readTakeableFromSafe({
  address,
  asset,
  safe,
}: LagoonVault): ReadPlan<(state: LagoonState) => bigint | undefined> {
  const calls = {
    balance: buildCall(asset, erc20Abi, 'balanceOf', [safe]),
    allowance: buildCall(asset, erc20Abi, 'allowance', [safe, address]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers: { balance, allowance } }) => ({ vaultState }) => {
    // The safe in the vault's record may have been replaced since. Its balance and allowance then say nothing about the
    // vault.
    const isKnown = vaultState.safe === safe && balance !== undefined && allowance !== undefined
    return isKnown ? min(balance, allowance) : undefined
  })
}

function vaultReads(vault: ReadableVault) {
  const { address, asset } = vault
  // The silo is the contract that holds pending requests. While it is unknown, any address serves, because `parseVault`
  // then ignores the balances.
  const silo = vault.pendingSilo ?? address
  return {
    address,
    slots: vaultSlots,
    calls: {
      version: buildCall(address, lagoonAbi, 'version', []),
      pendingSilo: buildCall(address, lagoonAbi, 'pendingSilo', []),
      owner: buildCall(address, lagoonAbi, 'owner', []),
      safe: buildCall(address, lagoonAbi, 'safe', []),
      isTotalAssetsValid: buildCall(address, lagoonAbi, 'isTotalAssetsValid', []),
      paused: buildCall(address, lagoonAbi, 'paused', []),
      totalAssets: buildCall(address, lagoonAbi, 'totalAssets', []),
      sharePrice: buildCall(address, lagoonAbi, 'convertToAssets', [10n ** BigInt(vault.shareDecimals)]),
      symbol: buildCall(address, erc20Abi, 'symbol', []),
      totalSupply: buildCall(address, erc20Abi, 'totalSupply', []),
      siloAssets: buildCall(asset, erc20Abi, 'balanceOf', [silo]),
      siloShares: buildCall(address, erc20Abi, 'balanceOf', [silo]),
      rates: buildCall(address, lagoonAbi, 'feeRates', []),
      firstRates: buildCall(address, firstRatesAbi, 'feeRates', []),
    },
  } satisfies NamedReads
}

function accountReads(vault: LagoonVault, account: Address, payer: Address) {
  const { address, asset } = vault
  const { slots, calls } = vaultReads(vault)
  return {
    address,
    slots: {
      ...slots,
      lastDepositRequestId: mappingSlot(LAST_DEPOSIT_REQUEST_IDS, account),
      lastRedeemRequestId: mappingSlot(LAST_REDEEM_REQUEST_IDS, account),
    },
    calls: {
      ...calls,
      // The request id 0 stands for the account's last request.
      pendingAssets: buildCall(address, lagoonAbi, 'pendingDepositRequest', [0n, account]),
      claimableAssets: buildCall(address, lagoonAbi, 'claimableDepositRequest', [0n, account]),
      maxMint: buildCall(address, lagoonAbi, 'maxMint', [account]),
      pendingRedeemShares: buildCall(address, lagoonAbi, 'pendingRedeemRequest', [0n, account]),
      redeemableShares: buildCall(address, lagoonAbi, 'claimableRedeemRequest', [0n, account]),
      maxWithdraw: buildCall(address, lagoonAbi, 'maxWithdraw', [account]),
      shares: buildCall(address, erc20Abi, 'balanceOf', [account]),
      isWhitelisted: buildCall(address, lagoonAbi, 'isWhitelisted', [account]),
      isAllowed: buildCall(address, lagoonAbi, 'isAllowed', [account]),
      payerIsWhitelisted: buildCall(address, lagoonAbi, 'isWhitelisted', [payer]),
      payerIsAllowed: buildCall(address, lagoonAbi, 'isAllowed', [payer]),
      allowance: buildCall(asset, erc20Abi, 'allowance', [account, address]),
    },
  } satisfies NamedReads
}

function parseVault(
  vault: ReadableVault,
  { words, answers }: NamedResults<ReturnType<typeof vaultReads>>,
): LagoonState {
  const storedSilo = addressOf(words.pendingSilo)
  const generation = generationOf(
    answers.version,
    answers.pendingSilo !== undefined && answers.pendingSilo === storedSilo,
  )
  // The storage layout of an unknown version may differ, so its values are not used.
  const stored = <T>(value: T): T | undefined => (generation === 'unknown' ? undefined : value)
  // The balances were read for the silo in the vault's record, so they count only if the contract stores the same silo.
  const siloIsKnown = generation !== 'unknown' && storedSilo === vault.pendingSilo

  return {
    version: answers.version,
    generation,
    hasLagoonViews: (answers.isTotalAssetsValid ?? answers.pendingSilo) !== undefined,
    lifecycle: stored(lifecycleOf(words.lifecycle)),
    maxCap: generation === '0.6' ? words.maxCap : undefined,
    syncModeTakesDeposits: generation !== '0.6' || SYNC_DEPOSITS.includes(bits(words.syncMode, 0n, 8n)),
    syncModePaysRedemptions: generation === '0.6' && SYNC_REDEMPTIONS.includes(bits(words.syncMode, 0n, 8n)),
    totalAssetsExpiration: stored(bits(words.totalAssetsTimes, 0n, 128n)),
    valuedAt: stored(words.lastFeeTime),
    rates: ratesOf(generation, answers),
    vaultState: buildVaultState({
      symbol: answers.symbol,
      decimals: vault.shareDecimals,
      asset: vault.asset,
      assetSymbol: vault.assetSymbol,
      assetDecimals: vault.assetDecimals,
      totalAssets: answers.totalAssets,
      totalSupply: answers.totalSupply,
      sharePrice: answers.sharePrice,
      owner: answers.owner,
      safe: stored(addressOf(words.safe)) ?? answers.safe,
      valuationManager: stored(addressOf(words.valuationManager)),
      feeReceiver: stored(addressOf(words.feeReceiver)),
      paused: answers.paused,
      pendingSilo: stored(storedSilo),
      pendingDeposits: siloIsKnown ? answers.siloAssets : undefined,
      pendingRedeems: siloIsKnown ? answers.siloShares : undefined,
      isTotalAssetsValid: generation === 'before 0.5' ? false : answers.isTotalAssetsValid,
      newTotalAssets: stored(words.newTotalAssets),
      depositEpochId: stored(Number(bits(words.epochIds, 0n, 40n))),
      redeemEpochId: stored(Number(bits(words.epochIds, 120n, 40n))),
    }),
  }
}

function parseAccount(
  { version }: LagoonState,
  { words, answers }: NamedResults<ReturnType<typeof accountReads>>,
): LagoonAccount {
  const { pendingAssets, claimableAssets, maxMint, pendingRedeemShares, redeemableShares, shares, allowance } = answers
  return {
    pendingAssets,
    shares,
    allowance,
    lastDepositRequestId: Number(bits(words.lastDepositRequestId, 0n, 40n)),
    allowed: answers.isAllowed ?? answers.isWhitelisted,
    payerAllowed: answers.payerIsAllowed ?? answers.payerIsWhitelisted,
    claimableAssets,
    claimableShares: parseReportedAmount(maxMint, claimableAssets),
    lastRedeemRequestId: Number(bits(words.lastRedeemRequestId, 0n, 40n)),
    pendingRedeemShares,
    redeemableShares,
    // Version 0.1 has no version(). Its `maxWithdraw` is the value of the shares in the wallet, not of settled
    // redemptions. `maxWithdraw` of a vault without version() is therefore not used.
    redeemableAssets: parseReportedAmount(version === undefined ? undefined : answers.maxWithdraw, redeemableShares),
  }
}

/**
 * Returns the shares that claiming all settled deposits gives. If the vault reports no number or a wrong one, computes
 * it from the rate and the fee of the settlement. A paused vault reports 0, and version 0.1 reports the largest
 * integer. The computation takes one RPC round trip, or two in version 0.6, which charges fees on claims. Throws
 * `upstream_*`.
 */
export async function readClaimableShares(
  reader: ChainReader,
  vault: LagoonVault,
  { state, account }: LagoonSnapshot,
  at: bigint,
): Promise<bigint> {
  if (account.claimableShares !== undefined) return account.claimableShares
  const [assets, requestId] = [requireValue(account.claimableAssets), account.lastDepositRequestId]
  if (state.generation !== '0.6')
    return readConversion(reader, vault, 'convertToShares', [assets, BigInt(requestId)], at)
  const settlement = await readSettlement(reader, vault, requestId, at)
  const shares = (assets * settlement.supply) / settlement.assets
  return shares - feeOn(shares, settlement.entryRate)
}

/**
 * Returns the assets that claiming all settled redemptions pays. Computes them from the settlement if the vault does
 * not report them, as `readClaimableShares` does for shares. Throws `upstream_*`.
 */
export async function readRedeemableAssets(
  reader: ChainReader,
  vault: LagoonVault,
  { state, account }: LagoonSnapshot,
  at: bigint,
): Promise<bigint> {
  if (account.redeemableAssets !== undefined) return account.redeemableAssets
  const [shares, requestId] = [requireValue(account.redeemableShares), account.lastRedeemRequestId]
  if (state.generation !== '0.6')
    return readConversion(reader, vault, 'convertToAssets', [shares, BigInt(requestId)], at)
  const settlement = await readSettlement(reader, vault, requestId, at)
  const redeemed = shares - feeOn(shares, settlement.exitRate)
  return (redeemed * settlement.assets) / settlement.supply
}

async function readConversion(
  reader: ChainReader,
  { address }: LagoonVault,
  name: 'convertToShares' | 'convertToAssets',
  args: readonly [amount: bigint, requestId: bigint],
  at: bigint,
): Promise<bigint> {
  const plan = buildReadPlan(
    { address, slots: {}, calls: { conversion: buildCall(address, lagoonAbi, name, args) } },
    ({ answers }) => answers.conversion,
  )
  return requireValue((await reader.readOne(plan, { at })).value)
}

/**
 * Reads the total assets and shares at the settlement of a request, and the fees of that settlement. The ratio of
 * assets to shares is the settlement's rate. Both include Lagoon's virtual amounts.
 */
async function readSettlement(reader: ChainReader, vault: LagoonVault, requestId: number, at: bigint) {
  const { address } = vault
  const epoch = { address, slots: { epoch: numberedSlot(EPOCHS, requestId) }, calls: {} } satisfies NamedReads
  const { value: id } = await reader.readOne(
    buildReadPlan(epoch, ({ words }) => Number(bits(words.epoch, 0n, 40n))),
    { at },
  )
  const first = BigInt(numberedSlot(SETTLEMENTS, id))
  const slots = { supply: slot(first), assets: slot(first + 1n), rates: slot(first + 4n) }
  const settlement = buildReadPlan({ address, slots, calls: {} } satisfies NamedReads, ({ words }) => ({
    supply: words.supply + virtualShares(vault),
    assets: words.assets + 1n,
    entryRate: bits(words.rates, 0n, 16n),
    exitRate: bits(words.rates, 16n, 16n),
  }))
  return (await reader.readOne(settlement, { at })).value
}

/** Returns the fee on these shares, in shares, rounded up. `rate` is in basis points. */
export function feeOn(shares: bigint, rate: bigint): bigint {
  return (shares * rate + 9_999n) / 10_000n
}

/** Returns the minimum number of shares of which `left` remain after a fee of `rate` basis points. */
export function sharesBeforeFee(left: bigint, rate: bigint): bigint {
  return (left * 10_000n + 9_999n - rate) / (10_000n - rate)
}

/**
 * Returns the number of virtual shares that Lagoon adds to the supply. They prevent inflation attacks, in which the first depositor sets
 * the price.
 */
export function virtualShares({ shareDecimals, assetDecimals }: LagoonVault): bigint {
  return 10n ** BigInt(Math.max(0, shareDecimals - assetDecimals))
}

/**
 * Returns the amount that maxMint or maxWithdraw reports for settled requests; undefined if that amount is wrong.
 * Version 0.1 always returns the largest integer for maxMint; a paused vault returns 0. A closed vault includes the
 * shares in the wallet, because it redeems them without a request.
 */
function parseReportedAmount(max: bigint | undefined, settled: bigint | undefined): bigint | undefined {
  if (settled === undefined || settled === 0n) return settled
  return max !== undefined && max > 0n && max < 2n ** 255n ? max : undefined
}

function generationOf(version: string | undefined, hasSiloGetter: boolean): Generation {
  // Versions 0.1 and 0.2 have no version() function, but they have a getter for their silo contract.
  if (version === undefined) return hasSiloGetter ? 'before 0.5' : 'unknown'
  const minor = /^v0\.([1-6])\.\d+$/.exec(version)?.[1]
  if (minor === undefined) return 'unknown'
  if (minor === '6') return '0.6'
  return minor === '5' ? '0.5' : 'before 0.5'
}

/** Returns the fee rates. Versions before 0.6 report only the first two rates. */
function ratesOf(
  generation: Generation,
  {
    rates,
    firstRates,
  }: { readonly rates?: readonly number[] | undefined; readonly firstRates?: readonly number[] | undefined },
): LagoonRates | undefined {
  const reported = generation === '0.6' ? rates : firstRates
  if (!reported || generation === 'unknown') return undefined
  const [management = 0n, performance = 0n, entry = 0n, exit = 0n, haircut = 0n] = reported.map(BigInt)
  return { management, performance, entry, exit, haircut }
}

function lifecycleOf(word: bigint): Lifecycle | undefined {
  return (['open', 'closing', 'closed'] as const)[Number(bits(word, 0n, 8n))]
}

/**
 * Values of the contract's SyncMode that allow instant deposits. SYNC_REDEMPTIONS are those that allow instant
 * redemptions. 0 allows both, 1 only deposits, 2 only redemptions, 3 neither.
 */
const SYNC_DEPOSITS: readonly bigint[] = [0n, 1n]
const SYNC_REDEMPTIONS: readonly bigint[] = [0n, 2n]

function bits(word: bigint, from: bigint, length: bigint): bigint {
  return (word >> from) & ((1n << length) - 1n)
}

function addressOf(word: bigint): Address {
  return checksumAddress(`0x${bits(word, 0n, 160n).toString(16).padStart(40, '0')}`)
}

function slot(position: bigint): Hex {
  return numberToHex(position, { size: 32 })
}

function numberedSlot(mapping: bigint, key: number): Hex {
  return keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [BigInt(key), mapping]))
}

/** Computes the storage slot of a value in a Solidity mapping: keccak256(key, slot of the mapping). */
function mappingSlot(mapping: bigint, key: Address): Hex {
  return keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [pad(key), mapping]))
}
