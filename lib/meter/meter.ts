import { AppError } from '../core/errors.ts'
import type { Leases, Limit, Spending } from './leases.ts'

type Rate = { readonly requests: number; readonly seconds: number }

/**
 * Prices of requests to data sources, in units of the rate limit. One unit is about $0.00004, the cost of an API
 * request that calls no source. Sources whose plans allow few requests cost more.
 */
export const UNITS = {
  goldrush: { tokens: 20, nfts: 20 },
  /** A page of tokens costs $0.00001, one of NFTs $0.0002. */
  alchemy: { tokens: 1, nfts: 10 },
  das: 5,
  coingecko: 200,
  defillama: 200,
  /** Merkl is free, but limited to 10 requests a second for all API keys together. */
  merkl: 50,
  quote: 30,
} as const

/** Purpose with its own budget of a payer's units. Spending the budget of one purpose leaves the others untouched. */
export type Share = 'requests' | 'withdrawals' | 'sources' | 'quotes' | 'withdrawalQuotes'

/** Subject that a request's units are charged to: its API key, or a session or network, which may spend a tenth of the key's units. */
export type Payer = { readonly who: 'session' | 'network' | 'key'; readonly id: string }

/** A charge of units to each of these payers, the API key last. `rate` is the key's rate limit. */
export type Charge = {
  readonly payers: readonly Payer[]
  readonly rate: Rate
  readonly share: Share
  readonly units: number
}

/** Returns the charge of these units to a request's caller, from its budget for data sources or for quotes. */
export type PayFor = (units: number, of?: 'sources' | 'quotes') => Payment

/** Charge of units that must succeed before a request to another service. */
export type Payment = {
  /** Charges the units. Throws `too_many_requests` if a payer has too few left. */
  readonly pay: () => Promise<void>
  /** Returns the error of `pay` if this container knows it without a table request. */
  readonly findRefusal: () => AppError | undefined
}

/** Payment that charges nothing, for scheduled jobs, which have no caller. */
export const FREE: Payment = { pay: async () => {}, findRefusal: () => undefined }

const PART = 1 / 10
/** First requests of a session or a network that each container does not count, so most users cost no table request. */
const UNCOUNTED = 1

/** Budget of each purpose: its part of the key's rate, its window in seconds (by default the key's), and any payer's minimum. */
const SHARES: Readonly<Record<Share, { part: number; seconds?: number; fewest: number }>> = {
  requests: { part: 1, fewest: 1 },
  withdrawals: { part: 1 / 2, fewest: 10 },
  // The minimum lets one user read seven wallets on seven chains, or five price charts.
  sources: { part: 1, seconds: 600, fewest: 1_000 },
  quotes: { part: 1, seconds: 600, fewest: 3 * UNITS.quote },
  withdrawalQuotes: { part: 1 / 2, seconds: 600, fewest: 3 * UNITS.quote },
}

function limitOf({ who }: Payer, share: Share, rate: Rate): Limit {
  const { part, seconds = rate.seconds, fewest } = SHARES[share]
  const ofKey = (rate.requests * part * seconds) / rate.seconds
  const units = Math.max(fewest, Math.ceil(who === 'key' ? ofKey : ofKey * PART))
  const isCounted = who === 'key' || seconds === SHARES.sources.seconds
  return { units, seconds, uncounted: isCounted ? 0 : UNCOUNTED }
}

/** Creates the rate limiter that charges payers in units, counted across all containers. */
export function createMeter({ spend, findRefusal }: Leases) {
  const windowsOf = ({ payers, rate, share }: Charge) =>
    payers.map((payer) => ({
      ...payer,
      subject: `${share}#${payer.who}#${payer.id}`,
      limit: limitOf(payer, share, rate),
    }))

  function findKnown(charge: Charge): AppError | undefined {
    for (const { who, subject, limit } of windowsOf(charge)) {
      const seconds = findRefusal(subject, limit, charge.units)
      if (seconds !== undefined) return refusalOf(charge, who, limit, { seconds, remaining: 0 })
    }
    return undefined
  }

  return {
    /** Returns the error of a charge if this container knows, without the table, that the charge will be refused. */
    findRefusal: findKnown,

    /**
     * Charges all payers, or none. Returns rate-limit headers about the API key, the last payer, and a function that
     * refunds the units. Throws `rate_limit_exceeded` if the key has too few units left for a request. Throws
     * `too_many_requests`, with the payer in its details, in all other cases.
     */
    async charge(charge: Charge): Promise<{ headers: RateLimitHeaders; giveBack: () => void }> {
      // Known refusals come before any table request. A flood from new networks then writes nothing once the key's units are spent.
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

/** Headers that report a key's remaining units (draft-ietf-httpapi-ratelimit-headers-11). */
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
const NAMES: Readonly<Record<Share, string>> = {
  requests: 'requests',
  withdrawals: 'withdrawals and claims',
  sources: 'data sources',
  quotes: 'quotes of deposits',
  withdrawalQuotes: 'quotes of withdrawals and claims',
}

function refusalOf(
  { share }: Charge,
  who: Payer['who'],
  limit: Limit,
  standing: Pick<Spending, 'remaining' | 'seconds'>,
): AppError {
  const retry = { 'retry-after': standing.seconds.toString() }
  const cause = new Error(`a ${who} has spent its ${limit.units} units for ${share} of ${limit.seconds} seconds`)
  if (who === 'key' && SHARES[share].seconds === undefined)
    return new AppError('rate_limit_exceeded', { headers: { ...headersFor(limit, standing), ...retry }, cause })
  const issue = `has spent its units for ${NAMES[share]}: wait for the seconds in Retry-After`
  return new AppError('too_many_requests', { headers: retry, details: [{ field: FIELDS[who], issue }], cause })
}
