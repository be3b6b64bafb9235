import type { Hex } from 'viem'
import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { call } from '../chain/call.ts'
import { erc20Abi } from '../chain/erc20.ts'
import { readAtHead, readFinalBlock } from '../chain/finality.ts'
import {
  compareOtherPointers,
  ownPointersPlan,
  POINTER_ROLES,
  type Pointer,
  readPointers,
  type Verdict,
} from '../chain/proxy.ts'
import { buildReadPlan, type ChainReader, joinReadPlans, mapReadPlan, type ReadPlan } from '../chain/reader.ts'
import { Address as AddressText, Amount, Timestamp } from '../core/codecs.ts'
import { AppError, badAnswer } from '../core/errors.ts'
import { toResult, unwrap } from '../core/result.ts'
import { vaultAbi } from '../protocols/abi.ts'
import type { TokenizedVault } from '../protocols/tokenized-vault.ts'

/** State of a vault when an operator added or confirmed it; deposits stop if it differs. */
export const Pin = z.object({
  /** Addresses whose code runs when the vault is called, its own first. Older items also have code hashes. */
  code: z.array(z.object({ role: z.literal(POINTER_ROLES), of: AddressText.optional(), address: AddressText })).min(1),
  /** Value of one whole share in the asset's smallest unit, which the job updates; null if the vault reported none yet. */
  price: Amount.nullable(),
  pinnedAt: Timestamp,
  /** Time at which the job saw a difference. */
  changedAt: Timestamp.optional(),
  /** Block at which the job saw it; absent once clients were notified. */
  unpublishedChange: StoredBlock.optional(),
})
export type Pin = z.output<typeof Pin>

type Pinnable = Pick<TokenizedVault, 'address' | 'shareToken' | 'shareDecimals'>

/**
 * Value of one whole share in the asset's smallest unit, and the supply. A null price is an empty result, as from an
 * address without code.
 */
type Price = { readonly price: bigint | null | undefined; readonly supply: bigint | undefined }

/** Current state of a vault. */
export type VaultSnapshot = Price & {
  /** False if its storage names other addresses than the pin. */
  readonly namesPinned: boolean
}

type PinnedVault = { readonly vault: Pinnable; readonly pin: Pick<Pin, 'code'> }

/** Returns the plan of a vault's current state; its parsing never throws. */
export function buildSnapshotPlan({ vault, pin }: PinnedVault): ReadPlan<VaultSnapshot> {
  const plan = joinReadPlans(pricePlan(vault), ownPointersPlan({ address: vault.address, pointers: pin.code }))
  return mapReadPlan(plan, ([price, namesPinned]) => ({ ...price, namesPinned }))
}

/** Compares what `buildSnapshotPlan` does not read: pinned beacons and delegations. Returns a verdict for each vault. Throws `upstream_*`. */
export function compareBeyondVaults(reader: ChainReader, vaults: readonly PinnedVault[]): Promise<Verdict[]> {
  return compareOtherPointers(
    reader,
    vaults.map(({ vault, pin }) => ({ address: vault.address, pointers: pin.code })),
  )
}

/**
 * Runs `work` with a plan that also compares the vault with its pin, if it has one. Throws `vault_has_changed` before any error of
 * `work`; and `upstream_*`.
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
  // The first of two joined plans is parsed first.
  const guarded = mapReadPlan(joinReadPlans(compared, plan), ([, value]) => value)
  const [beyond, prepared] = await Promise.all([compareBeyondVaults(reader, [{ vault, pin }]), toResult(work(guarded))])
  requireSame(beyond[0])
  return unwrap(prepared)
}

function requireSame(verdict: Verdict | undefined): void {
  if (verdict === 'changed') throw new AppError('vault_has_changed')
  if (verdict !== 'same') throw badAnswer('the vault does not report whether it has changed')
}

/** Compares a vault with its pin, except pointers beyond the vault; undefined `seen` means unreadable. */
export function compareWithPin({ shareDecimals }: Pinnable, pin: Pin, seen: VaultSnapshot | undefined): Verdict {
  if (!seen) return 'unknown'
  const { price, supply } = seen
  if (!seen.namesPinned || price === null) return 'changed'
  if (pin.price === null) return 'same'
  if (price === undefined || supply === undefined) return 'unknown'
  return hasJumped(pin.price, { price, supply }, shareDecimals) ? 'changed' : 'same'
}

/** Denominator of the allowed price change: a tenth. */
const PARTS = 10n
/** Maximum rounding of all shares' value, in the asset's smallest units. */
const ROUNDING = 100n

/**
 * Returns whether a price moved by more than a tenth. Rounding does not count: the price's last digit, or almost
 * nothing for all shares of a tiny vault.
 */
function hasJumped(
  from: bigint,
  { price, supply }: { readonly price: bigint; readonly supply: bigint },
  shareDecimals: number,
): boolean {
  const distance = price > from ? price - from : from - price
  return distance * PARTS > from + PARTS && distance * supply > ROUNDING * 10n ** BigInt(shareDecimals)
}

/** Returns the relative move of the pinned price; 1 if none is pinned and the vault now reports one. */
export function computeRelativeMove({ price: pinned }: Pick<Pin, 'price'>, price: bigint): number {
  if (pinned === null) return price > 0n ? 1 : 0
  return Math.abs(Number(price) / Number(pinned) - 1)
}

/**
 * Reads a vault's pointers and price, the number of hosts that agree, and the price's block, the last one that all
 * hosts know. Takes several round trips. Throws an Error with the reason that it cannot be pinned, and `upstream_*`.
 */
export async function readPin(
  reader: ChainReader,
  vault: Pinnable,
): Promise<Pick<Pin, 'price'> & { readonly code: Pointer[]; readonly nodes: number; readonly block: bigint }> {
  const { head } = await readFinalBlock(reader)
  const [code, { value, block }] = await Promise.all([
    readPointers(reader, vault.address),
    // Hosts are compared at a numbered block, not at their own latest one.
    readAtHead(reader, head, async (at) => ({ ...(await reader.readOne(pricePlan(vault), { at })), block: at })),
  ])
  return { code, price: value.price || null, nodes: reader.nodes, block }
}

function pricePlan({ address, shareToken, shareDecimals }: Pinnable): ReadPlan<Price> {
  const { decode, ...price } = call(address, vaultAbi, 'convertToAssets', [10n ** BigInt(shareDecimals)])
  const calls = {
    price: { ...price, decode: (data: Hex) => (data === '0x' ? null : decode(data)) },
    supply: call(shareToken, erc20Abi, 'totalSupply', []),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers)
}
