import { type Address, type Hash, isAddress, isAddressEqual } from 'viem'
import * as z from 'zod'
import { max } from '../bigint.ts'
import { TransactionHash } from '../codecs.ts'
import { AppError, badAnswer, codeOf } from '../errors.ts'
import { parseAnswer, type Upstream } from '../http.ts'
import { toResult } from '../result.ts'
import { type BridgeRequest, type BridgeTerms, encodeMessage, getRecipient } from './calldata.ts'

/** What the bridge offers for a request, amounts in the tokens' smallest units, times in seconds since 1970. */
export type Quote = BridgeTerms & {
  readonly expectedFillSeconds: number
  /** The input amounts that the bridge takes now. Below the least the output may be negative, for the fee is the larger. */
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

const DepositStatus = z.object({
  fillTxnRef: TransactionHash.nullish().catch(undefined),
  depositRefundTxnRef: TransactionHash.nullish().catch(undefined),
})

/** The transactions in which the fill and the refund of a deposit are, as the bridge's API says. */
type Hint = { readonly fill?: Hash | undefined; readonly refund?: Hash | undefined }

/** Fetches a hint; without one the API does not know the deposit, or cannot be asked. */
export type FetchHint = (deposit: { readonly originChainId: bigint; readonly depositId: bigint }) => Promise<Hint>

/** Across, the bridge's API (https://docs.across.to). */
export function createAcross(ask: Upstream) {
  return {
    /**
     * What the bridge's API offers for the request's real message (GET /suggested-fees). Only amounts, times and the relayer
     * that may fill first are taken from it, by `agreeTerms`. Throws `upstream_*`, or the AppError of the API's refusal.
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
          // The decimals of the two tokens are known here; the API must not refuse because they differ.
          allowUnmatchedDecimals: 'true',
          // Have too little answered with a quote that tells the least amount, and not with a refusal that does not.
          skipAmountLimit: 'true',
        },
      })
      const refusal = answer.status >= 400 ? Refusal.safeParse(answer.body).data : undefined
      if (refusal) throw new AppError(REFUSALS[refusal.code])
      const fees = parseAnswer(SuggestedFees, answer)
      const { minDeposit, maxDeposit } = fees.limits

      const isSame =
        isAddressEqual(fees.spokePoolAddress, source.pool) &&
        isAddressEqual(fees.inputToken.address, source.token) &&
        isAddressEqual(fees.outputToken.address, destination.token)
      if (!isSame) throw badAnswer('the bridge gave a quote for other contracts')
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

    /** Fetches where the bridge's indexer sees the fill and the refund of a deposit (GET /deposit/status). Never throws. */
    async fetchHint({ originChainId, depositId }: Parameters<FetchHint>[0]): Promise<Hint> {
      const query = { originChainId: `${originChainId}`, depositId: `${depositId}` }
      const asked = await toResult(ask({ path: '/deposit/status', query }))
      const { fillTxnRef: fill, depositRefundTxnRef: refund } =
        ('value' in asked && DepositStatus.safeParse(asked.value.body).data) || {}
      return { fill: fill ?? undefined, refund: refund ?? undefined }
    },
  }
}
export type Across = ReturnType<typeof createAcross>

/** Milliseconds for which a container remembers a quote from when it was asked for. */
const REMEMBERED_MS = 5000
const MAX_REMEMBERED = 1000

type Remembered = { readonly quote: Promise<Quote>; readonly until: number }

/**
 * Returns a function that makes the `fetchQuote` of one request to this service. `charge` pays for a fetch, or rejects with
 * `too_many_requests`. A request sees the same quote for equal questions, on every host. The container remembers quotes for five
 * seconds, free of charge, and no failure.
 */
export function shareQuotes({
  fetchQuote,
  now,
}: {
  readonly fetchQuote: Across['fetchQuote']
  /** Epoch milliseconds. */
  readonly now: () => number
}) {
  /** The oldest first. */
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
      const question = questionOf(request)
      const pay = () => {
        const quote = charge().then(() => fetchQuote(request))
        remember(question, quote)
        return quote
      }
      const recall = () => {
        const known = remembered.get(question)
        if (!known || known.until <= now()) return pay()
        // Another caller's limit is not this one's.
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

function questionOf(request: BridgeRequest): string {
  const { account, route, inputAmount } = request
  return [account, JSON.stringify(route), inputAmount, encodeMessage(request)].join()
}
