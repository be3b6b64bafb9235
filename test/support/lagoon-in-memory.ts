import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex } from 'viem'
import { CHAINS } from '../../lib/chain/registry.ts'
import type { LagoonVault } from '../../lib/protocols/lagoon/vault.ts'
import type { SimulatedContracts } from './contracts-in-memory.ts'

const [VAULT, ASSET, SILO, SAFE, MANAGER] = ['11', '12', '13', '14', '15'].map(
  (end) => `0x${'0'.repeat(38)}${end}`,
) as [Address, Address, Address, Address, Address]
/** Account that owns the deposit requests, redemption requests and shares in simulated Lagoon vaults. */
export const ALICE: Address = '0x0000000000000000000000000000000000000016'

/** Configuration of a Lagoon vault, as a client's list of vaults contains it. */
export const LAGOON_VAULT: LagoonVault = {
  ...{ protocol: 'lagoon', chainId: CHAINS[0]?.id ?? 1, firstBlock: 0, address: VAULT, shareToken: VAULT },
  ...{ asset: ASSET, assetSymbol: 'USDC', assetDecimals: 6, shareDecimals: 18 },
  ...{ safe: SAFE, valuationManager: MANAGER, pendingSilo: SILO },
}

const LIFECYCLES = ['open', 'closing', 'closed'] as const

/** Fee rates of a Lagoon v0.6 vault, in basis points. */
type Rates = { readonly entry: number; readonly exit: number; readonly haircut: number }

/** State of a simulated Lagoon vault and of the account ALICE. Amounts are in the token's smallest unit. */
export type LagoonFacts = {
  readonly version: string
  readonly lifecycle: (typeof LIFECYCLES)[number]
  readonly paused: boolean
  readonly isTotalAssetsValid: boolean
  /** Unix time in seconds at which the vault's valuation expires. */
  readonly expiration: bigint
  readonly syncMode: 'both' | 'deposits' | 'redemptions' | 'none'
  readonly maxCap: bigint
  readonly totalAssets: bigint
  readonly totalSupply: bigint
  readonly pendingDeposits: bigint
  readonly rates: Rates
  readonly depositEpoch: number
  readonly redeemEpoch: number
  readonly safeBalance: bigint
  readonly safeAllowance: bigint
  readonly shares: bigint
  readonly pendingAssets: bigint
  readonly lastDepositRequest: number
  readonly claimableAssets: bigint
  readonly maxMint: bigint
  readonly pendingShares: bigint
  readonly lastRedeemRequest: number
  readonly redeemableShares: bigint
  readonly maxWithdraw: bigint
  readonly isAllowed: (account: Address) => boolean
  /**
   * Settlement of the last deposit and redemption request. `assets` and `supply` exclude Lagoon's virtual amounts; `rates` are
   * the fees.
   */
  readonly settlement: { readonly assets: bigint; readonly supply: bigint; readonly rates: Rates }
}

const PLAIN: LagoonFacts = {
  ...{ version: 'v0.6.0', lifecycle: 'open', paused: false, isTotalAssetsValid: true, expiration: 2_000_000_000n },
  ...{ syncMode: 'both', maxCap: 2n ** 256n - 1n, totalAssets: 10n ** 12n, totalSupply: 10n ** 24n },
  ...{ pendingDeposits: 0n, rates: { entry: 0, exit: 0, haircut: 0 }, depositEpoch: 5, redeemEpoch: 6 },
  ...{ safeBalance: 10n ** 12n, safeAllowance: 10n ** 12n, shares: 0n, pendingAssets: 0n, lastDepositRequest: 3 },
  ...{ claimableAssets: 0n, maxMint: 0n, pendingShares: 0n, lastRedeemRequest: 4, redeemableShares: 0n },
  ...{ maxWithdraw: 0n, isAllowed: () => true },
  settlement: { assets: 10n ** 12n, supply: 10n ** 24n, rates: { entry: 0, exit: 0, haircut: 0 } },
}

// ERC-7201 derives each of these three storage slots from the name of a part of Lagoon's contract.
/** Storage slot of `hopper.storage.ERC7540`. */
const ERC7540 = 0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a00n
/** Storage slot of `hopper.storage.Roles`. */
const ROLES = 0x7c302ed2c673c3d6b4551cf74a01ee649f887e14fd20d13dbca1b6099534d900n
/** Storage slot of `hopper.storage.Vault`. */
const LIFE = 0x0e6b3200a60a991c539f47dddaca04a18eb4bcf2b53906fb44751d827f001400n
const SETTLED = 2

/**
 * Builds the simulated contracts of a Lagoon vault. Facts that are left out are those of an open v0.6 vault without requests.
 */
export function lagoonContracts(facts: Partial<LagoonFacts>): SimulatedContracts {
  const all = { ...PLAIN, ...facts }
  const { rates, settlement } = all
  const settled = BigInt(mappingSlot(BigInt(SETTLED), ERC7540 + 4n))
  const syncModes = ['both', 'deposits', 'redemptions', 'none']
  return {
    answers: {
      ...{ version: all.version, pendingSilo: SILO, safe: SAFE, paused: all.paused, symbol: 'lgUSDC' },
      ...{ isTotalAssetsValid: all.isTotalAssetsValid, totalAssets: all.totalAssets, totalSupply: all.totalSupply },
      feeRates: [0, 0, rates.entry, rates.exit, rates.haircut],
      balanceOf: (holder: Address, token: Address) => {
        if (token !== ASSET) return holder === ALICE ? all.shares : 0n
        return holder === SAFE ? all.safeBalance : holder === SILO ? all.pendingDeposits : 0n
      },
      allowance: all.safeAllowance,
      ...{ pendingDepositRequest: all.pendingAssets, claimableDepositRequest: all.claimableAssets },
      ...{ pendingRedeemRequest: all.pendingShares, claimableRedeemRequest: all.redeemableShares },
      ...{ maxMint: all.maxMint, maxWithdraw: all.maxWithdraw, isAllowed: all.isAllowed },
    },
    words: {
      [slot(ERC7540 + 2n)]: BigInt(all.depositEpoch) | (BigInt(all.redeemEpoch) << 120n),
      [slot(ERC7540 + 8n)]: BigInt(SILO),
      [slot(ERC7540 + 10n)]: all.expiration,
      [slot(ERC7540 + 11n)]: all.maxCap,
      [slot(ERC7540 + 12n)]: BigInt(syncModes.indexOf(all.syncMode)),
      [slot(ROLES + 2n)]: BigInt(SAFE),
      [slot(LIFE)]: BigInt(LIFECYCLES.indexOf(all.lifecycle)),
      [mappingSlot(BigInt(ALICE), ERC7540 + 5n)]: BigInt(all.lastDepositRequest),
      [mappingSlot(BigInt(ALICE), ERC7540 + 6n)]: BigInt(all.lastRedeemRequest),
      [mappingSlot(BigInt(all.lastDepositRequest), ERC7540 + 3n)]: BigInt(SETTLED),
      [mappingSlot(BigInt(all.lastRedeemRequest), ERC7540 + 3n)]: BigInt(SETTLED),
      [slot(settled)]: settlement.supply,
      [slot(settled + 1n)]: settlement.assets,
      [slot(settled + 4n)]: BigInt(settlement.rates.entry) | (BigInt(settlement.rates.exit) << 16n),
    },
  }
}

function slot(position: bigint): Hex {
  return numberToHex(position, { size: 32 })
}

function mappingSlot(key: bigint, mapping: bigint): Hex {
  return keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [key, mapping]))
}
