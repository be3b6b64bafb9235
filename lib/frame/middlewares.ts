import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import type { Aged } from '../cache/cache.ts'
import { AppError, codeOf } from '../core/errors.ts'
import { logger } from '../core/logger.ts'
import type { Signer } from '../signing/keys.ts'
import type { CallerLookup, Identification } from './callers.ts'
import { type EndpointContract, isSigned, mayStartBeforeCharge, scopeOf } from './contract.ts'
import { createReplyBuilder } from './open-replies.ts'
import { errorReply, jsonReply } from './replies.ts'
import { parseRequest } from './request.ts'
import { requireSignablePath, signatureHeaders, verifyContentDigest } from './signature.ts'

/**
 * Original headers of each request. `requestValidation` replaces the event's headers with those of the contract, but
 * signatures need the original ones.
 */
const headersAsSent = new WeakMap<object, APIGatewayProxyEventV2['headers']>()

// The middlewares below are in the order in which `createHandler` uses them.
type HttpMiddleware = MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Error, Context>

/** Adds the header `x-request-id` to every reply. Logs one line per request: route, status and duration in milliseconds. */
export function requestLog(now: () => number): HttpMiddleware {
  const started = new WeakMap<object, number>()
  const finish: HttpMiddleware['after'] = ({ event, response }) => {
    if (!response) return
    response.headers = { ...response.headers, 'x-request-id': event.requestContext.requestId }
    logger.info('request', {
      route: event.routeKey,
      status: response.statusCode,
      milliseconds: now() - (started.get(event) ?? now()),
    })
  }
  return {
    before: ({ event }) => {
      started.set(event, now())
      logger.appendKeys({ requestId: event.requestContext.requestId })
    },
    after: finish,
    onError: finish,
  }
}

/**
 * Adds headers to every reply that tell the remaining units of the API key's rate limit. Response signatures do not
 * cover these headers.
 */
export function rateLimitHeaders(): HttpMiddleware {
  const finish: HttpMiddleware['after'] = async ({ event, response }) => {
    // The promise rejects if the rate limit refuses the request. This is ignored here, because the error reply then
    // already has the rate-limit headers.
    const rateLimits = await admissionIn(event)?.catch(() => undefined)
    if (response && rateLimits) response.headers = { ...response.headers, ...rateLimits }
  }
  return { after: finish, onError: finish }
}

/** Function that returns the key with which responses are signed; undefined if there is no key. */
export type FindSigner = () => Promise<Signer | undefined>

/**
 * Signs successful responses that have a body. The signature covers the final bytes, so no later middleware may change
 * the body. The key is looked up while the endpoint works. `now` is in epoch milliseconds.
 */
export function replySigning(findSigner: FindSigner, now: () => number): HttpMiddleware {
  return {
    before: () => {
      // Starts the look-up of the key early. Its error is ignored here, because the look-up below throws it again if
      // there is a response to sign.
      findSigner().catch(() => {})
    },
    after: async ({ event, response }) => {
      const { statusCode: status = 200, headers = {}, body } = response ?? {}
      const signer = body === undefined ? undefined : await findSigner()
      if (!response || body === undefined || !signer) return
      const answer = { status, contentType: String(headers['content-type']), body }
      const request = { ...event, headers: headersAsSent.get(event) ?? event.headers }
      response.headers = { ...headers, ...signatureHeaders(request, answer, signer, now()) }
    },
  }
}

/** Removes the body from replies to HEAD requests. */
export function headBodyRemoval(): HttpMiddleware {
  const finish: HttpMiddleware['after'] = ({ event, response }) => {
    if (!response || event.requestContext.http.method !== 'HEAD') return
    delete response.body
    delete response.isBase64Encoded
  }
  return { after: finish, onError: finish }
}

/**
 * Converts an error into an HTTP reply. An AppError becomes its own status and text. Any other error becomes `internal`
 * or `service_unavailable`, without internal details.
 */
export function errorConversion(): HttpMiddleware {
  return {
    onError: (request) => {
      const { error, event } = request
      const known = error instanceof AppError ? error : new AppError(codeOf(error), { cause: error })
      if (known.code === 'internal' || known.code === 'service_unavailable')
        logger.error(known.message, { error: known })
      else logger.warn(known.message, { code: known.code, details: known.details, cause: reason(known.cause) })
      request.response = errorReply(known, event.requestContext.requestId)
    },
  }
}

/** Holds back every reply, even an error, until the rate-limit charge succeeds. If the charge is refused, the reply is the refusal. */
export function chargeConfirmation(): HttpMiddleware {
  return {
    after: async ({ event }) => {
      await admissionIn(event)
    },
    onError: async (request) => {
      await admissionIn(request.event)?.catch((refusal: Error) => {
        request.error = refusal
      })
    },
  }
}

/** Encodes the reply of an endpoint as HTTP response. Adds the age of the data if the contract says `aged`. */
export function replyEncoding(contract: EndpointContract, now: () => number): HttpMiddleware {
  const { response: schema, status = 200, cacheControl, aged } = contract
  const encode = (value: unknown) => schema.encode(value)
  const openReply = isSigned(contract) ? undefined : createReplyBuilder(encode)
  return {
    after: (request) => {
      const reply: unknown = request.response
      // The cast is safe: handlers of contracts with `aged` return replies with an age.
      const { value, ...age } = aged ? (reply as Aged<unknown>) : { value: reply }
      const cacheHeaders = 'asOf' in age ? ageHeaders(cacheControl, age, now()) : { 'cache-control': cacheControl }
      // Responses have the CORS headers of one origin. `Vary` prevents browsers from reusing a cached response for
      // another origin.
      const vary = cacheControl !== 'no-store' && { vary: 'origin' }
      const headers = { ...cacheHeaders, ...vary }
      request.response = openReply
        ? openReply(status, value, headers, headersAsSent.get(request.event) ?? {})
        : jsonReply(status, encode(value), headers)
    },
  }
}

/**
 * Adds the caller to the event: `client`, the API key's `limits`, and the user's `session`. Throws if the caller is
 * unknown, or `insufficient_scope` if the API key lacks the scope. An endpoint with side effects waits for the
 * rate-limit charge. Other endpoints start while the charge is pending.
 */
export function callerIdentification(
  contract: EndpointContract,
  getCallerLookup: () => Promise<CallerLookup>,
): HttpMiddleware {
  const scope = scopeOf(contract)
  return {
    before: async ({ event }) => {
      const { findSession, ...caller } = await (await getCallerLookup())(event)
      Object.assign(event, caller)
      if (scope && !caller.limits?.scopes.includes(scope)) throw new AppError('insufficient_scope')
      // The charge has already rejected if this container knows that the rate limit is used up. Then this race throws,
      // and the endpoint does not start.
      await Promise.race([caller.admission, undefined])
      const [ofUser] = await Promise.all([
        findSession?.(),
        mayStartBeforeCharge(contract) ? undefined : caller.admission,
      ])
      Object.assign(event, ofUser)
    },
  }
}

/**
 * Replaces the event's `headers`, `path`, `query` and `body` with values parsed by the contract. Throws if they do not
 * match the contract. If the response is signed, it also throws for a path that a signature cannot cover.
 */
export function requestValidation(contract: EndpointContract): HttpMiddleware {
  return {
    before: ({ event }) => {
      verifyContentDigest(event)
      const parsed = parseRequest(contract, event)
      if (isSigned(contract)) requireSignablePath(event)
      headersAsSent.set(event, event.headers)
      Object.assign(event, parsed)
    },
  }
}

/** Returns the pending charge of a request against its rate limits; undefined before the caller is identified. */
function admissionIn(event: APIGatewayProxyEventV2 & Pick<Identification, 'admission'>): Identification['admission'] {
  return event.admission
}

/**
 * Builds the caching headers of a reply with an age. Caches subtract the age from max-age (RFC 9111, 4.2). So the age
 * is added to max-age. A stale response gets `no-cache`, so caches request it again each time.
 */
function ageHeaders(
  cacheControl: EndpointContract['cacheControl'],
  { asOf, isStale }: Omit<Aged<unknown>, 'value'>,
  now: number,
) {
  const age = Math.max(0, Math.floor((now - asOf.getTime()) / 1000))
  const kept = cacheControl.replace(/\d+/, (seconds) => (Number(seconds) + age).toString())
  return {
    'cache-control': isStale && cacheControl !== 'no-store' ? 'no-cache' : kept,
    age: age.toString(),
    ...(isStale && { 'x-stale': 'true' }),
  }
}

/** Returns the message of an error's cause for the log. The causes come from this service's own code and contain no secrets. */
function reason(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.message : undefined
}
