import { type Address, type Hash, isAddress, isAddressEqual } from 'viem'
import * as z from 'zod'
import { max } from '../core/bigint.ts'
import { TransactionHash } from '../core/codecs.ts'
import { AppError, badResponse, codeOf } from '../core/errors.ts'
import { parseResponseBody, type Upstream } from '../core/http.ts'
import { toResult } from '../core/result.ts'
import { type BridgeRequest, type BridgeTerms, encodeMessage, getRecipient } from './calldata.ts'

/** Quote of the bridge for one transfer. Amounts are in the tokens' smallest units, times in seconds since 1970. */
export type Quote = BridgeTerms & {
  readonly expectedFillSeconds: number
  /** Input amounts that the bridge accepts now. Below `min` the fee may exceed the input, so the output may be negative. */
  readonly limits: { readonly min: bigint; readonly max: bigint }
}

const Digits = z.union([z.string().regex(/^\d{1,78}$/), z.number().int().nonnegative()]).transform(BigInt)
const Signed = z.union([z.string().regex(/^-?\d{1,78}$/), z.number().int()]).transform(BigInt)
const Seconds = z.union([z.string().regex(/^\d{1,10}$/), z.number().int().nonnegative()]).transform(Number)
const Token = z.object({ address: z.custom<Address>((value) => typeof value === 'string' && isAddress(value)) })

const SuggestedFees = z.object({
  outputAmount: Signed,
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

/** The service's error codes for those errors of the bridge's API that concern the user. */
const REFUSALS = {
  AMOUNT_TOO_LOW: 'amount_too_low_for_bridge',
  AMOUNT_TOO_HIGH: 'amount_too_high_for_bridge',
  ROUTE_NOT_ENABLED: 'cross_chain_not_available',
  // The API names the parameter `relayer`, which the service never sends. The error means that the bridge's own relayer
  // has too little to deliver the amount.
  INVALID_PARAM: 'amount_too_high_for_bridge',
} as const
const Refusal = z.union([
  z.object({ code: z.enum(['AMOUNT_TOO_LOW', 'AMOUNT_TOO_HIGH', 'ROUTE_NOT_ENABLED']) }),
  z.object({ code: z.literal('INVALID_PARAM'), param: z.literal('relayer') }),
])

const DepositStatus = z.object({
  fillTxnRef: TransactionHash.nullish().catch(undefined),
  depositRefundTxnRef: TransactionHash.nullish().catch(undefined),
})

/** Transactions that the bridge's API reports for a deposit: the fill, which delivers the tokens, or the refund. They are not verified. */
type Hint = { readonly fill?: Hash | undefined; readonly refund?: Hash | undefined }

/**
 * Function that fetches the fill and the refund that the bridge's API reports for a deposit. The result is empty if the
 * API does not know the deposit or does not respond.
 */
export type HintFetcher = (deposit: { readonly originChainId: bigint; readonly depositId: bigint }) => Promise<Hint>

/** Creates the client of the API of the bridge Across (https://docs.across.to). */
export function createAcross(ask: Upstream) {
  return {
    /**
     * Fetches the quote for a transfer with its actual message (GET /suggested-fees). `agreeTerms` uses only the
     * quote's amounts, times and exclusive relayer. Throws `upstream_*`, or an AppError if the API refuses the
     * transfer.
     */
    async fetchQuote(request: BridgeRequest): Promise<Quote> {
      const { route, inputAmount, deposit } = request
      const { source, destination } = route
      const answer = await ask({
        path: '/suggested-fees',
        query: {
          inputToken: source.token,
          outputToken: destination.token,
          originChainId: source.chainId.toString(),
          destinationChainId: destination.chainId.toString(),
          amount: inputAmount.toString(),
          recipient: getRecipient(request),
          ...(deposit && { message: encodeMessage(request) }),
          // The API refuses tokens with different decimals without this parameter. The service converts decimals
          // itself.
          allowUnmatchedDecimals: 'true',
          // This parameter makes the API also quote amounts below its minimum. A quote contains the minimum, which
          // errors suggest to the user; a refusal of the API does not.
          skipAmountLimit: 'true',
        },
      })
      const refusal = answer.status >= 400 ? Refusal.safeParse(answer.body).data : undefined
      if (refusal) throw new AppError(REFUSALS[refusal.code])
      const fees = parseResponseBody(SuggestedFees, answer)
      const { minDeposit, maxDeposit } = fees.limits

      const isSame =
        isAddressEqual(fees.spokePoolAddress, source.pool) &&
        isAddressEqual(fees.inputToken.address, source.token) &&
        isAddressEqual(fees.outputToken.address, destination.token)
      if (!isSame) throw badResponse('the bridge gave a quote for other contracts')
      return {
        outputAmount: fees.outputAmount,
        quoteTimestamp: fees.timestamp,
        fillDeadline: fees.fillDeadline,
        exclusiveRelayer: fees.exclusiveRelayer,
        exclusivityParameter: fees.exclusivityDeadline,
        expectedFillSeconds: fees.estimatedFillTimeSec,
        limits: { min: fees.isAmountTooLow ? max(minDeposit, inputAmount + 1n) : minDeposit, max: maxDeposit },
      }
    },

    /**
     * Fetches the transactions of a deposit's fill and refund (GET /deposit/status). Never throws: a failed request
     * gives an empty result.
     */
    async fetchHint({ originChainId, depositId }: Parameters<HintFetcher>[0]): Promise<Hint> {
      const query = { originChainId: `${originChainId}`, depositId: `${depositId}` }
      const response = await toResult(ask({ path: '/deposit/status', query }))
      const { fillTxnRef: fill, depositRefundTxnRef: refund } =
        ('value' in response && DepositStatus.safeParse(response.value.body).data) || {}
      return { fill: fill ?? undefined, refund: refund ?? undefined }
    },
  }
}
export type Across = ReturnType<typeof createAcross>

const REMEMBERED_MS = 5000
const MAX_REMEMBERED = 1000

type Remembered = { readonly quote: Promise<Quote>; readonly until: number }

/**
 * Returns a function that creates a `fetchQuote` for one API request of a client. `charge` counts a fetch against the
 * client's rate limit, or rejects with `too_many_requests`. Equal transfers within the request get the same quote. The
 * Lambda container caches quotes for five seconds. A cached quote is not charged; failures are not cached.
 */
export function shareQuotes({
  fetchQuote,
  now,
}: {
  readonly fetchQuote: Across['fetchQuote']
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
}) {
  const remembered = new Map<string, Remembered>()

  function remember(question: string, quote: Promise<Quote>): void {
    for (const [oldest, { until }] of remembered) {
      if (now() < until && remembered.size < MAX_REMEMBERED) break
      remembered.delete(oldest)
    }
    const entry = { quote, until: now() + REMEMBERED_MS }
    remembered.delete(question)
    remembered.set(question, entry)
    quote.catch(() => {
      if (remembered.get(question) === entry) remembered.delete(question)
    })
  }

  return (charge: () => Promise<void>): Across['fetchQuote'] => {
    const seen = new Map<string, Promise<Quote>>()
    return (request) => {
      const question = buildQuoteKey(request)
      const pay = () => {
        const quote = charge().then(() => fetchQuote(request))
        remember(question, quote)
        return quote
      }
      const recall = () => {
        const known = remembered.get(question)
        if (!known || known.until <= now()) return pay()
        // The cached fetch failed because another client reached its rate limit, so this client fetches the quote
        // itself.
        return known.quote.catch((error: unknown) => {
          if (codeOf(error) === 'too_many_requests') return pay()
          throw error
        })
      }
      const quote = seen.get(question) ?? recall()
      seen.set(question, quote)
      return quote
    }
  }
}

function buildQuoteKey(request: BridgeRequest): string {
  const { account, route, inputAmount } = request
  return [account, JSON.stringify(route), inputAmount, encodeMessage(request)].join()
}
