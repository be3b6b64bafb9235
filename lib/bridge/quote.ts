import { type Address, type Hex, isAddress, isAddressEqual } from 'viem'
import * as z from 'zod'
import { AppError } from '../errors.ts'
import { type BridgeRequest, type BridgeTerms, encodeMessage } from './calldata.ts'

/** Where the bridge's API is and how it knows us; the integrator id is two bytes. */
export const BridgeApi = z.object({
  url: z.url().default('https://app.across.to/api'),
  apiKey: z.string().min(1).optional(),
  integratorId: z
    .string()
    .refine((text): text is Hex => /^0x[0-9a-f]{4}$/.test(text))
    .optional(),
})
export type BridgeApi = z.output<typeof BridgeApi>

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

const DEADLINE_MS = 3_000
/** The user must have this long to sign and send, and relayers to fill. */
const SHORTEST_VALIDITY_SECONDS = 30 * 60
/** How far a quote's time may be ahead of the last block. */
const CLOCK_SKEW_SECONDS = 60
/** A larger share of the input is no fee but a mistake, or an attack. In percent. */
const HIGHEST_FEE_PERCENT = 10n

const Digits = z.union([z.string().regex(/^\d{1,78}$/), z.number().int().nonnegative()]).transform(BigInt)
const Seconds = z.union([z.string().regex(/^\d{1,10}$/), z.number().int().nonnegative()]).transform(Number)
const Token = z.object({ address: z.custom<Address>((value) => typeof value === 'string' && isAddress(value)) })

const SuggestedFees = z.object({
  outputAmount: Digits,
  timestamp: Seconds,
  fillDeadline: Seconds,
  estimatedFillTimeSec: z.number().nonnegative(),
  isAmountTooLow: z.boolean(),
  spokePoolAddress: Token.shape.address,
  inputToken: Token,
  outputToken: Token,
  limits: z.object({ minDeposit: Digits, maxDeposit: Digits }),
})

const REFUSALS = {
  AMOUNT_TOO_LOW: 'amount_too_low_for_bridge',
  AMOUNT_TOO_HIGH: 'amount_too_high_for_bridge',
  ROUTE_NOT_ENABLED: 'cross_chain_not_available',
} as const
/** A refusal that is for the user to know. */
const Refusal = z.union([
  z.object({ code: z.enum(['AMOUNT_TOO_LOW', 'AMOUNT_TOO_HIGH', 'ROUTE_NOT_ENABLED']) }),
  // We name no relayer: it is the bridge's own that has less than the fill takes.
  z
    .object({ code: z.literal('INVALID_PARAM'), param: z.literal('relayer') })
    .transform(() => ({ code: 'AMOUNT_TOO_HIGH' as const })),
])

/**
 * What the bridge's API offers for the request's real message (GET /suggested-fees). Only amounts and times are taken
 * from it; `checkQuote` must pass before they are used. Throws `upstream_*`, or the AppError of the API's refusal.
 */
export async function fetchQuote(
  api: BridgeApi,
  request: BridgeRequest,
  { fetch }: { fetch: typeof globalThis.fetch },
): Promise<Quote> {
  const answer = await fetchSuggestedFees(api, request, fetch)
  const fees = SuggestedFees.safeParse(answer).data
  if (!fees) throw bad('an answer of another shape')
  if (fees.isAmountTooLow) throw new AppError('amount_too_low_for_bridge')

  const { route, vault } = request
  const same =
    isAddressEqual(fees.spokePoolAddress, route.pool) &&
    isAddressEqual(fees.inputToken.address, route.inputToken) &&
    isAddressEqual(fees.outputToken.address, vault.asset)
  if (!same) throw bad('a quote for other contracts')
  return {
    outputAmount: fees.outputAmount,
    quoteTimestamp: fees.timestamp,
    fillDeadline: fees.fillDeadline,
    expectedFillSeconds: fees.estimatedFillTimeSec,
    limits: { min: fees.limits.minDeposit, max: fees.limits.maxDeposit },
  }
}

/**
 * Throws unless the quote is one that we would sign: input within its limits, output above zero, not above the input
 * and at most a tenth below it, and its times within what the pool accepts now and for half an hour more.
 */
export function checkQuote({ route, inputAmount }: BridgeRequest, quote: Quote, clocks: Clocks): void {
  if (inputAmount < quote.limits.min) throw new AppError('amount_too_low_for_bridge')
  if (inputAmount > quote.limits.max) throw new AppError('amount_too_high_for_bridge')

  const input = inputAmount * 10n ** BigInt(route.outputDecimals)
  const output = quote.outputAmount * 10n ** BigInt(route.inputDecimals)
  if (quote.outputAmount === 0n || output > input) throw bad('an output above the input, or none')
  if (output * 100n < input * (100n - HIGHEST_FEE_PERCENT)) throw bad('a fee beyond all measure')

  const { source, destination, quoteTimeBuffer, fillDeadlineBuffer } = clocks
  const { quoteTimestamp, fillDeadline } = quote
  const timely =
    quoteTimestamp <= source + CLOCK_SKEW_SECONDS &&
    quoteExpiry(quote, clocks) >= source + SHORTEST_VALIDITY_SECONDS &&
    fillDeadline >= destination + SHORTEST_VALIDITY_SECONDS &&
    fillDeadline <= source + fillDeadlineBuffer
  if (!timely || quoteTimestamp < source - quoteTimeBuffer) throw bad('times that the pool would refuse')
}

/** Until when the pool accepts the quote and relayers have time to fill it, in seconds since 1970. */
export function quoteExpiry({ quoteTimestamp, fillDeadline }: BridgeTerms, { quoteTimeBuffer }: Clocks): number {
  return Math.min(quoteTimestamp + quoteTimeBuffer, fillDeadline - SHORTEST_VALIDITY_SECONDS / 2)
}

async function fetchSuggestedFees(
  { url, apiKey }: BridgeApi,
  request: BridgeRequest,
  fetch: typeof globalThis.fetch,
): Promise<unknown> {
  const { vault, route, inputAmount } = request
  const query = new URLSearchParams({
    inputToken: route.inputToken,
    outputToken: vault.asset,
    originChainId: route.sourceChainId.toString(),
    destinationChainId: vault.chainId.toString(),
    amount: inputAmount.toString(),
    recipient: route.handler,
    message: encodeMessage(request),
    // The decimals of the two tokens are known here; the API must not refuse because they differ.
    allowUnmatchedDecimals: 'true',
  })
  const signal = AbortSignal.timeout(DEADLINE_MS)
  try {
    const response = await fetch(`${url}/suggested-fees?${query}`, {
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      // Nobody but the configured API is believed.
      redirect: 'manual',
      signal,
    })
    if (response.ok) return await response.json()
    const refusal = Refusal.safeParse(await response.json().catch(() => undefined)).data
    if (refusal) throw new AppError(REFUSALS[refusal.code])
    const unavailable = response.status === 429 || response.status >= 500
    throw unavailable ? unavailableBecause(`HTTP status ${response.status}`) : bad(`HTTP status ${response.status}`)
  } catch (error) {
    if (error instanceof AppError) throw error
    if (signal.aborted)
      throw new AppError('upstream_timeout', { cause: new Error('the bridge did not answer in time') })
    if (error instanceof SyntaxError) throw bad('no JSON')
    throw unavailableBecause('no connection')
  }
}

function bad(what: string): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error(`the bridge gave ${what}`) })
}

function unavailableBecause(why: string): AppError {
  return new AppError('upstream_unavailable', { cause: new Error(`the bridge is unavailable: ${why}`) })
}
