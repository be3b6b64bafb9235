import { Resolver } from 'node:dns/promises'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type RequestOptions, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isReachable, type WebhookReach, whyUnreachable } from './reach.ts'
import type { SendFailure, Sent } from './sent.ts'

/** Sends a body to a URL; never throws. */
export type Send = (
  url: string,
  delivery: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<Sent>

/** All IPv4 addresses of a name; none where it has none, or where DNS does not answer in time. */
type Resolve = (hostname: string) => Promise<readonly string[]>

type Options = {
  readonly reach: WebhookReach
  /** How names are looked up; by DNS where nothing else is given. */
  readonly resolve?: Resolve
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly request?: (url: URL, options: RequestOptions) => ClientRequest
  /** How long a delivery may take in all: the name, the connection and the headers of the answer. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5_000
const MOST_HEADER_BYTES = 16 * 1024
/** How long each of several addresses but the last is tried: longer than the second after which TCP asks again. */
const SOCKET = { autoSelectFamilyAttemptTimeout: 1_500 }
const USER_AGENT = 'Vaultline-Webhooks/1'

/**
 * Creates what sends deliveries: by POST, over a connection of their own, to servers within reach and nowhere else, whatever
 * their names and answers say. An answer of 2xx is a success: its body is not read. No redirect is followed.
 */
export function createSender({
  reach,
  now,
  resolve = reach === 'loopback' ? resolveLocally : resolveByDns,
  request = requestHttps,
  timeoutMs = TIMEOUT_MS,
}: Options): Send {
  const lookup = lookupWithin(reach, resolve)
  return (address, { headers, body }) => {
    const url = URL.parse(address)
    if (!url || whyUnreachable(url, reach) !== undefined)
      return Promise.resolve({ delivered: false, reason: 'not_allowed' })
    // Not imported: that would load undici, 30 ms of a cold start, and nothing but this machine is sent to by HTTP.
    const ask = url.protocol === 'http:' ? process.getBuiltinModule('node:http').request : request
    const { promise, resolve: settle } = Promise.withResolvers<Sent>()
    const sent = ask(url, {
      method: 'POST',
      // No connection is kept, so that none is reused that was made while the name had another address.
      agent: false,
      lookup,
      ...SOCKET,
      maxHeaderSize: MOST_HEADER_BYTES,
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': USER_AGENT,
        ...headers,
      },
    })
    const end = (result: Sent) => {
      clearTimeout(timer)
      settle(result)
      sent.destroy()
    }
    // Not by `timeout`, which begins anew with each byte.
    const timer = setTimeout(() => end({ delivered: false, reason: 'timeout' }), timeoutMs)
    sent.on('error', (error) => end({ delivered: false, reason: reasonOf(error) }))
    sent.on('response', (answer) => end(judge(answer, now())))
    // A host that sends nothing else would keep the function busy, and others' deliveries waiting.
    let interim = 0
    sent.on('information', () => {
      interim += 1
      if (interim > MOST_INTERIM) end({ delivered: false, reason: 'bad_answer' })
    })
    sent.on('upgrade', () => end({ delivered: false, reason: 'bad_answer' }))
    sent.end(body)
    return promise
  }
}

/** Answers before the answer (1xx), of which a server sends one or two. */
const MOST_INTERIM = 5

const FAMILY = 4

/** DNS: how long a server may take, in milliseconds, and how often it is asked. */
const DNS = { timeout: 1_500, tries: 2 }

/**
 * The addresses of a name, by DNS. Not by the system's look-up, whose four threads would all wait for names whose servers are
 * silent. IPv4 alone, as functions have no other way out.
 */
const resolveByDns: Resolve = (hostname) => new Resolver(DNS).resolve4(hostname).catch(() => [])

/** The address of the one name that a machine's own service sends to, `localhost`, by RFC 6761, 6.3. */
const resolveLocally: Resolve = async () => ['127.0.0.1']

/** What is thrown for a name that leads where nothing is sent, and for one without an address. */
class UnreachableError extends Error {
  readonly reason: SendFailure

  constructor(reason: SendFailure) {
    super(reason)
    this.reason = reason
  }
}

/**
 * The look-up for a socket, which connects to what it is given and to nothing else: a name of which any address is not
 * reachable has none. Sockets do not look up hosts that are addresses.
 */
function lookupWithin(reach: WebhookReach, resolve: Resolve): LookupFunction {
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

function judge({ statusCode: status = 0, headers }: IncomingMessage, now: number): Sent {
  if (status >= 200 && status < 300) return { delivered: true, status }
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now)
  return {
    delivered: false,
    reason: status >= 300 && status < 400 ? 'redirect' : 'status',
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** Milliseconds, of seconds or of a moment (RFC 9110, 10.2.3). */
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
