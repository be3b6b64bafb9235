import { getExpiringItem } from '../accounts/expiring.ts'
import { createSessionLookup, Session } from '../accounts/session.ts'
import { openTable } from '../aws/dynamo.ts'
import type { Client } from '../clients/client.ts'
import { createClientLookup } from '../clients/identify.ts'
import type { KeyLimits } from '../clients/key-limits.ts'
import { clientsStore } from '../clients/store.ts'
import { networkOf } from '../core/network.ts'
import { sha256 } from '../core/sha256.ts'
import { createLeases } from '../meter/leases.ts'
import { leasesStore } from '../meter/leases-store.ts'
import { type Charge, createMeter, type Payer, type PayFor, type RateLimitHeaders } from '../meter/meter.ts'
import type { EndpointContract } from './contract.ts'
import type { Env } from './resources.ts'

type Identified = {
  readonly client?: Client
  readonly limits?: KeyLimits
  readonly session?: Session
  readonly payFor?: PayFor
}

/** Caller of a request, identified by the API key. If the endpoint requires a user, the session is found later with `findSession`. */
export type Identification = Identified & {
  /**
   * Pending charge of the request against the rate limits. It resolves with headers for the reply, or rejects with
   * `rate_limit_exceeded` or `too_many_requests`.
   */
  readonly admission?: Promise<RateLimitHeaders>
  /** Finds the user's session. Absent if the endpoint requires no user. */
  readonly findSession?: () => Promise<Required<Pick<Identified, 'session' | 'payFor'>>>
}

type Received = {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly requestContext: { readonly http: { readonly sourceIp: string } }
}

/** Function that identifies the caller of a request by its headers. Throws if the caller is unknown. */
export type CallerLookup = (request: Received) => Promise<Identification>

/**
 * Returns a function that finds the client of the API key in x-join-key and charges the request against the rate
 * limits. If the contract requires a user, `findSession` finds the session in the Authorization header. If anyone may
 * call the endpoint, nothing is identified. The function throws `missing_api_key` or `invalid_api_key` before the
 * charge. `findSession` throws `missing_session` or `invalid_session`.
 */
export function createCallerLookup(
  { caller, budget: ownBudget }: EndpointContract,
  env: Partial<Env<'clients' | 'users' | 'cache'>>,
): CallerLookup {
  if (caller === 'anyone') return async () => ({})

  // The cast is safe: `listUses` adds these tables to every contract whose caller is identified.
  const { clients, users, cache } = env as Env<'clients' | 'users' | 'cache'>
  const findKey = createClientLookup({ get: clientsStore(openTable(clients)).get, now: Date.now })
  const { charge, findRefusal } = createMeter(createLeases({ take: leasesStore(openTable(cache)).take, now: Date.now }))
  const budget = ownBudget ?? 'requests'
  const identifyKey = async ({ headers, requestContext }: Received) => {
    const {
      client,
      key: { keyId, limits },
    } = await findKey(headers['x-join-key'])
    const id = `${client.clientId}#${keyId}`
    // Keys with the scope `webhooks` are on a client's server, which calls for many users from one network. So the
    // network's limit does not count for them.
    const isOnServer = limits.scopes.includes('webhooks')
    const network = `${id}#${sha256(networkOf(requestContext.http.sourceIp))}`
    const payers: Payer[] = [...(isOnServer ? [] : [{ who: 'network' as const, id: network }]), { who: 'key', id }]
    const { rate } = limits
    const paidBy =
      (all: readonly Payer[]): PayFor =>
      (units, purpose = 'sources') => {
        const payment: Charge = {
          payers: all,
          rate,
          purpose: purpose === 'quotes' && ownBudget === 'withdrawals' ? 'withdrawalQuotes' : purpose,
          units,
        }
        return { pay: async () => void (await charge(payment)), findRefusal: () => findRefusal(payment) }
      }
    const charging = charge({ payers, rate, purpose: budget, units: 1 })
    const admission = charging.then(({ headers }) => headers)
    // A middleware awaits this promise later. Until then, this handler prevents that a refused charge counts as an
    // unhandled rejection.
    admission.catch(() => {})
    const withSession = async (session: Session) => {
      const user: Payer = { who: 'session', id: `${id}#${session.id}` }
      try {
        await charge({ payers: [user], rate, purpose: budget, units: 1 })
      } catch (refusal) {
        charging.then(({ giveBack }) => giveBack()).catch(() => {})
        throw refusal
      }
      return { session, payFor: paidBy([user, ...payers]) }
    }
    return { identified: { client, limits, admission, payFor: paidBy(payers) }, withSession }
  }
  if (caller === 'client') return async (request) => (await identifyKey(request)).identified

  const sessions = { table: openTable(users), type: 'SESSION', schema: Session } as const
  const findSession = createSessionLookup({ get: (hash) => getExpiringItem(sessions, hash), now: Date.now })
  return async (request) => {
    const { identified, withSession } = await identifyKey(request)
    const { clientId } = identified.client
    return {
      ...identified,
      findSession: async () => withSession(await findSession(request.headers['authorization'], clientId)),
    }
  }
}
