import type { Address } from 'viem'
import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { call } from '../chain/call.ts'
import { codeHashRequests, finishCodeHashes } from '../chain/code.ts'
import { erc20Abi } from '../chain/erc20.ts'
import { readAtHead, readFinalBlock } from '../chain/finality.ts'
import { HashText } from '../chain/hex.ts'
import {
  beaconRequests,
  CODE_ROLES,
  namesPlan,
  parseBeacons,
  type RunningCode,
  readRunningCode,
} from '../chain/proxy.ts'
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
        of: AddressText.optional(),
        address: AddressText,
        codeHash: HashText,
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
  /** The block at which it saw that, until clients are told. */
  unpublishedChange: StoredBlock.optional(),
})
export type Pin = z.output<typeof Pin>

/** What of a vault's record is needed to see whether it has changed. */
type Pinnable = Pick<TokenizedVault, 'address' | 'shareToken' | 'shareDecimals'>

/** What a vault's shares are worth: one whole share, in the asset's smallest unit, and how many there are, in theirs. */
type Price = { readonly price: bigint | undefined; readonly supply: bigint | undefined }

/** A vault as it is, beside its pin. */
export type Seen = Price & {
  /** Whether its storage still names the pinned code and no other, whatever code that is by now. */
  readonly namesPinned: boolean
}

/** The pinned code as it is by now. */
export type SeenCode = {
  /** Whether it is the same at all addresses. */
  readonly isSame: boolean
  /** Whether beacons still lead to it and to no other; undefined where one does not tell. */
  readonly isBehindBeacons: boolean | undefined
}

/** A vault and its pin. */
type Pinned = { readonly vault: Pinnable; readonly pin: Pick<Pin, 'code'> }

/** The plan that reads what of a vault must be as it is pinned; its parsing never throws. */
export function seenPlan({ vault, pin }: Pinned): ReadPlan<Seen> {
  const plan = joinReadPlans(pricePlan(vault), namesPlan(vault.address, pin.code))
  return mapReadPlan(plan, ([price, namesPinned]) => ({ ...price, namesPinned }))
}

/** The calls that go beside the plans, whose outcomes tell what the pinned code is by now. */
export function seenCodeRequests(vaults: readonly Pinned[]): RpcRequest[] {
  return [...codeHashRequests(addressesOf(vaults)), ...distinctBeaconRequests(vaults).values()]
}

/** Of each of these vaults, in order, what its pinned code is by now. Throws `upstream_*`. */
export async function finishSeenCode(
  reader: ChainReader,
  vaults: readonly Pinned[],
  outcomes: readonly RpcOutcome[],
): Promise<SeenCode[]> {
  const addresses = addressesOf(vaults)
  const ofBeacons = [...distinctBeaconRequests(vaults).keys()]
  const first = outcomes.length - ofBeacons.length
  const hashes = await finishCodeHashes(reader, addresses, outcomes.slice(0, first))
  const hashOf = new Map(addresses.map((address, index) => [address, hashes[index]]))
  const outcomeOf = new Map(ofBeacons.map((request, index) => [request, outcomes[first + index]]))
  return vaults.map(({ vault, pin: { code } }) => ({
    isSame: code.every(({ address, codeHash }) => hashOf.get(address) === codeHash),
    isBehindBeacons: parseBeacons(
      code,
      beaconRequests(vault.address, code).map((request) => outcomeOf.get(textOf(request))),
    ),
  }))
}

function addressesOf(vaults: readonly Pinned[]): Address[] {
  return [...new Set(vaults.flatMap(({ pin }) => pin.code.map(({ address }) => address)))]
}

/** What is asked of beacons, which vaults share, by its text. */
function distinctBeaconRequests(vaults: readonly Pinned[]): Map<string, RpcRequest> {
  const requests = vaults.flatMap(({ vault, pin }) => beaconRequests(vault.address, pin.code))
  return new Map(requests.map((request) => [textOf(request), request]))
}

function textOf(request: RpcRequest): string {
  return JSON.stringify(request)
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
  const pinned = { vault, pin }
  return {
    plan: mapReadPlan(joinReadPlans(unparsed, seenPlan(pinned)), ([parse, seen]) => async (outcomes) => {
      const [code] = await finishSeenCode(reader, [pinned], outcomes)
      assertPinned(vault, pin, seen, code)
      return parse()
    }),
    codeRequests: seenCodeRequests([pinned]),
  }
}

function assertPinned(vault: Pinnable, pin: Pin, seen: Seen, code: SeenCode | undefined): void {
  const verdict = pin.changedAt ? 'changed' : compareWithPin(vault, pin, seen, code)
  if (verdict === 'changed') throw new AppError('vault_has_changed')
  if (verdict === 'unknown') throw badAnswer('the vault does not tell whether it has changed')
}

/** What a vault is beside its pin; `unknown` where it does not tell, which is not `same`. */
export function compareWithPin(
  { shareDecimals }: Pinnable,
  pin: Pin,
  seen: Seen | undefined,
  code: SeenCode | undefined,
): 'same' | 'changed' | 'unknown' {
  if (code?.isSame === false || code?.isBehindBeacons === false || seen?.namesPinned === false) return 'changed'
  if (!code?.isBehindBeacons || !seen) return 'unknown'
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
): Promise<Pick<Pin, 'price'> & { readonly code: RunningCode[]; readonly nodes: number; readonly block: bigint }> {
  const { head } = await readFinalBlock(reader)
  const [code, { value, block }] = await Promise.all([
    readRunningCode(reader, vault.address),
    // What each host says of its own latest block is not compared; what it says of one with a number is.
    readAtHead(reader, head, (at) => reader.readOne(pricePlan(vault), { at })),
  ])
  return { code, price: value.price || null, nodes: reader.nodes, block: block.number }
}

function pricePlan({ address, shareToken, shareDecimals }: Pinnable): ReadPlan<Price> {
  const calls = {
    price: call(address, vaultAbi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    supply: call(shareToken, erc20Abi, 'totalSupply', []),
  }
  return readPlan({ address, slots: {}, calls }, ({ answers }) => answers)
}
