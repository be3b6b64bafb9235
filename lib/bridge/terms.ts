import { isAddressEqual, zeroAddress } from 'viem'
import { max, min } from '../bigint.ts'
import { AppError, badAnswer, type ErrorDetail, mustBeAtMost } from '../errors.ts'
import type { Quote } from './across.ts'
import type { BridgeRequest, BridgeTerms } from './calldata.ts'

/** The chains' own clocks, in seconds since 1970, and the windows that the pool accepts, in seconds. */
export type Clocks = {
  readonly source: number
  readonly destination: number
  readonly quoteTimeBuffer: number
  readonly fillDeadlineBuffer: number
}

/** The user must have this long to sign and send, and relayers to fill. */
const SHORTEST_VALIDITY_SECONDS = 30 * 60
/** How far a quote's time may be ahead of the source chain's last block. */
const CLOCK_SKEW_SECONDS = 60
/** The largest fee that users get, in percent of the input. */
const HIGHEST_FEE_PERCENT = 10n
/**
 * Below so many times the API's least amount, a higher fee is that of a small amount; above, a mistake or an attack. The
 * least amount is that of which gas is a quarter, so at two and a half times it gas is a tenth; the rest leaves room for
 * the pool's own share.
 */
const SMALL_AMOUNTS = 10n
/**
 * So many times the fee of a small amount is told as the least amount that works: most of the fee is gas, which does not
 * grow with the amount, and the fee is still a tenth where a sixtieth of what is added goes to the pool.
 */
const FEES_OF_LEAST_AMOUNT = 12n
/** What a relayer that may fill alone can cost the user at most is a fill that comes so many seconds later. */
const LONGEST_EXCLUSIVITY_SECONDS = 5 * 60
/** The pool takes a number up to a year for a period that begins with the deposit, and one above for a time since 1970. */
const LONGEST_PERIOD_SECONDS = 31_536_000

/**
 * The terms of a quote that users get: its own, with no time ahead of the source chain, which the pool would refuse,
 * and without an exclusivity that is too long. Throws unless the input is within its limits, the output above zero, not
 * above the input and at most a tenth below it, and the times within what the pool accepts now and for half an hour more.
 * `field` is that of the request which takes another amount, `dstChainId` where none does: of it an input that the bridge
 * does not take is told, with an amount that it does where there is one.
 */
export function agreeTerms(
  request: BridgeRequest,
  quote: Quote,
  clocks: Clocks,
  field: 'amount' | 'dstChainId' = 'amount',
): BridgeTerms {
  verifyAmounts(request, quote, field)
  const { source, destination, fillDeadlineBuffer } = clocks
  const { outputAmount, fillDeadline } = quote
  const quoteTimestamp = Math.min(quote.quoteTimestamp, source)
  const isTimely =
    quote.quoteTimestamp <= source + CLOCK_SKEW_SECONDS &&
    quoteExpiry({ quoteTimestamp, fillDeadline }, clocks) >= source + SHORTEST_VALIDITY_SECONDS &&
    fillDeadline >= destination + SHORTEST_VALIDITY_SECONDS &&
    fillDeadline <= source + fillDeadlineBuffer
  if (!isTimely) throw badAnswer('the bridge gave times that the pool would refuse')
  return { outputAmount, quoteTimestamp, fillDeadline, ...boundExclusivity(quote, source) }
}

function verifyAmounts(request: BridgeRequest, quote: Quote, field: 'amount' | 'dstChainId'): void {
  const { inputAmount } = request
  const { outputAmount, limits } = quote
  const { input, output } = comparable(request, quote)
  if (inputAmount < limits.min) throw tooLow(request, quote, field)
  if (inputAmount > limits.max) throw tooHigh(request, quote, field)
  if (outputAmount <= 0n || output > input) throw badAnswer('the bridge gave an output above the input, or none')
  if (output * 100n >= input * (100n - HIGHEST_FEE_PERCENT)) return
  if (inputAmount < SMALL_AMOUNTS * limits.min) throw tooLow(request, quote, field)
  throw badAnswer('the bridge gave a fee that is too high')
}

function tooLow(request: BridgeRequest, quote: Quote, field: string): AppError {
  const least = leastAmount(request, quote)
  const detail =
    least > quote.limits.max
      ? { field, issue: 'is too little for the bridge: its fee now exceeds a tenth of every amount it takes' }
      : { field, issue: `must be at least ${least}`, atLeast: `${least}` }
  return new AppError('amount_too_low_for_bridge', { details: [forField(detail)] })
}

function tooHigh(request: BridgeRequest, quote: Quote, field: string): AppError {
  const { max: most } = quote.limits
  const detail = isEnough(most, request, quote)
    ? mustBeAtMost(field, most)
    : { field, issue: 'is more than the bridge takes now' }
  return new AppError('amount_too_high_for_bridge', { details: [forField(detail)] })
}

/** The same detail, where no field of the request takes the amount. */
function forField(detail: ErrorDetail): ErrorDetail {
  if (detail.field === 'amount') return detail
  return { ...detail, issue: `must be left out: the paid amount ${detail.issue}` }
}

/** The least amount that the bridge takes for a fee of a tenth or less, as far as a quote of less tells. */
function leastAmount(request: BridgeRequest, quote: Quote): bigint {
  return max(FEES_OF_LEAST_AMOUNT * feeOf(request, quote), quote.limits.min)
}

/** Whether the bridge takes so much for a fee of a tenth or less, as far as a quote of more tells: most of its fee may not be gas. */
function isEnough(amount: bigint, request: BridgeRequest, quote: Quote): boolean {
  const { min: least } = quote.limits
  return amount >= max(FEES_OF_LEAST_AMOUNT * min(feeOf(request, quote), least), least) && amount > 0n
}

/** The most of the input of which surely no more than this arrives; 0 where that may be too little for the bridge. */
export function mostWithin(room: bigint, request: BridgeRequest, quote: Quote): bigint {
  const { source, destination } = request.route
  const most = (room * 10n ** BigInt(source.decimals)) / 10n ** BigInt(destination.decimals)
  return isEnough(most, request, quote) ? most : 0n
}

/** The fee, rounded up. A quote without an output does not tell it: it is below the bridge's least amount. */
function feeOf(request: BridgeRequest, quote: Quote): bigint {
  if (quote.outputAmount === 0n) return quote.limits.min
  const { input, output, unit } = comparable(request, quote)
  return (input - output + unit - 1n) / unit
}

/** Input and output in one unit, and how many of it are the smallest unit of the source token. */
function comparable({ route: { source, destination }, inputAmount }: BridgeRequest, { outputAmount }: Quote) {
  const unit = 10n ** BigInt(destination.decimals)
  return { input: inputAmount * unit, output: outputAmount * 10n ** BigInt(source.decimals), unit }
}

/** The exclusivity of a quote; none where it is longer than a fill may wait, or names no relayer. */
function boundExclusivity({ exclusiveRelayer, exclusivityParameter }: BridgeTerms, now: number) {
  const seconds = exclusivityParameter > LONGEST_PERIOD_SECONDS ? exclusivityParameter - now : exclusivityParameter
  const isSome = exclusivityParameter > 0 && !isAddressEqual(exclusiveRelayer, zeroAddress)
  if (isSome && seconds <= LONGEST_EXCLUSIVITY_SECONDS) return { exclusiveRelayer, exclusivityParameter }
  return { exclusiveRelayer: zeroAddress, exclusivityParameter: 0 }
}

/** Until when the pool accepts the quote and relayers have time to fill it, in seconds since 1970. */
export function quoteExpiry(
  { quoteTimestamp, fillDeadline }: Pick<BridgeTerms, 'quoteTimestamp' | 'fillDeadline'>,
  { quoteTimeBuffer }: Clocks,
): number {
  return Math.min(quoteTimestamp + quoteTimeBuffer, fillDeadline - SHORTEST_VALIDITY_SECONDS / 2)
}
