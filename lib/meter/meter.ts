import { AppError } from '../core/errors.ts'
import type { Leases, Limit, Spending } from './leases.ts'

type Rate = { readonly requests: number; readonly seconds: number }

/**
 * Cost of requests to external services, in units of the rate limit. One unit is about $0.00004. That is the cost of an
 * API request that calls no external service. Services whose plans allow few requests cost more units.
 */
export const REQUEST_UNITS = {
  goldrush: { tokens: 20, nfts: 20 },
  /** Units of the largest refresh: two pages of tokens and metadata of 40 tokens ($0.0002), or two pages of NFTs ($0.0004). */
  alchemy: { tokens: 5, nfts: 11 },
  das: 5,
  coingecko: 200,
  defillama: 200,
  /**
   * Units for one request to Merkl. Merkl is free, but allows only 10 requests per second for all clients of this
   * service together.
   */
  merkl: 50,
  quote: 30,
} as const

/**
 * Purpose for which a payer spends rate-limit units. Each payer (API key, session or network) has a separate budget for
 * each purpose.
 */
export type BudgetPurpose = 'requests' | 'withdrawals' | 'sources' | 'quotes' | 'withdrawalQuotes'

/**
 * Subject that pays for a request: an API key, a user's session or a network. A session or network may spend a tenth of
 * its API key's units.
 */
export type Payer = { readonly who: 'session' | 'network' | 'key'; readonly id: string }

/**
 * Charge for a request: each payer spends `units` from its budget for the `purpose`. `rate` is the API key's rate
 * limit. If the API key itself pays, it is last in `payers`.
 */
export type Charge = {
  readonly payers: readonly Payer[]
  readonly rate: Rate
  readonly purpose: BudgetPurpose
  readonly units: number
}

/**
 * Function that builds the payment of these rate-limit units by the caller of an API request. The units come from the
 * caller's budget for data sources or for quotes.
 */
export type PayFor = (units: number, of?: 'sources' | 'quotes') => Payment

/** Payment of rate-limit units by the caller of an API request. It must succeed before the service calls an external service. */
export type Payment = {
  /** Charges the units. Throws `too_many_requests` if a payer has too few units left. */
  readonly pay: () => Promise<void>
  /** Returns the error that `pay` would throw, if this container already knows it. Sends no request to DynamoDB. */
  readonly findRefusal: () => AppError | undefined
}

/** Payment that charges nothing. Scheduled jobs use it, because they have no caller. */
export const FREE_PAYMENT: Payment = { pay: async () => {}, findRefusal: () => undefined }

const PART = 1 / 10
/** Window of the budgets for data sources and bridge quotes. Every request in so long a window is counted. */
const LONG_WINDOW_SECONDS = 600
/**
 * Number of requests per time window that each container allows a session or network without counting them in DynamoDB.
 * Most users then cause no request to DynamoDB.
 */
const UNCOUNTED = 1

/**
 * Budget for each purpose: its part of the API key's rate limit, and its time window in seconds (by default the key's
 * window). Every payer gets at least `fewest` units per window.
 */
const BUDGETS: Readonly<Record<BudgetPurpose, { part: number; seconds?: number; fewest: number }>> = {
  requests: { part: 1, fewest: 1 },
  withdrawals: { part: 1 / 2, fewest: 10 },
  // The minimum lets one user read seven wallets on seven chains, or five price charts, in ten minutes.
  sources: { part: 1, seconds: LONG_WINDOW_SECONDS, fewest: 1_000 },
  quotes: { part: 1, seconds: LONG_WINDOW_SECONDS, fewest: 3 * REQUEST_UNITS.quote },
  withdrawalQuotes: { part: 1 / 2, seconds: LONG_WINDOW_SECONDS, fewest: 3 * REQUEST_UNITS.quote },
}

function limitOf({ who }: Payer, purpose: BudgetPurpose, rate: Rate): Limit {
  const { part, seconds = rate.seconds, fewest } = BUDGETS[purpose]
  const ofKey = (rate.requests * part * seconds) / rate.seconds
  const units = Math.max(fewest, Math.ceil(who === 'key' ? ofKey : ofKey * PART))
  const isCounted = who === 'key' || seconds === LONG_WINDOW_SECONDS
  return { units, seconds, uncounted: isCounted ? 0 : UNCOUNTED }
}

/** Creates the rate limiter, which charges units to payers. Units are counted across all containers. */
export function createMeter({ spend, findRefusal }: Leases) {
  const windowsOf = ({ payers, rate, purpose }: Charge) =>
    payers.map((payer) => ({
      ...payer,
      subject: `${purpose}#${payer.who}#${payer.id}`,
      limit: limitOf(payer, purpose, rate),
    }))

  function findKnown(charge: Charge): AppError | undefined {
    for (const { who, subject, limit } of windowsOf(charge)) {
      const seconds = findRefusal(subject, limit, charge.units)
      if (seconds !== undefined) return refusalOf(charge, who, limit, { seconds, remaining: 0 })
    }
    return undefined
  }

  return {
    /** Returns the error that `charge` would throw, if this container already knows it. Sends no request to DynamoDB. */
    findRefusal: findKnown,

    /**
     * Charges all payers, or none. Returns the rate-limit headers of the API key, and the function `giveBack`, which
     * refunds the units. Throws `rate_limit_exceeded` if the API key has too few units left in its rate-limit window.
     * Throws `too_many_requests` in all other cases; the details name the payer.
     */
    async charge(charge: Charge): Promise<{ headers: RateLimitHeaders; giveBack: () => void }> {
      // A charge that this container knows to fail is refused without a write to DynamoDB. So once the API key's units
      // are spent, requests from many new networks cause no writes.
      const known = findKnown(charge)
      if (known) throw known
      const spent: Spending[] = []
      const returnAll = () => {
        for (const { giveBack } of spent) giveBack()
      }
      for (const { who, subject, limit } of windowsOf(charge)) {
        const spending = await spend(subject, limit, charge.units)
        if (spending.isRefused) {
          returnAll()
          throw refusalOf(charge, who, limit, spending)
        }
        spent.push(spending)
      }
      const [key] = windowsOf(charge).slice(-1)
      const [ofKey] = spent.slice(-1)
      return { headers: key && ofKey ? headersFor(key.limit, ofKey) : {}, giveBack: returnAll }
    },
  }
}

/** HTTP headers with the remaining units of an API key (draft-ietf-httpapi-ratelimit-headers-11). */
export type RateLimitHeaders = Readonly<Record<string, string>>

function headersFor(
  { units, seconds: window }: Limit,
  { remaining, seconds }: Pick<Spending, 'remaining' | 'seconds'>,
) {
  return {
    'ratelimit-policy': `"key";q=${units};w=${window}`,
    ...(remaining !== undefined && { ratelimit: `"key";r=${remaining};t=${seconds}` }),
  }
}

const FIELDS = { session: 'authorization', network: 'address', key: 'x-join-key' } as const
const NAMES: Readonly<Record<BudgetPurpose, string>> = {
  requests: 'requests',
  withdrawals: 'withdrawals and claims',
  sources: 'data sources',
  quotes: 'quotes of deposits',
  withdrawalQuotes: 'quotes of withdrawals and claims',
}

function refusalOf(
  { purpose }: Charge,
  who: Payer['who'],
  limit: Limit,
  standing: Pick<Spending, 'remaining' | 'seconds'>,
): AppError {
  const retry = { 'retry-after': standing.seconds.toString() }
  const cause = new Error(`a ${who} has spent its ${limit.units} units for ${purpose} of ${limit.seconds} seconds`)
  if (who === 'key' && BUDGETS[purpose].seconds === undefined)
    return new AppError('rate_limit_exceeded', { headers: { ...headersFor(limit, standing), ...retry }, cause })
  const issue = `has spent its units for ${NAMES[purpose]}: wait for the seconds in Retry-After`
  return new AppError('too_many_requests', { headers: retry, details: [{ field: FIELDS[who], issue }], cause })
}
