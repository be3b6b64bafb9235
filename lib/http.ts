import { setTimeout as sleep } from 'node:timers/promises'
import type * as z from 'zod'
import { AppError, badAnswer, type UpstreamError } from './errors.ts'
import { parseJson } from './json.ts'
import type { Fetch, Fetched } from './outbound.ts'

/** What the outbound HTTP client needs of the world. */
export type HttpEnvironment = {
  readonly fetch: Fetch
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Milliseconds since any fixed moment. */
  readonly now: () => number
}

/** A request: with a `body`, which is JSON text, it is a POST. */
export type HttpRequest = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The bytes of the largest answer that is read; 32 MiB unless told. */
  readonly mostBytes?: number | undefined
}

/** What a server said: its status, its JSON (undefined where a refusal has none), and its Retry-After in seconds. */
export type HttpAnswer = {
  readonly status: number
  readonly body: unknown
  readonly retryAfterSeconds: number | undefined
}

/** For how long a service wants to be asked nothing, as all that ask it know. */
export type Pause = {
  /** 0 when it may be asked. */
  readonly secondsLeft: () => Promise<number>
  readonly begin: (seconds: number) => Promise<void>
}

/**
 * A service that we need: the name that logs give it, its base URL, the headers of every request, how long one may take
 * (3 s), and its pause.
 */
export type UpstreamOptions = {
  readonly name: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly deadlineMs?: number
  readonly pause?: Pause
  /** True if its limits are by the second: a 429 without Retry-After is retried once, and begins no pause. */
  readonly isLimitedBySecond?: boolean
}

/** A request below a service's base URL; with a `body` it is a POST. */
export type UpstreamRequest = {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What a service said; its status is below 500 and not 429, and it wants no pause. */
export type UpstreamAnswer = Pick<HttpAnswer, 'status' | 'body'>

/**
 * Asks a service. Throws AppError `upstream_timeout`, `upstream_unavailable` (with Retry-After where the service wants a
 * pause, and without a request while it lasts) or `upstream_bad_answer` for a success that is no JSON. What another
 * refusal means is for the caller to say.
 */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamAnswer>

/** Milliseconds that a request may take in all, its retries included, unless told. */
export const DEADLINE_MS = 3_000
const MAX_JITTER_MS = 100
/** The share of the time left after which a server is slow, and another one is asked besides. */
const SLOW_SHARE = 0.55
/** The longest pause that a service is given, however long the one is that it wants. */
export const LONGEST_RETRY_AFTER_SECONDS = 600
/** The pause after a 429 without Retry-After: limits are by the minute. */
const PAUSE_SECONDS = 30
/** The largest answer that is read, unless told. */
const MOST_BYTES = 32 * 2 ** 20

type FailedTryOptions = { readonly isTransient?: boolean; readonly retryAfterSeconds?: number | undefined }

/** Why a try has no answer of use. `isTransient`: whether the same server may answer the next time. */
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

/** The answer is larger than what is read; `beginning` is the text that was not too much. */
export class AnswerTooLarge extends FailedTry {
  readonly beginning: string

  constructor(mostBytes: number, beginning: string) {
    super('upstream_bad_answer', `more than ${mostBytes} bytes`, { isTransient: false })
    this.beginning = beginning
  }
}

/**
 * One request and its answer, whatever the status. Throws FailedTry where there is none: no connection, too late, a
 * redirect, which is never followed, a success that is no JSON. Throws AnswerTooLarge for one of too many bytes.
 */
export async function sendOnce(
  { fetch }: Pick<HttpEnvironment, 'fetch'>,
  { url, headers = {}, body, mostBytes = MOST_BYTES }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  try {
    const response = await fetch(url, {
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { method: 'POST', body }),
      // Only the configured server is trusted.
      redirect: 'manual',
      signal,
    })
    const { status } = response
    if (status >= 300 && status < 400) {
      // An unread body would hold the connection.
      await response.body?.cancel()
      throw new FailedTry('upstream_bad_answer', `HTTP status ${status}`, { isTransient: false })
    }
    return { status, body: await readJson(response, mostBytes), retryAfterSeconds: retryAfter(response.headers) }
  } catch (error) {
    if (error instanceof FailedTry) throw error
    if (signal.aborted) throw new FailedTry('upstream_timeout', 'no answer in time')
    throw new FailedTry('upstream_unavailable', 'no connection')
  }
}

const OVER = new Error('another try has answered')

/** One way to get an answer; ends when its signal says so. Throws FailedTry. */
type Try<T> = (signal: AbortSignal) => Promise<T>

/**
 * The answer of the first of these tries that has one, within a deadline in all. The next try starts, after a jittered
 * pause, when one has failed and `shouldContinue` says that another may succeed. With `slowMs` it also starts beside one that
 * takes longer than that, or more than half of the time left. Throws the FailedTry of the last one.
 */
export async function firstAnswer<T>(
  { random, now }: HttpEnvironment,
  tries: readonly Try<T>[],
  options: {
    readonly deadline: number
    /** Milliseconds after which the try of this index is slow. */
    readonly slowMs?: (index: number) => number
    readonly shouldContinue?: (failure: FailedTry) => boolean
  },
): Promise<T> {
  const { deadline, slowMs, shouldContinue = ({ isTransient }) => isTransient } = options
  const isOver = new AbortController()

  async function run([first, ...others]: readonly Try<T>[]): Promise<T> {
    if (!first) throw new FailedTry('upstream_unavailable', 'nobody is left to ask')
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
    // Without a reason it would make an error of its own, with a stack, for each request.
    isOver.abort(OVER)
  }
}

/** Whether the promise is still open after these milliseconds. */
async function isSlow(promise: Promise<unknown>, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const closed = Promise.allSettled([promise]).then(() => false)
  return Promise.race([closed, sleep(milliseconds, true, { signal, ref: false })])
}

/** The error for our callers; its cause names the server as logs do, and nothing of where it is. */
export function toAppError({ code, message, retryAfterSeconds }: FailedTry, name: string): AppError {
  return new AppError(code, {
    cause: new Error(`${name}: ${message}`),
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': retryAfterSeconds.toString() } }),
  })
}

/**
 * An Upstream: each request has its deadline in all, and one retry, after a jittered pause, unless the service limits us: a
 * 429, or a refusal with Retry-After, begins its pause (see `isLimitedBySecond`).
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
      return await firstAnswer(environment, [ask, ask], { deadline: environment.now() + deadlineMs })
    } catch (error) {
      if (!(error instanceof FailedTry)) throw error
      if (error.retryAfterSeconds !== undefined) await pause?.begin(error.retryAfterSeconds)
      throw toAppError(error, name)
    }
  }
}

/** The body of a success in the form that the schema says; throws `upstream_bad_answer` for anything else. */
export function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  { status, body }: UpstreamAnswer,
): z.output<Schema> {
  const parsed = status < 300 ? schema.safeParse(body) : undefined
  if (parsed?.success) return parsed.data
  throw badAnswer(parsed ? 'an answer of another shape' : `HTTP status ${status}`)
}

/** The rows of this form, without those of another. */
export function parseRows<Schema extends z.ZodType>(schema: Schema, rows: readonly unknown[]): z.output<Schema>[] {
  return rows.flatMap((row) => {
    const parsed = schema.safeParse(row)
    return parsed.success ? [parsed.data] : []
  })
}

/** The JSON of a response; of a refusal that has none, undefined. */
async function readJson(response: Fetched, mostBytes: number): Promise<unknown> {
  const json = parseJson(await readText(response, mostBytes))
  if (json === undefined && response.status < 400) throw new FailedTry('upstream_bad_answer', 'not JSON')
  return json
}

async function readText({ body }: Fetched, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ''
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new AnswerTooLarge(mostBytes, text)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/**
 * Whole seconds; undefined where the header tells none. A date counts from the Date of the same answer, so that no two clocks
 * are compared (https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3).
 */
function retryAfter(headers: Fetched['headers']): number | undefined {
  const text = headers.get('retry-after') ?? ''
  const seconds = /^\d{1,9}$/.test(text)
    ? Number(text)
    : (parseDate(text) - parseDate(headers.get('date') ?? '')) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(1, Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS))
}

/** Epoch milliseconds of a date in one of HTTP's three forms, of which the oldest does not say that it is UTC; NaN for other texts. */
function parseDate(text: string): number {
  if (!/^[MTWFS][a-z]{2,8},? /.test(text)) return Number.NaN
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
}
