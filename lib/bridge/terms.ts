import { isAddressEqual, zeroAddress } from 'viem'
import { max } from '../bigint.ts'
import { AppError, badAnswer } from '../errors.ts'
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
 * `asked` is the field of a request that an input outside the limits is told of.
 */
export function agreeTerms(
  request: BridgeRequest,
  quote: Quote,
  clocks: Clocks,
  asked: 'amount' | 'dstChainId' = 'amount',
): BridgeTerms {
  verifyAmounts(request, quote, asked)
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

function verifyAmounts(
  { route, inputAmount }: BridgeRequest,
  { outputAmount, limits }: Quote,
  asked: 'amount' | 'dstChainId',
): void {
  const outside = (code: 'amount_too_low_for_bridge' | 'amount_too_high_for_bridge', bound: string) => {
    const issue = asked === 'amount' ? `must be ${bound}` : `must be left out: the bridge takes ${bound}`
    return new AppError(code, { details: [{ field: asked, issue }] })
  }
  const unit = 10n ** BigInt(route.destination.decimals)
  const input = inputAmount * unit
  const output = outputAmount * 10n ** BigInt(route.source.decimals)
  const enough = (FEES_OF_LEAST_AMOUNT * (input - output)) / unit
  const tooLow = () => outside('amount_too_low_for_bridge', `at least ${max(enough, limits.min)}`)
  if (inputAmount < limits.min) throw tooLow()
  if (inputAmount > limits.max) throw outside('amount_too_high_for_bridge', `at most ${limits.max}`)
  if (outputAmount <= 0n || output > input) throw badAnswer('the bridge gave an output above the input, or none')
  if (output * 100n >= input * (100n - HIGHEST_FEE_PERCENT)) return
  if (inputAmount < SMALL_AMOUNTS * limits.min) throw tooLow()
  throw badAnswer('the bridge gave a fee that is too high')
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
