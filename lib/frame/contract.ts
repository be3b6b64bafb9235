import type * as z from 'zod'
import type { Session } from '../accounts/session.ts'
import type { Aged } from '../cache/cache.ts'
import type { Client } from '../clients/client.ts'
import type { ErrorCode } from '../errors.ts'

/** What an HTTP function promises, as data: read by the function, the stack, the local gateway, the tests and the API reference. */
export type EndpointContract = {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'ANY'
  /** The route, with API Gateway's `{parameter}` places; `$default` takes what no other route takes. */
  readonly path: `/${string}` | '$default'
  /** More paths of the same function, for requests that lack a parameter of `path`; they are not documented. */
  readonly aliases?: readonly `/${string}`[]
  /** One sentence: what the caller gets. */
  readonly summary: string
  readonly tag: 'Vaults' | 'Activity' | 'Accounts' | 'Portfolio' | 'Markets' | 'System'
  /** `client`: the x-join-key header must name a client; `user`: besides, Authorization must carry a session of one of its users. */
  readonly caller: 'anyone' | 'client' | 'user'
  readonly env: z.ZodObject
  readonly request: {
    /** By their names in lower case. Who calls is not asked for here. */
    readonly headers?: z.ZodObject
    readonly path?: z.ZodObject
    readonly query?: z.ZodObject
    /** A strict object: an unknown field is refused. */
    readonly body?: z.ZodObject
  }
  /** The error of each request field, in the order in which they decide the answer's `error`; `a.b` is the field `b` inside `a`. */
  readonly invalid: Readonly<Record<string, FieldError>>
  /** `z.undefined()` for an answer without a body. */
  readonly response: z.ZodType
  /** The status of a success, where it is not 200. */
  readonly status?: 201 | 204
  /** What this function itself can answer beyond the errors that every function of its kind has. */
  readonly errors: readonly ErrorCode[]
  readonly cacheControl: 'no-store' | `public, max-age=${number}`
  /** Whether the answer can be older than the request: its age is told as Age, and x-stale when it is past its time. */
  readonly aged?: true
  /** What users notice when this function fails: the text of its alarm. */
  readonly impact: string
}

/**
 * The error of a request field, or different ones for when it is missing and for when its schema reports an
 * `unsupported` value: one of the right form that is none of ours.
 */
type FieldError =
  | ErrorCode
  | { readonly invalid: ErrorCode; readonly missing?: ErrorCode; readonly unsupported?: ErrorCode }

/** Where the metrics of all jobs are; their dimensions are `service`, the function's name, and the fields of the run's input. */
export const METRICS_NAMESPACE = 'Vaultline'

/** What a scheduled function promises, as data. */
export type JobContract = {
  readonly summary: string
  readonly env: z.ZodObject
  /** The input of one run. */
  readonly event: z.ZodType
  /** What a run reports. */
  readonly report: z.ZodType
  /** Those fields of the report that are metrics too, with their units; an alarm watches `lagSeconds`. */
  readonly metrics: Readonly<Record<string, 'Count' | 'Seconds'>>
  readonly everyMinutes: number
  /** One run is scheduled for each of these inputs, whose fields are dimensions of the metrics. */
  readonly runs: readonly Readonly<Record<string, string | number>>[]
  readonly impact: string
}

/** The parsed environment of a contract. */
export type Env<C extends { env: z.ZodObject }> = z.output<C['env']>

/** The parsed request that a contract's implementation is given, with the route that was asked for and its caller. */
export type Request<C extends EndpointContract> = {
  readonly [Part in keyof C['request']]: C['request'][Part] extends z.ZodType ? z.output<C['request'][Part]> : never
} & { readonly http: Http } & Caller<C>

/** The route that was asked for, and the IP address that asks. */
type Http = { readonly method: string; readonly path: string; readonly sourceIp: string }

/** Who calls: the client, and the session of its user, where the contract asks for them. */
export type Caller<C extends EndpointContract> = {
  readonly anyone: unknown
  readonly client: { readonly client: Client }
  readonly user: { readonly client: Client; readonly session: Session }
}[C['caller']]

/** The reply that a contract's implementation owes, before it is encoded; one that can be old with its age. */
export type Reply<C extends EndpointContract> = C extends { aged: true }
  ? Aged<z.output<C['response']>>
  : z.output<C['response']>
