import { isAddressEqual, zeroAddress } from 'viem'
import { max, min } from '../core/bigint.ts'
import { AppError, badAnswer, type ErrorDetail, mustBeAtMost } from '../core/errors.ts'
import type { Quote } from './across.ts'
import type { BridgeRequest, BridgeTerms } from './calldata.ts'

/** Clocks of both chains, in seconds since 1970, and the time windows of the pool, in seconds. */
export type Clocks = {
  readonly source: number
  readonly destination: number
  readonly quoteTimeBuffer: number
  readonly fillDeadlineBuffer: number
}

/** Minimum seconds for the user to sign and send, and for relayers to fill. */
const MIN_VALIDITY_SECONDS = 30 * 60
/** Maximum seconds of a quote's time ahead of the source chain's last block. */
const CLOCK_SKEW_SECONDS = 60
/** Maximum accepted fee, in percent of the input. */
const MAX_FEE_PERCENT = 10n
/**
 * Multiple of the API's minimum below which an excessive fee means a small amount; above it, a mistake or an attack. At the
 * minimum, gas is a quarter of the amount; at 2.5 times, a tenth. The rest leaves room for the pool's share.
 */
const SMALL_AMOUNTS = 10n
/**
 * Suggested minimum, as a multiple of the fee quoted for a small amount. Gas dominates and does not grow with the amount. So
 * the fee stays at a tenth even if the pool takes a sixtieth of the additional amount.
 */
const FEES_OF_LEAST_AMOUNT = 12n
/** Maximum accepted exclusivity, in seconds: the worst case is a fill delayed by this. */
const MAX_EXCLUSIVITY_SECONDS = 5 * 60
/** Maximum exclusivity parameter that the pool reads as a period after the deposit. It reads more as seconds since 1970. */
const MAX_PERIOD_SECONDS = 31_536_000

/**
 * Returns the terms of a quote for the user. Moves its time back to the source chain's, because the pool refuses later ones.
 * Drops an exclusivity that is too long. Throws `amount_too_low_for_bridge` or `amount_too_high_for_bridge`, with an amount
 * that works if there is one. Throws `upstream_bad_answer` for an output above the input, no output, or an excessive fee. Also
 * throws it if the pool would refuse the times now or in the next half hour. `field` is the field of error details:
 * `dstChainId` if the request has no amount.
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
    computeQuoteExpiry({ quoteTimestamp, fillDeadline }, clocks) >= source + MIN_VALIDITY_SECONDS &&
    fillDeadline >= destination + MIN_VALIDITY_SECONDS &&
    fillDeadline <= source + fillDeadlineBuffer
  if (!isTimely) throw badAnswer('the bridge gave times that the pool would refuse')
  return { outputAmount, quoteTimestamp, fillDeadline, ...boundExclusivity(quote, source) }
}

function verifyAmounts(request: BridgeRequest, quote: Quote, field: 'amount' | 'dstChainId'): void {
  const { inputAmount } = request
  const { outputAmount, limits } = quote
  const { input, output } = toCommonUnit(request, quote)
  if (inputAmount < limits.min) throw tooLow(request, quote, field)
  if (inputAmount > limits.max) throw tooHigh(request, quote, field)
  if (outputAmount <= 0n || output > input) throw badAnswer('the bridge gave an output above the input, or none')
  if (output * 100n >= input * (100n - MAX_FEE_PERCENT)) return
  if (inputAmount < SMALL_AMOUNTS * limits.min) throw tooLow(request, quote, field)
  throw badAnswer('the bridge gave a fee that is too high')
}

function tooLow(request: BridgeRequest, quote: Quote, field: string): AppError {
  const least = leastAmount(request, quote)
  const detail =
    least > quote.limits.max
      ? { field, issue: 'is too little for the bridge: its fee now exceeds a tenth of every amount it takes' }
      : { field, issue: `must be at least ${least}`, atLeast: `${least}` }
  return new AppError('amount_too_low_for_bridge', { details: [nameField(detail)] })
}

function tooHigh(request: BridgeRequest, quote: Quote, field: string): AppError {
  const { max: most } = quote.limits
  const detail = isEnough(most, request, quote)
    ? mustBeAtMost(field, most)
    : { field, issue: 'is more than the bridge takes now' }
  return new AppError('amount_too_high_for_bridge', { details: [nameField(detail)] })
}

function nameField(detail: ErrorDetail): ErrorDetail {
  if (detail.field === 'amount') return detail
  return { ...detail, issue: `must be left out: the paid amount ${detail.issue}` }
}

/** Estimates the minimum amount with a fee of at most a tenth, from a quote of less. */
function leastAmount(request: BridgeRequest, quote: Quote): bigint {
  return max(FEES_OF_LEAST_AMOUNT * feeOf(request, quote), quote.limits.min)
}

/** Returns whether the fee of this amount is about a tenth or less, by a quote of more. Most of that quote's fee may not be gas. */
function isEnough(amount: bigint, request: BridgeRequest, quote: Quote): boolean {
  const { min: least } = quote.limits
  return amount >= max(FEES_OF_LEAST_AMOUNT * min(feeOf(request, quote), least), least) && amount > 0n
}

/** Returns the maximum input that delivers at most `room`; 0 if the bridge may find it too little. */
export function computeMaxInput(room: bigint, request: BridgeRequest, quote: Quote): bigint {
  const { source, destination } = request.route
  const most = (room * 10n ** BigInt(source.decimals)) / 10n ** BigInt(destination.decimals)
  return isEnough(most, request, quote) ? most : 0n
}

/** Returns the fee, rounded up. Without an output the fee is unknown, and the bridge's minimum stands in for it. */
function feeOf(request: BridgeRequest, quote: Quote): bigint {
  if (quote.outputAmount === 0n) return quote.limits.min
  const { input, output, unit } = toCommonUnit(request, quote)
  return (input - output + unit - 1n) / unit
}

/** Converts input and output to one unit; `unit` of it are the smallest unit of the source token. */
function toCommonUnit({ route: { source, destination }, inputAmount }: BridgeRequest, { outputAmount }: Quote) {
  const unit = 10n ** BigInt(destination.decimals)
  return { input: inputAmount * unit, output: outputAmount * 10n ** BigInt(source.decimals), unit }
}

/** Returns the exclusivity of a quote; none if it is too long or names no relayer. */
function boundExclusivity({ exclusiveRelayer, exclusivityParameter }: BridgeTerms, now: number) {
  const seconds = exclusivityParameter > MAX_PERIOD_SECONDS ? exclusivityParameter - now : exclusivityParameter
  const isSome = exclusivityParameter > 0 && !isAddressEqual(exclusiveRelayer, zeroAddress)
  if (isSome && seconds <= MAX_EXCLUSIVITY_SECONDS) return { exclusiveRelayer, exclusivityParameter }
  return { exclusiveRelayer: zeroAddress, exclusivityParameter: 0 }
}

/** Returns when a quote expires, in seconds since 1970: the pool accepts it and relayers have time to fill until then. */
export function computeQuoteExpiry(
  { quoteTimestamp, fillDeadline }: Pick<BridgeTerms, 'quoteTimestamp' | 'fillDeadline'>,
  { quoteTimeBuffer }: Clocks,
): number {
  return Math.min(quoteTimestamp + quoteTimeBuffer, fillDeadline - MIN_VALIDITY_SECONDS / 2)
}
