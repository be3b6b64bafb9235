import type { Errors } from './api.ts'
import { toPrintable } from './printable.ts'
import type { Reason } from './refusal.ts'

/** API's address, and the caller's credentials. */
export type Client = {
  /** Base URL of the API, such as `https://api.example.com`. */
  readonly url: string
  /** API key, sent as `x-join-key`. */
  readonly key: string
  /** Token of a user's login session; undefined while no user is logged in. */
  readonly session?: string | undefined | (() => string | undefined)
  /** Replaces the platform's own `fetch`. */
  readonly fetch?: typeof fetch
  /** Milliseconds to wait for each response; 30,000 by default. */
  readonly timeoutMs?: number
}

/** Options of a call. Aborting the signal ends the call early. */
export type CallOptions = { readonly signal?: AbortSignal | undefined }

/** Outcome of a call; a call never throws. */
export type Result<Data, Code extends string = string> = Success<Data> | Failure<Code>

/** Result of a successful call, with the data of the response. */
export type Success<Data> = {
  readonly ok: true
  readonly data: Data
  /** Id by which the service's operator finds the request in the log. */
  readonly requestId: string
  /** Age of the response's data on arrival; 0 for responses that are never cached. */
  readonly ageMs: number
  /** True if the data is older than intended because its source cannot be reached. */
  readonly isStale: boolean
}

/** Result of a failed call, with its error. */
export type Failure<Code extends string = string> = { readonly ok: false; readonly error: ApiError<Code> | CallError }

/**
 * One problem of an input: the request's field, and the problem in words. `atLeast` and `atMost` are the limits of a valid amount in the
 * token's smallest unit, if known.
 */
export type ErrorDetail = {
  readonly field: string
  readonly issue: string
  readonly atLeast?: string
  readonly atMost?: string
}

/** Error that the API returned. Match on `code`; `message` says what the caller can do. */
export type ApiError<Code extends string> = Code extends Code
  ? {
      readonly code: Code
      readonly status: Code extends keyof Errors ? Errors[Code] : number
      readonly message: string
      /** Every problem of the input, if the input caused the error; else empty. */
      readonly details: readonly ErrorDetail[]
      readonly requestId: string
      /** Milliseconds to wait before the next try; undefined if waiting does not help by itself. */
      readonly retryAfterMs: number | undefined
    }
  : never

/**
 * Error between the caller and the API. `network`: no response. `timeout`: no response in time. `aborted`: the caller's own signal ended
 * the call. `unverified`: a verifying `fetch` refused the response. `throttled`: the API's gateway refused the request. `unexpected`: the
 * response did not come from the API.
 */
export type CallError = {
  readonly code: 'network' | 'timeout' | 'aborted' | 'unverified' | 'throttled' | 'unexpected'
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  readonly message: string
  readonly details: readonly []
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
  /** Reason why a verifying `fetch` refused the response; only for `unverified`. */
  readonly reason?: Reason | undefined
}

/** Function that calls one endpoint of the API; never throws. */
export type Operation<Input, Data, Code extends string> = {
  (client: Client, input: Input, options?: CallOptions): Promise<Result<Data, Code>>
  /** Unique name of the operation, such as `GET /defi-vaults/v1/vaults`. */
  readonly route: string
  /** Name of the response field that holds the items of a paginated list. */
  readonly items: string | undefined
}

/**
 * Description of an operation's request and response. `query` and `headers` name the input fields that the request
 * sends there. `items` names the response's field with a paginated list. `isEmpty` means that the response has no body.
 */
type InputPlaces = {
  readonly query?: readonly string[]
  readonly headers?: readonly string[]
  readonly items?: string
  readonly isEmpty?: boolean
}

/** Milliseconds before each retry of a failed GET, unless the response names a pause. */
const PAUSES_MS = [500, 1000, 2000]
const RETRIED_STATUSES = [429, 502, 503, 504]
/** Longest delay of a JavaScript timer. A timer with a longer delay would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** Milliseconds between two polls if the response asks for no pause at all (0). */
const MIN_PAUSE_MS = 250
/** Longest pause before an automatic retry. For a longer one, the call returns the error and the caller decides. */
const MAX_PAUSE_MS = 10_000

/** Creates an operation from its HTTP route. It tries a GET up to four times, and any other method only once. */
export function operation<Input, Data, Code extends string>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { query = [], headers = [], items, isEmpty = false }: InputPlaces = {},
): Operation<Input, Data, Code> {
  const call = async (client: Client, input: Input, { signal }: CallOptions = {}): Promise<Result<Data, Code>> => {
    // The cast is safe because an input is an object or undefined, which the type parameter cannot express.
    const request = buildRequest(client, { method, path, query, headers }, { ...(input as object) })
    for (const pause of method === 'GET' ? PAUSES_MS : []) {
      const result = await send<Data, Code>(client, request, isEmpty, signal)
      if (result.ok) return result
      const { code, status, retryAfterMs = pause } = result.error
      const mayHelp = code === 'network' || RETRIED_STATUSES.includes(status)
      if (!mayHelp || retryAfterMs > MAX_PAUSE_MS) return result
      await sleep(retryAfterMs, signal)
    }
    return send(client, request, isEmpty, signal)
  }
  return Object.assign(call, { route: `${method} ${path}`, items })
}

type Request = { readonly url: string; readonly init: RequestInit }

function buildRequest(
  { url, key, session }: Client,
  { method, path, query = [], headers = [] }: InputPlaces & { readonly method: string; readonly path: string },
  input: Record<string, unknown>,
): Request {
  const take = (name: string) => {
    const { [name]: value } = input
    delete input[name]
    return value === undefined || value === null ? undefined : String(value)
  }
  const filled = path.replace(/{(\w+)}/g, (_, name) => encodeSegment(take(name) ?? ''))
  const queryParts = query.flatMap((name) => {
    const value = take(name)
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]
  })
  const token = typeof session === 'function' ? session() : session
  const sent: Record<string, string> = { 'x-join-key': key }
  if (token !== undefined) sent['authorization'] = `Bearer ${token}`
  for (const name of headers) {
    const value = take(name)
    if (value !== undefined) sent[name] = value
  }
  const hasBody = method === 'POST'
  if (hasBody) sent['content-type'] = 'application/json'
  return {
    url: `${url.replace(/\/$/, '')}${filled}${queryParts.length > 0 ? `?${queryParts.join('&')}` : ''}`,
    init: { method, headers: sent, ...(hasBody && { body: JSON.stringify(input) }) },
  }
}

/** Encodes a segment of a URL's path. URL parsers resolve `.` and `..` even if encoded, so these are encoded twice. */
function encodeSegment(text: string): string {
  return /^\.\.?$/.test(text) ? text.replaceAll('.', '%252E') : encodeURIComponent(text)
}

async function send<Data, Code extends string>(
  { fetch = globalThis.fetch, timeoutMs = 30_000 }: Client,
  { url, init }: Request,
  isEmpty: boolean,
  signal: AbortSignal | undefined,
): Promise<Result<Data, Code>> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, Math.min(timeoutMs, MAX_TIMER_MS))
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    const response = await fetch(url, { ...init, signal: controller.signal })
    return parse(response, await response.text(), isEmpty)
  } catch (error) {
    if (signal?.aborted) return createFailure('aborted', 'The caller aborted the call.')
    if (controller.signal.aborted) return createFailure('timeout', `No response within ${timeoutMs} ms.`)
    if (error instanceof Error && error.name === 'UnverifiedAnswer') {
      const requestId = 'requestId' in error && typeof error.requestId === 'string' ? error.requestId : undefined
      const reason = 'reason' in error && typeof error.reason === 'string' ? (error.reason as Reason) : undefined
      return createFailure('unverified', error.message, { requestId, reason })
    }
    return createFailure('network', `The API cannot be reached: ${error instanceof Error ? error.message : error}`)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

function parse<Data, Code extends string>(
  { status, ok, headers }: Response,
  text: string,
  isEmpty: boolean,
): Result<Data, Code> {
  const requestId = headers.get('x-request-id') ?? undefined
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfterMs = Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined
  const body = parseJson(text)
  if (ok && (isEmpty ? text === '' : body !== undefined)) {
    return {
      ok,
      // The cast is not checked here: the service promises this type, and its tests check that.
      data: body as Data,
      requestId: requestId ?? '',
      ageMs: Number(headers.get('age') ?? 0) * 1000,
      isStale: headers.get('x-stale') === 'true',
    }
  }
  const { success, code: errorCode } = body ?? {}
  if (success === false && typeof errorCode === 'string' && /^\w+$/.test(errorCode)) {
    // Errors are not signed, so an attacker on the network may have written this one. So unprintable characters are removed.
    const [message, details] = [toPrintable(body?.message), readDetails(body?.details)]
    return {
      ok: false,
      // The cast selects a member of the union by a code known only at runtime. A newer service may send an unknown code.
      error: { code: errorCode, status, message, details, requestId, retryAfterMs } as unknown as ApiError<Code>,
    }
  }
  const code = status === 429 ? 'throttled' : 'unexpected'
  const message =
    status === 429
      ? 'All callers together send the API too many requests.'
      : `The response with status ${status} is not from the API.`
  return createFailure(code, message, { status, requestId, retryAfterMs })
}

type ErrorBody = {
  readonly success?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly details?: unknown
}

function parseJson(text: string): ErrorBody | undefined {
  try {
    const body = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

function readDetails(details: unknown): ErrorDetail[] {
  if (!Array.isArray(details)) return []
  return details.flatMap((detail: Partial<Record<keyof ErrorDetail, unknown>> | null) => {
    const { field, issue, atLeast, atMost } = detail ?? {}
    if (typeof field !== 'string' || typeof issue !== 'string') return []
    return {
      field: toPrintable(field),
      issue: toPrintable(issue),
      ...(isDigits(atLeast) && { atLeast }),
      ...(isDigits(atMost) && { atMost }),
    }
  })
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,78}$/.test(value)
}

/** Builds the result of a call that failed between the caller and the API. */
export function createFailure(
  code: CallError['code'],
  message: string,
  { status = 0, requestId, retryAfterMs, reason }: Partial<CallError> = {},
): Failure<never> {
  return {
    ok: false,
    error: { code, status, message, details: [], requestId, retryAfterMs, ...(reason && { reason }) },
  }
}

/**
 * Returns the pause before the next poll, in milliseconds: the pause `ms` that the response names. For 0 it is
 * MIN_PAUSE_MS, and it never exceeds the longest delay of a timer.
 */
export function pauseFor(ms: number): number {
  return ms > 0 ? Math.min(ms, MAX_TIMER_MS) : MIN_PAUSE_MS
}

/** Waits for `ms` milliseconds, or returns early when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, signal?.aborted ? 0 : Math.min(ms, MAX_TIMER_MS))
    signal?.addEventListener('abort', done)
  })
}

/** Returns the data of a successful result. Throws a CallFailure otherwise, for scripts and for callers that catch errors. */
export function orThrow<Data, Code extends string>(result: Result<Data, Code>): Data {
  if (result.ok) return result.data
  throw new CallFailure(result.error)
}

/** Error of an API call, as an exception. */
export class CallFailure extends Error {
  readonly error: Failure['error']
  constructor(error: Failure['error']) {
    super(`${error.code}: ${error.message}`)
    this.name = 'CallFailure'
    this.error = error
  }
}
