import { Resolver } from 'node:dns/promises'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type RequestOptions, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { SOCKET } from '../core/outbound.ts'
import { findReachIssue, isAllowedAddress, type WebhookReach } from './reach.ts'
import type { SendFailure, SendResult } from './sent.ts'

/** Posts a body to a webhook's URL. Failures are returned, never thrown. */
export type Send = (
  url: string,
  delivery: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<SendResult>

/** Resolves a host name to its IPv4 addresses. The list is empty if there are none or DNS is late. */
type Resolve = (hostname: string) => Promise<readonly string[]>

type Options = {
  readonly reach: WebhookReach
  /** Resolver of host names: DNS by default, or always 127.0.0.1 if only the local machine is allowed. */
  readonly resolve?: Resolve
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
  readonly request?: (url: URL, options: RequestOptions) => ClientRequest
  /** Maximum milliseconds for DNS, connection and response headers together. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5_000
const MAX_HEADER_BYTES = 16 * 1024
const USER_AGENT = 'Vaultline-Webhooks/1'

/**
 * Creates the function that sends deliveries. Each delivery opens a new connection, and only to an allowed address,
 * whatever the host name or a response says. A 2xx response is a success; its body is not read. Redirects are not
 * followed.
 */
export function createSender({
  reach,
  now,
  resolve = reach === 'loopback' ? resolveLocally : resolveByDns,
  request = requestHttps,
  timeoutMs = TIMEOUT_MS,
}: Options): Send {
  const lookup = createLookup(reach, resolve)
  return (address, { headers, body }) => {
    const url = URL.parse(address)
    if (!url || findReachIssue(url, reach) !== undefined)
      return Promise.resolve({ delivered: false, reason: 'not_allowed' })
    // An import of node:http would load undici, which adds 30 ms to a cold start. Only the local service sends by HTTP.
    const ask = url.protocol === 'http:' ? process.getBuiltinModule('node:http').request : request
    const { promise, resolve: settle } = Promise.withResolvers<SendResult>()
    const sent = ask(url, {
      method: 'POST',
      // A connection is not reused, because the host name may lead to another address at the next delivery.
      agent: false,
      lookup,
      ...SOCKET,
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': USER_AGENT,
        ...headers,
      },
    })
    const end = (result: SendResult) => {
      clearTimeout(timer)
      settle(result)
      sent.destroy()
    }
    // A timer limits the whole request, because the option `timeout` would start again with each byte.
    const timer = setTimeout(() => end({ delivered: false, reason: 'timeout' }), timeoutMs)
    sent.on('error', (error) => end({ delivered: false, reason: reasonOf(error) }))
    sent.on('response', (answer) => end(buildSendResult(answer, now())))
    // Interim responses (1xx) are limited, because a server could otherwise keep the function busy and delay other deliveries.
    let interim = 0
    sent.on('information', () => {
      interim += 1
      if (interim > MAX_INTERIM) end({ delivered: false, reason: 'bad_answer' })
    })
    sent.on('upgrade', () => end({ delivered: false, reason: 'bad_answer' }))
    sent.end(body)
    return promise
  }
}

/** Maximum number of interim responses (1xx) to a delivery. Servers send one or two. */
const MAX_INTERIM = 5

const FAMILY = 4

/** Milliseconds that a DNS server may take, and the number of tries. */
const DNS = { timeout: 1_500, tries: 2 }

/**
 * Resolves a host name by DNS directly, because silent name servers would block the four threads of the system's
 * lookup. Only IPv4 is used, because Lambda functions have no IPv6 route.
 */
const resolveByDns: Resolve = (hostname) => new Resolver(DNS).resolve4(hostname).catch(() => [])

/** Resolves `localhost` (RFC 6761, 6.3), the only name that the local service sends to. */
const resolveLocally: Resolve = async () => ['127.0.0.1']

class UnreachableError extends Error {
  readonly reason: SendFailure

  constructor(reason: SendFailure) {
    super(reason)
    this.reason = reason
  }
}

/**
 * Builds the lookup from which a socket gets its addresses. The lookup fails if any address is not allowed. Sockets
 * skip the lookup for URLs with an IP address, which `findReachIssue` checks.
 */
function createLookup(reach: WebhookReach, resolve: Resolve): LookupFunction {
  const lookUp = async (hostname: string) => {
    const addresses = await resolve(hostname)
    const [first] = addresses
    if (!first) throw new UnreachableError('unresolved')
    if (!addresses.every((address) => isAllowedAddress(address, reach))) throw new UnreachableError('not_allowed')
    return { first, all: addresses.map((address) => ({ address, family: FAMILY })) }
  }
  return (hostname, options, callback) => {
    lookUp(hostname).then(
      ({ first, all }) => (options.all ? callback(null, all) : callback(null, first, FAMILY)),
      (error: Error) => callback(error, ''),
    )
  }
}

function buildSendResult({ statusCode: status = 0, headers }: IncomingMessage, now: number): SendResult {
  if (status >= 200 && status < 300) return { delivered: true, status }
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now)
  return {
    delivered: false,
    reason: status >= 300 && status < 400 ? 'redirect' : 'status',
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** Parses `Retry-After` in seconds or as a date (RFC 9110, 10.2.3); returns milliseconds. */
function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return ms >= 0 ? ms : undefined
}

function reasonOf(error: Error & { readonly code?: string }): SendFailure {
  if (error instanceof UnreachableError) return error.reason
  const { code = '' } = error
  if (code.startsWith('HPE_')) return 'bad_answer'
  if (/^(ERR_TLS|ERR_SSL|CERT|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code)) return 'tls'
  return 'connection'
}
