import { setTimeout as sleep } from 'node:timers/promises'
import type * as z from 'zod'
import { AppError } from './errors.ts'

/** A service that we need: the name that logs give it, its base URL, the headers of every request, and how long one may take (3 s). */
export type UpstreamOptions = {
  readonly name: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly deadlineMs?: number
}

/** What an Upstream needs of the world. */
export type UpstreamEnvironment = {
  readonly fetch: typeof fetch
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Milliseconds since any fixed moment. */
  readonly now: () => number
}

/** A request below the base URL; with a `body` it is a POST. */
export type UpstreamRequest = {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What a service said: its status, below 500 and not 429, and its JSON; undefined for a refusal that is none. */
export type UpstreamAnswer = { readonly status: number; readonly body: unknown }

/**
 * Asks a service. Throws AppError `upstream_timeout`, `upstream_unavailable` (with Retry-After where the service tells
 * it) or `upstream_bad_answer` for a success that is no JSON. What another refusal means is for the caller to say.
 */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamAnswer>

const DEADLINE_MS = 3_000
const MAX_JITTER_MS = 100
/** The share of the deadline that the first try may use. */
const FIRST_TRY_SHARE = 0.6
const LONGEST_RETRY_AFTER_SECONDS = 600

/** An Upstream: each request has its deadline in all, and one retry, after a jittered pause, unless the service limits us. */
export function createUpstream(options: UpstreamOptions, environment: UpstreamEnvironment): Upstream {
  const { name, deadlineMs = DEADLINE_MS } = options
  const { random, now } = environment
  return async (request) => {
    const giveUpAt = now() + deadlineMs
    const first = await ask(options, environment, request, deadlineMs * FIRST_TRY_SHARE)
    const left = giveUpAt - now() - MAX_JITTER_MS
    if (!(first instanceof Failure)) return first
    if (!first.mayPass || left < MAX_JITTER_MS) throw first.toError(name)
    await sleep(random() * MAX_JITTER_MS)
    const second = await ask(options, environment, request, left)
    if (second instanceof Failure) throw second.toError(name)
    return second
  }
}

/** The body of a success in the form that the schema says; throws `upstream_bad_answer` for anything else. */
export function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  { status, body }: UpstreamAnswer,
): z.output<Schema> {
  const parsed = status < 300 ? schema.safeParse(body) : undefined
  if (parsed?.success) return parsed.data
  const what = parsed ? 'an answer of another shape' : `HTTP status ${status}`
  throw new AppError('upstream_bad_answer', { cause: new Error(what) })
}

/** Why there is no answer; one that may pass is worth a second try. */
class Failure {
  readonly code: 'upstream_timeout' | 'upstream_unavailable' | 'upstream_bad_answer'
  readonly why: string
  readonly mayPass: boolean
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: Failure['code'],
    why: string,
    { mayPass = true, retryAfterSeconds }: { mayPass?: boolean; retryAfterSeconds?: number | undefined } = {},
  ) {
    this.code = code
    this.why = why
    this.mayPass = mayPass
    this.retryAfterSeconds = retryAfterSeconds
  }

  toError(name: string): AppError {
    const { code, why, retryAfterSeconds } = this
    return new AppError(code, {
      cause: new Error(`${name}: ${why}`),
      ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': retryAfterSeconds.toString() } }),
    })
  }
}

async function ask(
  { url, headers = {} }: UpstreamOptions,
  { fetch }: UpstreamEnvironment,
  { path, query = {}, body }: UpstreamRequest,
  milliseconds: number,
): Promise<UpstreamAnswer | Failure> {
  const signal = AbortSignal.timeout(Math.floor(milliseconds))
  const search = new URLSearchParams(query).toString()
  try {
    const response = await fetch(`${url}${path}${search && `?${search}`}`, {
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      // Nobody but the configured service is believed.
      redirect: 'manual',
      signal,
    })
    const { status } = response
    const isRefusal = status >= 400 && status < 500 && status !== 429
    if (status < 300 || isRefusal) return { status, body: await readJson(response, isRefusal) }

    // A body that nobody reads would hold the connection.
    await response.body?.cancel()
    if (status < 400) return new Failure('upstream_bad_answer', `HTTP status ${status}`, { mayPass: false })
    return new Failure('upstream_unavailable', `HTTP status ${status}`, {
      mayPass: status !== 429,
      retryAfterSeconds: retryAfter(response.headers),
    })
  } catch (error) {
    if (signal.aborted) return new Failure('upstream_timeout', `no answer in ${Math.round(milliseconds)} ms`)
    if (error instanceof SyntaxError) return new Failure('upstream_bad_answer', 'not JSON')
    return new Failure('upstream_unavailable', 'no connection')
  }
}

/** The JSON of a response; of a refusal that has none, undefined. */
async function readJson(response: Response, isRefusal: boolean): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    if (isRefusal && error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Seconds; undefined where they are not told as a number, as a date would be. */
function retryAfter(headers: Headers): number | undefined {
  const seconds = /^\d{1,9}$/.exec(headers.get('retry-after') ?? '')?.[0]
  return seconds === undefined ? undefined : Math.max(1, Math.min(Number(seconds), LONGEST_RETRY_AFTER_SECONDS))
}
