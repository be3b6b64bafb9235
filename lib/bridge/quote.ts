import { type Address, type Hex, isAddress, isAddressEqual, zeroAddress } from 'viem'
import * as z from 'zod'
import { AppError } from '../errors.ts'
import { parseAnswer, type Upstream } from '../http.ts'
import { type BridgeRequest, type BridgeTerms, encodeMessage } from './calldata.ts'

/** Where the bridge's API is and how it knows us; the integrator id is two bytes. */
export const BridgeApi = z
  .object({
    url: z.url().default('https://app.across.to/api'),
    apiKey: z.string().min(1).optional(),
    integratorId: z
      .string()
      .refine((text): text is Hex => /^0x[0-9a-f]{4}$/.test(text))
      .optional(),
  })
  .transform(({ url, apiKey, integratorId }) => ({
    url,
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
    integratorId,
  }))

/** What the bridge offers for a request, amounts in the tokens' smallest units, times in seconds since 1970. */
export type Quote = BridgeTerms & {
  readonly expectedFillSeconds: number
  /** The input amounts that the bridge takes now. */
  readonly limits: { readonly min: bigint; readonly max: bigint }
}

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
/** What a relayer that may fill alone can cost the user at most is a fill that comes so many seconds later. */
const LONGEST_EXCLUSIVITY_SECONDS = 5 * 60
/** The pool takes a number up to a year for a period that begins with the deposit, and one above for a time since 1970. */
const LONGEST_PERIOD_SECONDS = 31_536_000

const Digits = z.union([z.string().regex(/^\d{1,78}$/), z.number().int().nonnegative()]).transform(BigInt)
const Seconds = z.union([z.string().regex(/^\d{1,10}$/), z.number().int().nonnegative()]).transform(Number)
const Token = z.object({ address: z.custom<Address>((value) => typeof value === 'string' && isAddress(value)) })

const SuggestedFees = z.object({
  outputAmount: Digits,
  timestamp: Seconds,
  fillDeadline: Seconds,
  exclusiveRelayer: Token.shape.address,
  exclusivityDeadline: Seconds,
  estimatedFillTimeSec: z.number().nonnegative(),
  isAmountTooLow: z.boolean(),
  spokePoolAddress: Token.shape.address,
  inputToken: Token,
  outputToken: Token,
  limits: z.object({ minDeposit: Digits, maxDeposit: Digits }),
})

/** The refusals that are for the user to know. */
const REFUSALS = {
  AMOUNT_TOO_LOW: 'amount_too_low_for_bridge',
  AMOUNT_TOO_HIGH: 'amount_too_high_for_bridge',
  ROUTE_NOT_ENABLED: 'cross_chain_not_available',
  // Of the parameter `relayer`: we name none, and it is the bridge's own that has less than the fill takes.
  INVALID_PARAM: 'amount_too_high_for_bridge',
} as const
const Refusal = z.union([
  z.object({ code: z.enum(['AMOUNT_TOO_LOW', 'AMOUNT_TOO_HIGH', 'ROUTE_NOT_ENABLED']) }),
  z.object({ code: z.literal('INVALID_PARAM'), param: z.literal('relayer') }),
])

/**
 * What the bridge's API offers for the request's real message (GET /suggested-fees). Only amounts, times and the relayer
 * that may fill first are taken from it, by `agreeTerms`. Throws `upstream_*`, or the AppError of the API's refusal.
 */
export async function fetchQuote(api: Upstream, request: BridgeRequest): Promise<Quote> {
  const { vault, route, inputAmount } = request
  const answer = await api({
    path: '/suggested-fees',
    query: {
      inputToken: route.inputToken,
      outputToken: vault.asset,
      originChainId: route.sourceChainId.toString(),
      destinationChainId: vault.chainId.toString(),
      amount: inputAmount.toString(),
      recipient: route.handler,
      message: encodeMessage(request),
      // The decimals of the two tokens are known here; the API must not refuse because they differ.
      allowUnmatchedDecimals: 'true',
    },
  })
  const refusal = answer.status >= 400 ? Refusal.safeParse(answer.body).data : undefined
  if (refusal) throw new AppError(REFUSALS[refusal.code])
  const fees = parseAnswer(SuggestedFees, answer)
  if (fees.isAmountTooLow) throw new AppError('amount_too_low_for_bridge')

  const isSame =
    isAddressEqual(fees.spokePoolAddress, route.pool) &&
    isAddressEqual(fees.inputToken.address, route.inputToken) &&
    isAddressEqual(fees.outputToken.address, vault.asset)
  if (!isSame) throw bad('a quote for other contracts')
  return {
    outputAmount: fees.outputAmount,
    quoteTimestamp: fees.timestamp,
    fillDeadline: fees.fillDeadline,
    exclusiveRelayer: fees.exclusiveRelayer,
    exclusivityParameter: fees.exclusivityDeadline,
    expectedFillSeconds: fees.estimatedFillTimeSec,
    limits: { min: fees.limits.minDeposit, max: fees.limits.maxDeposit },
  }
}

/**
 * The terms of a quote that users get: its own, with no time ahead of the source chain, which the pool would refuse,
 * and without an exclusivity that is too long. Throws unless the input is within its limits, the output above zero, not
 * above the input and at most a tenth below it, and the times within what the pool accepts now and for half an hour more.
 */
export function agreeTerms(request: BridgeRequest, quote: Quote, clocks: Clocks): BridgeTerms {
  verifyAmounts(request, quote)
  const { source, destination, fillDeadlineBuffer } = clocks
  const { outputAmount, fillDeadline } = quote
  const quoteTimestamp = Math.min(quote.quoteTimestamp, source)
  const isTimely =
    quote.quoteTimestamp <= source + CLOCK_SKEW_SECONDS &&
    quoteExpiry({ quoteTimestamp, fillDeadline }, clocks) >= source + SHORTEST_VALIDITY_SECONDS &&
    fillDeadline >= destination + SHORTEST_VALIDITY_SECONDS &&
    fillDeadline <= source + fillDeadlineBuffer
  if (!isTimely) throw bad('times that the pool would refuse')
  return { outputAmount, quoteTimestamp, fillDeadline, ...boundExclusivity(quote, source) }
}

function verifyAmounts({ route, inputAmount }: BridgeRequest, { outputAmount, limits }: Quote): void {
  if (inputAmount < limits.min) throw new AppError('amount_too_low_for_bridge')
  if (inputAmount > limits.max) throw new AppError('amount_too_high_for_bridge')
  const input = inputAmount * 10n ** BigInt(route.outputDecimals)
  const output = outputAmount * 10n ** BigInt(route.inputDecimals)
  if (outputAmount === 0n || output > input) throw bad('an output above the input, or none')
  if (output * 100n >= input * (100n - HIGHEST_FEE_PERCENT)) return
  if (inputAmount < SMALL_AMOUNTS * limits.min) throw new AppError('amount_too_low_for_bridge')
  throw bad('a fee that is too high')
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

function bad(what: string): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error(`the bridge gave ${what}`) })
}
