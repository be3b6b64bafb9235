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
import { type ChainReader, joinReadPlans, mapReadPlan, type ReadPlan, readPlan } from '../chain/reader.ts'
import { Address as AddressText, Amount, Timestamp } from '../codecs.ts'
import { AppError, badAnswer } from '../errors.ts'
import { vaultAbi } from '../protocols/abi.ts'
import type { TokenizedVault } from '../protocols/tokenized-vault.ts'
import { toResult, unwrap } from '../result.ts'

/** The state of a vault when an operator added or confirmed it. Deposits stop if the vault differs. */
export const Pin = z.object({
  /** The addresses whose code runs when the vault is called, its own first. Older items also have hashes of that code. */
  code: z.array(z.object({ role: z.literal(POINTER_ROLES), of: AddressText.optional(), address: AddressText })).min(1),
  /**
   * What one whole share was worth, in the asset's smallest unit: when it was pinned, and then as the job moves it along.
   * Null where the vault told none yet.
   */
  price: Amount.nullable(),
  pinnedAt: Timestamp,
  /** When the job saw that the vault is not what is pinned; absent while it is. */
  changedAt: Timestamp.optional(),
  /** The block at which it saw that, until clients are told. */
  unpublishedChange: StoredBlock.optional(),
})
export type Pin = z.output<typeof Pin>

/** The fields of a vault that a comparison with its pin needs. */
type Pinnable = Pick<TokenizedVault, 'address' | 'shareToken' | 'shareDecimals'>

/**
 * What a vault's shares are worth: one whole share, in the asset's smallest unit, and how many there are, in theirs. A price of
 * null is an empty result, as an address without code has.
 */
type Price = { readonly price: bigint | null | undefined; readonly supply: bigint | undefined }

/** A vault as it is, beside its pin. */
export type Seen = Price & {
  /** False if its storage names other addresses than the pin. */
  readonly namesPinned: boolean
}

/** A vault and its pin. */
type Pinned = { readonly vault: Pinnable; readonly pin: Pick<Pin, 'code'> }

/** The plan that reads the pinned state of a vault; its parsing never throws. */
export function seenPlan({ vault, pin }: Pinned): ReadPlan<Seen> {
  const plan = joinReadPlans(pricePlan(vault), ownPointersPlan({ address: vault.address, pointers: pin.code }))
  return mapReadPlan(plan, ([price, namesPinned]) => ({ ...price, namesPinned }))
}

/** Compares what `seenPlan` does not read: pinned beacons and delegations. Returns a verdict for each vault. Throws `upstream_*`. */
export function compareBeyondVaults(reader: ChainReader, vaults: readonly Pinned[]): Promise<Verdict[]> {
  return compareOtherPointers(
    reader,
    vaults.map(({ vault, pin }) => ({ address: vault.address, pointers: pin.code })),
  )
}

/**
 * Prepares something by a plan of a vault while the vault is as it is pinned. Throws `vault_has_changed` if it is not, before all
 * that `prepare` throws; and `upstream_*`. Without a pin nothing is compared.
 */
export async function whilePinned<T, Prepared>(
  reader: ChainReader,
  { vault, pin }: { readonly vault: Pinnable; readonly pin: Pin | undefined },
  plan: ReadPlan<T>,
  prepare: (plan: ReadPlan<T>) => Promise<Prepared>,
): Promise<Prepared> {
  if (!pin) return prepare(plan)
  if (pin.changedAt) throw new AppError('vault_has_changed')
  const compared = mapReadPlan(seenPlan({ vault, pin }), (seen) => requireSame(compareWithPin(vault, pin, seen)))
  // Of two plans the first is parsed first.
  const guarded = mapReadPlan(joinReadPlans(compared, plan), ([, value]) => value)
  const [beyond, prepared] = await Promise.all([
    compareBeyondVaults(reader, [{ vault, pin }]),
    toResult(prepare(guarded)),
  ])
  requireSame(beyond[0])
  return unwrap(prepared)
}

function requireSame(verdict: Verdict | undefined): void {
  if (verdict === 'changed') throw new AppError('vault_has_changed')
  if (verdict !== 'same') throw badAnswer('the vault does not tell whether it has changed')
}

/** Compares a vault with its pin, but for what lies beyond it; undefined is a vault that could not be read. */
export function compareWithPin({ shareDecimals }: Pinnable, pin: Pin, seen: Seen | undefined): Verdict {
  if (!seen) return 'unknown'
  const { price, supply } = seen
  if (!seen.namesPinned || price === null) return 'changed'
  if (pin.price === null) return 'same'
  if (price === undefined || supply === undefined) return 'unknown'
  return hasJumped(pin.price, { price, supply }, shareDecimals) ? 'changed' : 'same'
}

/** A price may move by one part in so many: a tenth. */
const PARTS = 10n
/** Less than so many of the asset's smallest units for all shares together is rounding. */
const ROUNDING = 100n

/**
 * Whether a price moved by more than a tenth. What rounding makes of it is none: the last digit of a price, and what is
 * worth next to nothing to all the shares that there are, as when a vault has a handful of units.
 */
function hasJumped(
  from: bigint,
  { price, supply }: { readonly price: bigint; readonly supply: bigint },
  shareDecimals: number,
): boolean {
  const distance = price > from ? price - from : from - price
  return distance * PARTS > from + PARTS && distance * supply > ROUNDING * 10n ** BigInt(shareDecimals)
}

/** By which part of itself the pinned price is to move to this one; 1 where none is pinned and the vault tells one by now. */
export function movedBy({ price: pinned }: Pick<Pin, 'price'>, price: bigint): number {
  if (pinned === null) return price > 0n ? 1 : 0
  return Math.abs(Number(price) / Number(pinned) - 1)
}

/**
 * What of a vault is pinned, as it is now, how many hosts told it, and the block of its price, which is the last one that they
 * all know; several round trips. Throws an Error that says why it cannot be pinned, and `upstream_*`.
 */
export async function readPin(
  reader: ChainReader,
  vault: Pinnable,
): Promise<Pick<Pin, 'price'> & { readonly code: Pointer[]; readonly nodes: number; readonly block: bigint }> {
  const { head } = await readFinalBlock(reader)
  const [code, { value, block }] = await Promise.all([
    readPointers(reader, vault.address),
    // What each host says of its own latest block is not compared; what it says of one with a number is.
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
  return readPlan({ address, slots: {}, calls }, ({ answers }) => answers)
}
