import { Resolver } from 'node:dns/promises'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type RequestOptions, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { findReachIssue, isReachable, type WebhookReach } from './reach.ts'
import type { SendFailure, SendResult } from './sent.ts'

/** Sends a body to a URL; never throws. */
export type Send = (
  url: string,
  delivery: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<SendResult>

/** Resolves a name to its IPv4 addresses; to none if it has none or DNS is late. */
type Resolve = (hostname: string) => Promise<readonly string[]>

type Options = {
  readonly reach: WebhookReach
  /** Default: DNS, or 127.0.0.1 on one machine. */
  readonly resolve?: Resolve
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly request?: (url: URL, options: RequestOptions) => ClientRequest
  /** Maximum for DNS, connection and response headers. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5_000
const MAX_HEADER_BYTES = 16 * 1024
/** Time to try each address but the last: longer than the second after which TCP repeats its SYN. */
const SOCKET = { autoSelectFamilyAttemptTimeout: 1_500 }
const USER_AGENT = 'Vaultline-Webhooks/1'

/**
 * Creates the sender of deliveries. It posts over a new connection, only to addresses within reach, whatever names or responses say. A 2xx
 * response is a success; its body is not read. It follows no redirect.
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
    // An import would load undici, 30 ms of a cold start. Only the local service sends by HTTP.
    const ask = url.protocol === 'http:' ? process.getBuiltinModule('node:http').request : request
    const { promise, resolve: settle } = Promise.withResolvers<SendResult>()
    const sent = ask(url, {
      method: 'POST',
      // A kept connection could lead to an address that the name no longer has.
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
    // The option `timeout` would start again with each byte.
    const timer = setTimeout(() => end({ delivered: false, reason: 'timeout' }), timeoutMs)
    sent.on('error', (error) => end({ delivered: false, reason: reasonOf(error) }))
    sent.on('response', (answer) => end(buildSendResult(answer, now())))
    // A host could otherwise keep the function busy with 1xx responses and delay other deliveries.
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

/** Maximum number of interim responses (1xx); a server sends one or two. */
const MAX_INTERIM = 5

const FAMILY = 4

/** Milliseconds that a DNS server may take, and the number of tries. */
const DNS = { timeout: 1_500, tries: 2 }

/**
 * Resolves a name by DNS. Silent name servers would block the four threads of the system's lookup. IPv4 only: functions have no IPv6 route.
 */
const resolveByDns: Resolve = (hostname) => new Resolver(DNS).resolve4(hostname).catch(() => [])

/** Resolves `localhost` (RFC 6761, 6.3), the only name that the local service sends to. */
const resolveLocally: Resolve = async () => ['127.0.0.1']

/** Error for a name without an address, or with one that is not allowed. */
class UnreachableError extends Error {
  readonly reason: SendFailure

  constructor(reason: SendFailure) {
    super(reason)
    this.reason = reason
  }
}

/**
 * Builds a socket's lookup, the only source of its addresses; it throws if any address is not reachable. Sockets do not look up addresses.
 */
function createLookup(reach: WebhookReach, resolve: Resolve): LookupFunction {
  const lookUp = async (hostname: string) => {
    const addresses = await resolve(hostname)
    const [first] = addresses
    if (!first) throw new UnreachableError('unresolved')
    if (!addresses.every((address) => isReachable(address, reach))) throw new UnreachableError('not_allowed')
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
