import { setTimeout as sleep } from 'node:timers/promises'
import type * as z from 'zod'
import { AppError, badResponse, type UpstreamError } from './errors.ts'
import { parseJson } from './json.ts'
import type { Fetch, FetchedResponse } from './outbound.ts'

/** Dependencies of the outbound HTTP client. */
export type HttpEnvironment = {
  readonly fetch: Fetch
  /** Returns a random number in [0, 1). */
  readonly random: () => number
  /** Returns the milliseconds since a fixed time, such as the start of the process. Only differences are used. */
  readonly now: () => number
}

/** Outbound HTTP request. It is a POST if it has a `body`, which is JSON text, otherwise a GET. */
export type HttpRequest = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Maximum bytes of the response; 32 MiB by default. */
  readonly mostBytes?: number | undefined
}

/** HTTP response: its status, its parsed JSON body, and its Retry-After in seconds. The body of an error is undefined if it is no JSON. */
export type HttpResponse = {
  readonly status: number
  readonly body: unknown
  readonly retryAfterSeconds: number | undefined
}

/** Pause of requests to an external service, which the service has demanded with Retry-After. All callers of the service share it. */
export type Pause = {
  /** Returns the seconds until the pause ends; 0 without a pause. */
  readonly secondsLeft: () => Promise<number>
  readonly begin: (seconds: number) => Promise<void>
}

/**
 * External service: its name in logs, its base URL, its headers, and the deadline of a request (3 s by default). No
 * requests are sent during its `pause`.
 */
export type UpstreamOptions = {
  readonly name: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly deadlineMs?: number
  readonly pause?: Pause
  /** True if the service limits requests per second. A 429 without Retry-After is then retried once and begins no pause. */
  readonly isLimitedBySecond?: boolean
}

/** Request to a path below an external service's base URL. It is a POST if it has a `body`, otherwise a GET. */
export type UpstreamRequest = {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/**
 * Response of an external service, a success or an error that the caller interprets. Never a 429, a 5xx or an error
 * with Retry-After, which throw.
 */
export type UpstreamResponse = Pick<HttpResponse, 'status' | 'body'>

/**
 * Function that calls an external service. Throws AppError `upstream_timeout` or `upstream_unavailable`, or
 * `upstream_bad_answer` for a success that is not JSON. During a pause it sends no request and throws
 * `upstream_unavailable` with Retry-After. Other error responses are returned, and the caller interprets them.
 */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamResponse>

/** Default deadline in milliseconds for a request including its retries. */
export const DEADLINE_MS = 3_000
const MAX_JITTER_MS = 100
/** Fraction of the remaining time after which a server counts as slow. Another server is then called in parallel. */
const SLOW_SHARE = 0.55
/** Maximum seconds of a pause that an external service can demand. A longer pause is shortened. */
export const MAX_RETRY_AFTER_SECONDS = 600
/** Seconds of the pause after a 429 without Retry-After. Rate limits usually count per minute. */
const PAUSE_SECONDS = 30
const MAX_BYTES = 32 * 2 ** 20

type FailedTryOptions = { readonly isTransient?: boolean; readonly retryAfterSeconds?: number | undefined }

/** Failure of one attempt of a request. `isTransient` is true if a retry at the same server may succeed. */
export class FailedTry extends Error {
  readonly code: UpstreamError
  readonly isTransient: boolean
  readonly retryAfterSeconds: number | undefined

  constructor(code: FailedTry['code'], why: string, { isTransient = true, retryAfterSeconds }: FailedTryOptions = {}) {
    super(why)
    this.code = code
    this.isTransient = isTransient
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Failure because a response is larger than `mostBytes`. `beginning` is the text received up to that limit. */
export class ResponseTooLarge extends FailedTry {
  readonly beginning: string

  constructor(mostBytes: number, beginning: string) {
    super('upstream_bad_answer', `more than ${mostBytes} bytes`, { isTransient: false })
    this.beginning = beginning
  }
}

/**
 * Sends one HTTP request and returns its response, whatever the status. Throws FailedTry if there is no connection,
 * after the deadline, for a redirect, or for a success that is not JSON. Throws ResponseTooLarge if the body exceeds
 * `mostBytes`.
 */
export async function sendOnce(
  { fetch }: Pick<HttpEnvironment, 'fetch'>,
  { url, headers = {}, body, mostBytes = MAX_BYTES }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  try {
    const response = await fetch(url, {
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { method: 'POST', body }),
      // Redirects are not followed, because only the configured server is trusted.
      redirect: 'manual',
      signal,
    })
    const { status } = response
    if (status >= 300 && status < 400) {
      // An unread body would keep the connection occupied, so the body is cancelled.
      await response.body?.cancel()
      throw new FailedTry('upstream_bad_answer', `HTTP status ${status}`, { isTransient: false })
    }
    return { status, body: await readJson(response, mostBytes), retryAfterSeconds: retryAfter(response.headers) }
  } catch (error) {
    if (error instanceof FailedTry) throw error
    if (signal.aborted) throw new FailedTry('upstream_timeout', 'no answer in time')
    throw new FailedTry('upstream_unavailable', `no connection${codeOf(error)}`)
  }
}

/** Returns an error's code in parentheses, such as ` (ECONNRESET)`. The code contains no URL, but the message may. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? ` (${error.code})` : ''
}

const OVER = new Error('another try has succeeded')

type Try<T> = (signal: AbortSignal) => Promise<T>

/**
 * Returns the first success of several attempts, with one deadline for all. After a failure and a random pause the next
 * attempt starts, if `shouldContinue` returns true. With `slowMs`, the next attempt also starts while a slow one still
 * runs. An attempt is slow after `slowMs`, or after 55 % of the remaining time if that is less. Throws the FailedTry of
 * the last attempt.
 */
export async function firstSuccess<T>(
  { random, now }: HttpEnvironment,
  tries: readonly Try<T>[],
  options: {
    readonly deadline: number
    readonly slowMs?: (index: number) => number
    readonly shouldContinue?: (failure: FailedTry) => boolean
  },
): Promise<T> {
  const { deadline, slowMs, shouldContinue = ({ isTransient }) => isTransient } = options
  const isOver = new AbortController()

  async function run([first, ...others]: readonly Try<T>[]): Promise<T> {
    if (!first) throw new FailedTry('upstream_unavailable', 'no try is left')
    const left = Math.max(1, Math.floor(deadline - now()))
    const answer = first(AbortSignal.any([isOver.signal, AbortSignal.timeout(left)]))
    if (others.length === 0) return answer
    const slowAfter = slowMs && Math.min(left * SLOW_SHARE, slowMs(tries.length - others.length - 1))
    if (slowAfter !== undefined && (await isSlow(answer, slowAfter, isOver.signal))) {
      return Promise.any([answer, run(others)]).catch(({ errors }: AggregateError) => {
        throw errors.at(-1)
      })
    }
    return answer.catch(async (failure: unknown) => {
      const isTime = deadline - now() - MAX_JITTER_MS >= MAX_JITTER_MS
      if (!(failure instanceof FailedTry && shouldContinue(failure) && isTime)) throw failure
      await sleep(random() * MAX_JITTER_MS)
      return run(others)
    })
  }

  try {
    return await run(tries)
  } finally {
    // All calls of `abort` pass the same error as reason. Without a reason, each call would create an error with a
    // stack trace.
    isOver.abort(OVER)
  }
}

async function isSlow(promise: Promise<unknown>, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const closed = Promise.allSettled([promise]).then(() => false)
  return Promise.race([closed, sleep(milliseconds, true, { signal, ref: false })])
}

/**
 * Converts a failed attempt into an AppError. Its cause, which is logged, contains the server's name but not the URL,
 * which can contain a key.
 */
export function toAppError({ code, message, retryAfterSeconds }: FailedTry, name: string): AppError {
  return new AppError(code, {
    cause: new Error(`${name}: ${message}`),
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': retryAfterSeconds.toString() } }),
  })
}

/**
 * Creates the function that calls an external service. Each call has one deadline, and at most one retry after a random
 * pause. A 429, or an error with Retry-After, is not retried but begins the service's pause (exception:
 * `isLimitedBySecond`).
 */
export function createUpstream(options: UpstreamOptions, environment: HttpEnvironment): Upstream {
  const { name, url, headers = {}, deadlineMs = DEADLINE_MS, pause, isLimitedBySecond = false } = options
  return async ({ path, query = {}, body }) => {
    const search = new URLSearchParams(query).toString()
    const request = {
      url: `${url}${path}${search && `?${search}`}`,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const ask = async (signal: AbortSignal) => {
      const answer = await sendOnce(environment, request, signal)
      const { status } = answer
      const isLimit = status === 429
      const retryAfterSeconds = answer.retryAfterSeconds ?? (isLimit && !isLimitedBySecond ? PAUSE_SECONDS : undefined)
      if (status < 400 || (status < 500 && !isLimit && retryAfterSeconds === undefined))
        return { status, body: answer.body }
      throw new FailedTry('upstream_unavailable', `HTTP status ${status}`, {
        isTransient: retryAfterSeconds === undefined,
        retryAfterSeconds,
      })
    }
    const secondsLeft = (await pause?.secondsLeft()) ?? 0
    if (secondsLeft > 0) {
      const isPaused = new FailedTry('upstream_unavailable', 'paused', { retryAfterSeconds: secondsLeft })
      throw toAppError(isPaused, name)
    }
    try {
      return await firstSuccess(environment, [ask, ask], { deadline: environment.now() + deadlineMs })
    } catch (error) {
      if (!(error instanceof FailedTry)) throw error
      if (error.retryAfterSeconds !== undefined) await pause?.begin(error.retryAfterSeconds)
      throw toAppError(error, name)
    }
  }
}

/** Parses the body of a successful response with the schema. Throws `upstream_bad_answer` for an error response or another shape. */
export function parseResponseBody<Schema extends z.ZodType>(
  schema: Schema,
  { status, body }: UpstreamResponse,
): z.output<Schema> {
  const parsed = status < 300 ? schema.safeParse(body) : undefined
  if (parsed?.success) return parsed.data
  throw badResponse(parsed ? 'a response of another shape' : `HTTP status ${status}`)
}

/** Parses the rows of a response with the schema. Omits rows that do not match. */
export function parseRows<Schema extends z.ZodType>(schema: Schema, rows: readonly unknown[]): z.output<Schema>[] {
  return rows.flatMap((row) => {
    const parsed = schema.safeParse(row)
    return parsed.success ? [parsed.data] : []
  })
}

async function readJson(response: FetchedResponse, mostBytes: number): Promise<unknown> {
  const json = parseJson(await readText(response, mostBytes))
  if (json === undefined && response.status < 400) throw new FailedTry('upstream_bad_answer', 'not JSON')
  return json
}

async function readText({ body }: FetchedResponse, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ''
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new ResponseTooLarge(mostBytes, text)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/**
 * Returns the seconds in a Retry-After header. A date is compared with the Date header of the same response, so no two
 * clocks are compared (https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3).
 */
function retryAfter(headers: FetchedResponse['headers']): number | undefined {
  const text = headers.get('retry-after') ?? ''
  const seconds = /^\d{1,9}$/.test(text)
    ? Number(text)
    : (parseDate(text) - parseDate(headers.get('date') ?? '')) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(1, Math.min(seconds, MAX_RETRY_AFTER_SECONDS))
}

/** Parses the three HTTP date formats. The oldest format does not contain its time zone, which is always UTC. */
function parseDate(text: string): number {
  if (!/^[MTWFS][a-z]{2,8},? /.test(text)) return Number.NaN
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
}
