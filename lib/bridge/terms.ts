import { isAddressEqual, zeroAddress } from 'viem'
import { max, min } from '../core/bigint.ts'
import { AppError, badResponse, buildTooLargeDetail, type ErrorDetail } from '../core/errors.ts'
import type { Quote } from './across.ts'
import type { BridgeRequest, BridgeTerms } from './calldata.ts'

/**
 * Times of both chains' latest blocks, in seconds since 1970. The buffers are the pool's limits for quote times and
 * fill deadlines, in seconds.
 */
export type Clocks = {
  readonly source: number
  readonly destination: number
  readonly quoteTimeBuffer: number
  readonly fillDeadlineBuffer: number
}

/** Minimum seconds for which a quote must still be valid. Meanwhile the user signs and sends the transaction, and a relayer fills it. */
const MIN_VALIDITY_SECONDS = 30 * 60
/** Maximum seconds by which a quote's time may be later than the source chain's latest block. */
const CLOCK_SKEW_SECONDS = 60
/** Maximum accepted fee, in percent of the amount sent. */
const MAX_FEE_PERCENT = 10n
/**
 * An amount below this multiple of the bridge's minimum amount counts as small: a fee above a tenth of it is normal.
 * Gas alone costs about a quarter of the minimum amount, which is a tenth of 2.5 times the minimum. A fee above a tenth
 * of a larger amount is a mistake or an attack.
 */
const SMALL_AMOUNTS = 10n
/**
 * The error for a too small amount suggests a larger amount: the fee of the small one, times this number. The larger
 * amount costs at most a tenth in fees. Most of the fee is gas, which does not grow with the amount. Even if the pool
 * takes a sixtieth of the added amount, the fee grows by no more than a fifth.
 */
const FEES_OF_LEAST_AMOUNT = 12n
/** Maximum accepted seconds for which only one relayer may fill. That relayer can delay the fill by this time. */
const MAX_EXCLUSIVITY_SECONDS = 5 * 60
/**
 * Maximum `exclusivityParameter` that the pool interprets as seconds after the deposit. The pool interprets a larger
 * value as seconds since 1970.
 */
const MAX_PERIOD_SECONDS = 31_536_000

/**
 * Returns the terms of a quote for the user to sign. The pool refuses a quote time later than the source chain's block
 * time, so that block time then replaces it. A relayer's exclusive right to fill is dropped if it lasts too long.
 * Throws `amount_too_low_for_bridge` or `amount_too_high_for_bridge`, with an amount that works if there is one. Throws
 * `upstream_bad_answer` if the quote delivers nothing, delivers more than is sent, or has an excessive fee. Also throws
 * it if the pool would refuse the quote's times now or within half an hour. `field` is the request field that errors
 * about the amount name. It is `dstChainId` if the request has no amount.
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
  if (!isTimely) throw badResponse('the bridge gave times that the pool would refuse')
  return { outputAmount, quoteTimestamp, fillDeadline, ...boundExclusivity(quote, source) }
}

function verifyAmounts(request: BridgeRequest, quote: Quote, field: 'amount' | 'dstChainId'): void {
  const { inputAmount } = request
  const { outputAmount, limits } = quote
  const { input, output } = toCommonUnit(request, quote)
  if (inputAmount < limits.min) throw tooLow(request, quote, field)
  if (inputAmount > limits.max) throw tooHigh(request, quote, field)
  if (outputAmount <= 0n || output > input) throw badResponse('the bridge gave an output above the input, or none')
  if (output * 100n >= input * (100n - MAX_FEE_PERCENT)) return
  if (inputAmount < SMALL_AMOUNTS * limits.min) throw tooLow(request, quote, field)
  throw badResponse('the bridge gave a fee that is too high')
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
    ? buildTooLargeDetail(field, most)
    : { field, issue: 'is more than the bridge takes now' }
  return new AppError('amount_too_high_for_bridge', { details: [nameField(detail)] })
}

function nameField(detail: ErrorDetail): ErrorDetail {
  if (detail.field === 'amount') return detail
  return { ...detail, issue: `must be left out: the paid amount ${detail.issue}` }
}

function leastAmount(request: BridgeRequest, quote: Quote): bigint {
  return max(FEES_OF_LEAST_AMOUNT * feeOf(request, quote), quote.limits.min)
}

/**
 * Returns true if the fee of `amount` is probably at most a tenth. The quote is for a larger amount, so its fee may
 * consist mostly of the pool's share, which grows with the amount. Gas costs less than the bridge's minimum amount,
 * so no more than that minimum counts as the fee.
 */
function isEnough(amount: bigint, request: BridgeRequest, quote: Quote): boolean {
  const { min: least } = quote.limits
  return amount >= max(FEES_OF_LEAST_AMOUNT * min(feeOf(request, quote), least), least) && amount > 0n
}

/** Returns the maximum amount to send so that at most `room` arrives; 0 if the bridge may refuse such a small amount. */
export function computeMaxInput(room: bigint, request: BridgeRequest, quote: Quote): bigint {
  const { source, destination } = request.route
  const most = (room * 10n ** BigInt(source.decimals)) / 10n ** BigInt(destination.decimals)
  return isEnough(most, request, quote) ? most : 0n
}

/**
 * Returns the fee in the source token's smallest unit, rounded up. A quote without an output shows no fee, so the
 * bridge's minimum amount is returned.
 */
function feeOf(request: BridgeRequest, quote: Quote): bigint {
  if (quote.outputAmount === 0n) return quote.limits.min
  const { input, output, unit } = toCommonUnit(request, quote)
  return (input - output + unit - 1n) / unit
}

/**
 * Converts the sent and the delivered amount into a common unit, so that they can be compared. One smallest unit of the
 * source token equals `unit` common units.
 */
function toCommonUnit({ route: { source, destination }, inputAmount }: BridgeRequest, { outputAmount }: Quote) {
  const unit = 10n ** BigInt(destination.decimals)
  return { input: inputAmount * unit, output: outputAmount * 10n ** BigInt(source.decimals), unit }
}

function boundExclusivity({ exclusiveRelayer, exclusivityParameter }: BridgeTerms, now: number) {
  const seconds = exclusivityParameter > MAX_PERIOD_SECONDS ? exclusivityParameter - now : exclusivityParameter
  const isSome = exclusivityParameter > 0 && !isAddressEqual(exclusiveRelayer, zeroAddress)
  if (isSome && seconds <= MAX_EXCLUSIVITY_SECONDS) return { exclusiveRelayer, exclusivityParameter }
  return { exclusiveRelayer: zeroAddress, exclusivityParameter: 0 }
}

/**
 * Returns the time at which a quote expires, in seconds since 1970. Until then, the pool accepts the quote and relayers
 * have time to fill.
 */
export function computeQuoteExpiry(
  { quoteTimestamp, fillDeadline }: Pick<BridgeTerms, 'quoteTimestamp' | 'fillDeadline'>,
  { quoteTimeBuffer }: Clocks,
): number {
  return Math.min(quoteTimestamp + quoteTimeBuffer, fillDeadline - MIN_VALIDITY_SECONDS / 2)
}
