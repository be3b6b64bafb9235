import { type Address, type Hash, isHash } from 'viem'
import * as z from 'zod'
import { call } from '../chain/call.ts'
import { codeHashRequests, finishCodeHashes } from '../chain/code.ts'
import { erc20Abi } from '../chain/erc20.ts'
import { CODE_ROLES, leadsToPlan, type RunningCode, readRunningCode } from '../chain/proxy.ts'
import { type ChainReader, joinReadPlans, mapReadPlan, type ReadPlan, readPlan } from '../chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { Address as AddressText, Amount, Timestamp } from '../codecs.ts'
import { AppError, badAnswer } from '../errors.ts'
import { vaultAbi } from '../protocols/abi.ts'
import type { TokenizedVault } from '../protocols/tokenized-vault.ts'

/** What of a vault is pinned when an operator adds or confirms it. Deposits stop where it differs. */
export const Pin = z.object({
  /** The code that runs when the vault is called, its own first. */
  code: z
    .array(
      z.object({
        role: z.literal(CODE_ROLES),
        address: AddressText,
        codeHash: z.custom<Hash>((value) => typeof value === 'string' && isHash(value)),
      }),
    )
    .min(1),
  /**
   * What one whole share was worth, in the asset's smallest unit: when it was pinned, and then as the job moves it along.
   * Null where the vault told none yet.
   */
  price: Amount.nullable(),
  pinnedAt: Timestamp,
  /** When the job saw that the vault is not what is pinned; absent while it is. */
  changedAt: Timestamp.optional(),
})
export type Pin = z.output<typeof Pin>

/** What of a vault's record is needed to see whether it has changed. */
type Pinnable = Pick<TokenizedVault, 'address' | 'shareToken' | 'shareDecimals'>

/** What a vault's shares are worth: one whole share, in the asset's smallest unit, and how many there are, in theirs. */
type Price = { readonly price: bigint | undefined; readonly supply: bigint | undefined }

/** A vault as it is, beside its pin. */
export type Seen = Price & {
  /** Whether it leads to the pinned code, whatever that is by now; undefined where it does not tell. */
  readonly leadsToPinned: boolean | undefined
}

/** The plan that reads what of a vault must be as it is pinned; its parsing never throws. */
export function seenPlan(vault: Pinnable, pin: Pick<Pin, 'code'>): ReadPlan<Seen> {
  const plan = joinReadPlans(pricePlan(vault), leadsToPlan(vault.address, pin.code))
  return mapReadPlan(plan, ([price, leadsToPinned]) => ({ ...price, leadsToPinned }))
}

/** The calls that go beside the plan, whose outcomes tell what the pinned code is by now. */
export function pinnedCodeRequests(pins: readonly Pick<Pin, 'code'>[]): RpcRequest[] {
  return codeHashRequests(addressesOf(pins))
}

/** Of each of these pins, in order, whether its code is the same by now. Throws `upstream_*`. */
export async function finishPinnedCode(
  reader: ChainReader,
  pins: readonly Pick<Pin, 'code'>[],
  outcomes: readonly RpcOutcome[],
): Promise<boolean[]> {
  const addresses = addressesOf(pins)
  const hashes = await finishCodeHashes(reader, addresses, outcomes)
  const hashOf = new Map(addresses.map((address, index) => [address, hashes[index]]))
  return pins.map(({ code }) => code.every(({ address, codeHash }) => hashOf.get(address) === codeHash))
}

function addressesOf(pins: readonly Pick<Pin, 'code'>[]): Address[] {
  return [...new Set(pins.flatMap(({ code }) => code.map(({ address }) => address)))]
}

/** A plan whose value is to be given the outcomes of these calls, which are sent along. */
type PinnedRead<T> = {
  readonly plan: ReadPlan<(outcomes: readonly RpcOutcome[]) => Promise<T>>
  readonly codeRequests: readonly RpcRequest[]
}

/**
 * A plan of a vault as one that has a value where the vault is as it is pinned. What it gives throws `vault_has_changed`
 * where it is not, before all that the plan itself throws, and `upstream_*`. Without a pin it is the plan.
 */
export function whilePinned<T>(
  reader: ChainReader,
  { vault, pin }: { readonly vault: Pinnable; readonly pin: Pin | undefined },
  plan: ReadPlan<T>,
): PinnedRead<T> {
  const unparsed: ReadPlan<() => T> = { ...plan, parse: (read) => () => plan.parse(read) }
  if (!pin) return { plan: mapReadPlan(unparsed, (parse) => async () => parse()), codeRequests: [] }
  const joined = joinReadPlans(unparsed, seenPlan(vault, pin))
  return {
    plan: mapReadPlan(joined, ([parse, seen]) => async (outcomes) => {
      const [isSameCode = false] = await finishPinnedCode(reader, [pin], outcomes)
      assertPinned(vault, pin, seen, isSameCode)
      return parse()
    }),
    codeRequests: pinnedCodeRequests([pin]),
  }
}

function assertPinned(vault: Pinnable, pin: Pin, seen: Seen, isSameCode: boolean): void {
  const verdict = pin.changedAt ? 'changed' : compareWithPin(vault, pin, seen, isSameCode)
  if (verdict === 'changed') throw new AppError('vault_has_changed')
  if (verdict === 'unknown') throw badAnswer('the vault does not tell whether it has changed')
}

/** What a vault is beside its pin; `unknown` where it does not tell, which is not `same`. */
export function compareWithPin(
  { shareDecimals }: Pinnable,
  pin: Pin,
  seen: Seen | undefined,
  isSameCode: boolean,
): 'same' | 'changed' | 'unknown' {
  if (!isSameCode || seen?.leadsToPinned === false) return 'changed'
  if (!seen?.leadsToPinned) return 'unknown'
  if (pin.price === null) return 'same'
  const { price, supply } = seen
  if (price === undefined || supply === undefined) return 'unknown'
  return hasJumped(pin.price, { price, supply }, shareDecimals) ? 'changed' : 'same'
}

/** By which part a price may move: a tenth. */
const PART = 10n
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
  return distance * PART > from + PART && distance * supply > ROUNDING * 10n ** BigInt(shareDecimals)
}

/** A price that moved by less than this part is not written. */
const STEP = 1_000n

/** Whether a price is so far from the pinned one that the pin is to move along. */
export function hasMoved({ price: pinned }: Pick<Pin, 'price'>, price: bigint): boolean {
  if (pinned === null) return price > 0n
  const distance = price > pinned ? price - pinned : pinned - price
  return distance * STEP > pinned
}

/** What of a vault is pinned, as it is now; several round trips. Throws an Error where it runs no code, and `upstream_*`. */
export async function readPin(
  reader: ChainReader,
  vault: Pinnable,
): Promise<{ readonly code: RunningCode[]; readonly price: bigint | null }> {
  const [code, { value }] = await Promise.all([
    readRunningCode(reader, vault.address),
    reader.readOne(pricePlan(vault)),
  ])
  return { code, price: value.price || null }
}

function pricePlan({ address, shareToken, shareDecimals }: Pinnable): ReadPlan<Price> {
  const calls = {
    price: call(address, vaultAbi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    supply: call(shareToken, erc20Abi, 'totalSupply', []),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers }) => answers)
}
