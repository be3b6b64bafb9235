import { getExpiring } from '../accounts/expiring.ts'
import { identifySession, Session } from '../accounts/session.ts'
import { openTable } from '../aws/dynamo.ts'
import type { Client } from '../clients/client.ts'
import { identifyClient } from '../clients/identify.ts'
import type { KeyLimits } from '../clients/key-limits.ts'
import { leases } from '../clients/leases.ts'
import { leasesStore } from '../clients/leases-store.ts'
import { type RateLimitHeaders, rateLimiter } from '../clients/rate-limiter.ts'
import { clientsStore } from '../clients/store.ts'
import type { EndpointContract } from './contract.ts'
import type { Env } from './resources.ts'

/** What a request's key tells of its caller. */
export type Identified = {
  readonly client?: Client
  readonly limits?: KeyLimits
  /** Whether the key may make the request, which is being found out; rejects with `rate_limit_exceeded`. */
  readonly admission?: Promise<RateLimitHeaders>
  /** Finds the session of the user, where the contract asks for one. */
  readonly findSession?: () => Promise<Session>
}

/** Finds out who calls from a request's headers, or throws. */
export type Identify = (headers: Readonly<Record<string, string | undefined>>) => Promise<Identified>

/**
 * Returns a function that finds the client that x-join-key names, counts the request and, where the contract asks for a
 * user, finds the session that Authorization carries; nothing where anyone may call. It throws `missing_api_key` or
 * `invalid_api_key`, before it counts; `findSession` throws `missing_session` or `invalid_session`.
 */
export function identifyCaller(
  { caller }: EndpointContract,
  env: Partial<Env<'clients' | 'users' | 'cache'>>,
): Identify {
  if (caller === 'anyone') return async () => ({})

  // A contract whose callers are known has these tables (`listUses`).
  const { clients, users, cache } = env as Env<'clients' | 'users' | 'cache'>
  const findKey = identifyClient({ get: clientsStore(openTable(clients)).get, now: Date.now })
  const admit = rateLimiter(leases({ take: leasesStore(openTable(cache)).take, now: Date.now }))
  const identifyKey = async (apiKey: string | undefined) => {
    const {
      client,
      key: { keyId, limits },
    } = await findKey(apiKey)
    const admission = admit({ clientId: client.clientId, keyId, rate: limits.rate })
    // The frame awaits it, later.
    admission.catch(() => {})
    return { client, limits, admission }
  }
  if (caller === 'client') return async (headers) => await identifyKey(headers['x-join-key'])

  const sessions = { table: openTable(users), type: 'SESSION', schema: Session } as const
  const findSession = identifySession({ get: (hash) => getExpiring(sessions, hash), now: Date.now })
  return async (headers) => {
    const identified = await identifyKey(headers['x-join-key'])
    const { clientId } = identified.client
    return { ...identified, findSession: () => findSession(headers['authorization'], clientId) }
  }
}
