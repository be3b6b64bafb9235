import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import type { Aged } from '../cache/cache.ts'
import { AppError, codeOf } from '../errors.ts'
import { logger } from '../logger.ts'
import type { Signer } from '../signing/keys.ts'
import type { Identification, Identify } from './callers.ts'
import { type EndpointContract, isSafe, isSigned, scopeOf } from './contract.ts'
import { openReplies } from './open-replies.ts'
import { errorReply, jsonReply } from './replies.ts'
import { parseRequest } from './request.ts'
import { requireSignablePath, signatureHeaders, verifyContentDigest } from './signature.ts'

/** The headers of requests as they came: `requestValidation` puts those of the contract in their place. */
const headersAsSent = new WeakMap<object, APIGatewayProxyEventV2['headers']>()

type HttpMiddleware = MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Error, Context>

/** Gives every reply its `x-request-id` and logs one line per request: route, status, duration in milliseconds. */
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

/** Finds what signs; undefined where nothing does. */
export type FindSigner = () => Promise<Signer | undefined>

/**
 * Signs the successes that have a body, over the bytes that leave: nothing that changes them may come after this. What signs
 * is looked up while the work goes on. `now` is in epoch milliseconds.
 */
export function signedReplies(findSigner: FindSigner, now: () => number): HttpMiddleware {
  return {
    before: () => {
      // A failure is told when there is something to sign.
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

/** Takes the body off the replies to HEAD. */
export function headReplies(): HttpMiddleware {
  const finish: HttpMiddleware['after'] = ({ event, response }) => {
    if (!response || event.requestContext.http.method !== 'HEAD') return
    delete response.body
    delete response.isBase64Encoded
  }
  return { after: finish, onError: finish }
}

/** Turns what was thrown into the reply: an AppError into its own status and text, anything else into an `internal` that says nothing of the inside. */
export function errorReplies(): HttpMiddleware {
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

/**
 * Adds to the event who calls: `client` with its key's `limits`, and `session` where a user does. Throws when that cannot be
 * known, and `insufficient_scope`. Work that is not safe waits until its key may make the request; all else goes on meanwhile.
 */
export function callerIdentification(contract: EndpointContract, identify: () => Promise<Identify>): HttpMiddleware {
  const scope = scopeOf(contract)
  return {
    before: async ({ event }) => {
      const { findSession, ...caller } = await (await identify())(event)
      Object.assign(event, caller)
      if (scope && !caller.limits?.scopes.includes(scope)) throw new AppError('insufficient_scope')
      // A refusal that this container knows of is there already: nothing is done for it.
      await Promise.race([caller.admission, undefined])
      const [ofUser] = await Promise.all([findSession?.(), isSafe(contract) ? undefined : caller.admission])
      Object.assign(event, ofUser)
    },
  }
}

/** Has nothing leave that the key may not ask for now, an error neither: throws `rate_limit_exceeded` in its place. */
export function admittedReplies(): HttpMiddleware {
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

/** Tells on every reply to a key where it stands: no signature is about that. */
export function rateLimitHeaders(): HttpMiddleware {
  const finish: HttpMiddleware['after'] = async ({ event, response }) => {
    // A refusal has them already.
    const standing = await admissionIn(event)?.catch(() => undefined)
    if (response && standing) response.headers = { ...response.headers, ...standing }
  }
  return { after: finish, onError: finish }
}

/** What `callerIdentification` has put there; nothing where no key is known. */
function admissionIn(event: APIGatewayProxyEventV2 & Pick<Identification, 'admission'>): Identification['admission'] {
  return event.admission
}

/**
 * Puts the parsed `headers`, `path`, `query` and `body` of the contract in the event's place. Throws on what does not fit,
 * and on what an answer could not be signed for.
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

/** Turns the work's reply into the HTTP response that the contract says, one that can be old with its age. */
export function replyEncoding(contract: EndpointContract, now: () => number): HttpMiddleware {
  const { response: schema, status = 200, cacheControl, aged } = contract
  const encode = (value: unknown) => schema.encode(value)
  const openReply = isSigned(contract) ? undefined : openReplies(encode)
  return {
    after: (request) => {
      const reply: unknown = request.response
      // The contract says whether its work's replies have an age.
      const { value, ...age } = aged ? (reply as Aged<unknown>) : { value: reply }
      const told = 'asOf' in age ? ageHeaders(cacheControl, age, now()) : { 'cache-control': cacheControl }
      // What a browser may keep for one page is without the headers that let another one read it.
      const vary = cacheControl !== 'no-store' && { vary: 'origin' }
      const headers = { ...told, ...vary }
      request.response = openReply
        ? openReply(status, value, headers, headersAsSent.get(request.event) ?? {})
        : jsonReply(status, encode(value), headers)
    },
  }
}

/**
 * The age, and what caches may do with it: they take it off max-age (RFC 9111, 4.2), so that it is added there; an answer
 * past its time is asked for anew each time.
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

/** A cause's name and message; only causes that we made ourselves carry a message known to be free of secrets. */
function reason(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.message : undefined
}
