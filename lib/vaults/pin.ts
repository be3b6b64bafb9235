import type { Hex } from 'viem'
import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { buildCall } from '../chain/call.ts'
import { erc20Abi } from '../chain/erc20.ts'
import { readAtHead, readFinalBlock } from '../chain/finality.ts'
import {
  compareOtherPointers,
  type ImplementationChange,
  ownPointersPlan,
  POINTER_ROLES,
  type Pointer,
  readPointers,
} from '../chain/proxy.ts'
import { buildReadPlan, type ChainReader, joinReadPlans, mapReadPlan, type ReadPlan } from '../chain/reader.ts'
import { Address as AddressText, Amount, Timestamp } from '../core/codecs.ts'
import { AppError, badResponse } from '../core/errors.ts'
import { toResult, unwrap } from '../core/result.ts'
import { vaultAbi } from '../protocols/abi.ts'
import type { TokenizedVault } from '../protocols/tokenized-vault.ts'

/**
 * Approved code addresses and price of a vault, read when an operator added or confirmed the vault. The service refuses
 * deposits into a vault that differs from its pin.
 */
export const Pin = z.object({
  /**
   * Addresses whose code runs when the vault is called; the vault's own address is first. Older items also contain code
   * hashes, which are ignored. `role` says how the address is reached; `of` is the contract that leads to it, unless
   * that is the vault (`Pointer` in proxy.ts).
   */
  code: z.array(z.object({ role: z.literal(POINTER_ROLES), of: AddressText.optional(), address: AddressText })).min(1),
  /**
   * Value of one whole share in the asset's smallest unit, which the scheduled job refresh-chain updates. Null if the
   * vault reported no price.
   */
  price: Amount.nullable(),
  pinnedAt: Timestamp,
  /** Time at which the job refresh-chain found that the vault differs from this pin; absent if the vault has not changed. */
  changedAt: Timestamp.optional(),
  /**
   * Block at which the job refresh-chain found that the vault's code or price differs from this pin. Absent if the
   * vault has not changed, or once clients were notified of the change.
   */
  unpublishedChange: StoredBlock.optional(),
})
export type Pin = z.output<typeof Pin>

type Pinnable = Pick<TokenizedVault, 'address' | 'shareToken' | 'shareDecimals'>

/**
 * Value of one whole share in the asset's smallest unit, and the supply of shares. A null price means that the call
 * returned no data, as calls of an address without code do. Undefined means that the call failed.
 */
type Price = { readonly price: bigint | null | undefined; readonly supply: bigint | undefined }

/** Present code and price of a vault, for comparison with its pin, the approved code and price. */
export type VaultSnapshot = Price & {
  /** True if the code addresses in the vault's own storage equal those in the pin. */
  readonly pointsToPinned: boolean
}

type PinnedVault = { readonly vault: Pinnable; readonly pin: Pick<Pin, 'code'> }

/** Returns the plan that reads a vault's present code addresses and price. Parsing the results never throws. */
export function buildSnapshotPlan({ vault, pin }: PinnedVault): ReadPlan<VaultSnapshot> {
  const plan = joinReadPlans(pricePlan(vault), ownPointersPlan({ address: vault.address, pointers: pin.code }))
  return mapReadPlan(plan, ([price, pointsToPinned]) => ({ ...price, pointsToPinned }))
}

/**
 * Compares vaults' present code addresses outside their own storage with their pins: those of beacons and of EIP-7702
 * delegates. `buildSnapshotPlan` reads all other code addresses. Returns one verdict per vault. Throws `upstream_*`.
 */
export function compareOutsideStorage(
  reader: ChainReader,
  vaults: readonly PinnedVault[],
): Promise<ImplementationChange[]> {
  return compareOtherPointers(
    reader,
    vaults.map(({ vault, pin }) => ({ address: vault.address, pointers: pin.code })),
  )
}

/**
 * Calls `work` with a vault's read plan. Meanwhile verifies that the vault matches its pin, the approved code and
 * price. Skips the verification for a vault without a pin. Throws `vault_has_changed` before any error of `work`, and
 * `upstream_*`.
 */
export async function prepareIfPinMatches<T, Prepared>(
  reader: ChainReader,
  { vault, pin }: { readonly vault: Pinnable; readonly pin: Pin | undefined },
  plan: ReadPlan<T>,
  work: (plan: ReadPlan<T>) => Promise<Prepared>,
): Promise<Prepared> {
  if (!pin) return work(plan)
  if (pin.changedAt) throw new AppError('vault_has_changed')
  const compared = mapReadPlan(buildSnapshotPlan({ vault, pin }), (seen) =>
    requireSame(compareWithPin(vault, pin, seen)),
  )
  // The plan with the comparison comes first, because parsing stops at the first error. A changed vault is thus
  // reported before any other error.
  const guarded = mapReadPlan(joinReadPlans(compared, plan), ([, value]) => value)
  const [beyond, prepared] = await Promise.all([
    compareOutsideStorage(reader, [{ vault, pin }]),
    toResult(work(guarded)),
  ])
  requireSame(beyond[0])
  return unwrap(prepared)
}

function requireSame(verdict: ImplementationChange | undefined): void {
  if (verdict === 'changed') throw new AppError('vault_has_changed')
  if (verdict !== 'same') throw badResponse('the vault does not report whether it has changed')
}

/**
 * Compares a vault's price and the code addresses in its storage with its pin. `compareOutsideStorage` compares all other
 * code addresses. `seen` is undefined if the vault cannot be read.
 */
export function compareWithPin(
  { shareDecimals }: Pinnable,
  pin: Pin,
  seen: VaultSnapshot | undefined,
): ImplementationChange {
  if (!seen) return 'unknown'
  const { price, supply } = seen
  if (!seen.pointsToPinned || price === null) return 'changed'
  if (pin.price === null) return 'same'
  if (price === undefined || supply === undefined) return 'unknown'
  return hasJumped(pin.price, { price, supply }, shareDecimals) ? 'changed' : 'same'
}

/** Largest accepted price change, as the denominator of a fraction: 10 stands for a tenth. */
const PARTS = 10n
/** Change in the value of all shares, in the asset's smallest unit, up to which a price change counts as rounding. */
const ROUNDING = 100n

/**
 * Returns true if the price changed by more than a tenth, and rounding does not explain the change. Rounding can change
 * the last digit of any price. It can also change much of the price of a vault with almost no shares.
 */
function hasJumped(
  from: bigint,
  { price, supply }: { readonly price: bigint; readonly supply: bigint },
  shareDecimals: number,
): boolean {
  const distance = price > from ? price - from : from - price
  // One unit of the difference may be rounding.
  return (distance - 1n) * PARTS > from && distance * supply > ROUNDING * 10n ** BigInt(shareDecimals)
}

/**
 * Returns the relative change from the approved (pinned) price: 0.1 is a tenth. Returns 1 if no price is pinned and the
 * vault now reports one.
 */
export function computeRelativeMove({ price: pinned }: Pick<Pin, 'price'>, price: bigint): number {
  if (pinned === null) return price > 0n ? 1 : 0
  return Math.abs(Number(price) / Number(pinned) - 1)
}

/**
 * Reads a vault's code addresses and price, which an operator then approves as the vault's pin. `block` is the block at
 * which the price was read, the newest that all RPC hosts have. `nodes` is the number of RPC hosts, which all returned
 * the same code and price. Takes several rounds of requests. Throws an Error with the reason if the vault cannot be
 * pinned. Throws `upstream_*` if the chain cannot be read.
 */
export async function readPin(
  reader: ChainReader,
  vault: Pinnable,
): Promise<Pick<Pin, 'price'> & { readonly code: Pointer[]; readonly nodes: number; readonly block: bigint }> {
  const { head } = await readFinalBlock(reader)
  const [code, { value, block }] = await Promise.all([
    readPointers(reader, vault.address),
    // All RPC hosts read one numbered block, because their latest blocks may differ.
    readAtHead(reader, head, async (at) => ({ ...(await reader.readOne(pricePlan(vault), { at })), block: at })),
  ])
  return { code, price: value.price || null, nodes: reader.nodes, block }
}

function pricePlan({ address, shareToken, shareDecimals }: Pinnable): ReadPlan<Price> {
  const { decode, ...price } = buildCall(address, vaultAbi, 'convertToAssets', [10n ** BigInt(shareDecimals)])
  const calls = {
    price: { ...price, decode: (data: Hex) => (data === '0x' ? null : decode(data)) },
    supply: buildCall(shareToken, erc20Abi, 'totalSupply', []),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers)
}
