import { AppError } from '../errors.ts'
import type { Rate } from './key-limits.ts'
import type { Leases, Spending } from './leases.ts'

/** Which key of which client makes a request, and how many it may make. */
type Requester = { readonly clientId: string; readonly keyId: string; readonly rate: Rate }

/** The headers that tell where a key stands (draft-ietf-httpapi-ratelimit-headers-11). */
export type RateLimitHeaders = Readonly<Record<string, string>>

/** Lets a request of a key through, or throws `rate_limit_exceeded`. */
export type Admit = (requester: Requester) => Promise<RateLimitHeaders>

/** Returns a function that spends a unit of a key for each request. */
export function rateLimiter({ spend }: Pick<Leases, 'spend'>): Admit {
  return async ({ clientId, keyId, rate }) => {
    const spending = await spend(`${clientId}#${keyId}`, { units: rate.requests, seconds: rate.seconds })
    const headers = headersFor(rate, spending)
    if (!spending.isRefused) return headers
    throw new AppError('rate_limit_exceeded', { headers: { ...headers, 'retry-after': spending.seconds.toString() } })
  }
}

function headersFor({ requests, seconds: window }: Rate, { remaining, seconds }: Spending): RateLimitHeaders {
  return {
    'ratelimit-policy': `"key";q=${requests};w=${window}`,
    ...(remaining !== undefined && { ratelimit: `"key";r=${remaining};t=${seconds}` }),
  }
}
