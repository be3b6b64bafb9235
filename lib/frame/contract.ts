import type * as z from 'zod'
import type { Session } from '../accounts/session.ts'
import type { Aged } from '../cache/cache.ts'
import type { Client } from '../clients/client.ts'
import type { KeyLimits, Scope } from '../clients/key-limits.ts'
import type { ErrorCode } from '../core/errors.ts'
import type { BudgetPurpose, PayFor } from '../meter/meter.ts'
import type { Env, QueueResource, Resource, TablePermission, Uses } from './resources.ts'

/** Areas of the API, each with its description in the API reference. Each area is a folder in `functions/`. */
export const API_AREAS = {
  Vaults: 'Vaults with their live state, and the transactions to deposit, claim, withdraw and cancel',
  Activity: 'Positions of users in vaults, and their deposits and withdrawals',
  Accounts: 'Users, their credentials, sessions and linked wallets',
  Portfolio: 'Balances of linked wallets, and token prices',
  Markets: 'Coins, their prices and market data',
  Webhooks: 'Your endpoints for the events of your vaults, and the list of these events',
  System: 'The service itself',
} as const

/** Scope that an API key needs for each area of the API. The area System has only public documents, which need no scope. */
const SCOPES: Readonly<Record<keyof typeof API_AREAS, Scope | undefined>> = {
  Vaults: 'vaults',
  Activity: 'vaults',
  Accounts: 'accounts',
  Portfolio: 'portfolio',
  Markets: 'markets',
  Webhooks: 'webhooks',
  System: undefined,
}

/**
 * Contract of an HTTP endpoint, as data. The function, the CDK stack, the local gateway, the tests and the API
 * reference are all built from it.
 */
export type EndpointContract = {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'ANY'
  /** Route in API Gateway's syntax, with parameters as `{parameter}`. `$default` receives all requests that match no other route. */
  readonly path: `/${string}` | '$default'
  /** Additional routes of the same function, for requests that lack a path parameter. The API reference omits them. */
  readonly aliases?: readonly `/${string}`[]
  /** Title of two to four words. The operation's id derives from it: `Prepare deposit` becomes `prepareDeposit`. */
  readonly title: string
  readonly summary: string
  readonly tag: keyof typeof API_AREAS
  /**
   * Required caller. `client` needs an API key in x-join-key. `user` also needs a session of one of the client's users
   * in Authorization.
   */
  readonly caller: 'anyone' | 'client' | 'user'
  /** Separate budget to which requests to this endpoint are charged. Without it they are charged to the common budget `requests`. */
  readonly budget?: Extract<BudgetPurpose, 'withdrawals'>
  /** Resources that the function uses. `listUses` adds the resources that identify the caller. */
  readonly uses: Uses
  /** Schemas of the request. Each field has its own error code (lib/core/field.ts). Headers that identify the caller are not listed. */
  readonly request: {
    /** Headers, by their names in lower case. */
    readonly headers?: z.ZodObject
    readonly path?: z.ZodObject
    readonly query?: z.ZodObject
    /** Body as a strict object, so an unknown field is refused. */
    readonly body?: z.ZodObject
  }
  readonly response: z.ZodType
  /** HTTP status of a success; 200 by default. */
  readonly status?: 201 | 204
  /** Error codes of this endpoint, in addition to those of every endpoint with the same kind of caller. */
  readonly errors: readonly ErrorCode[]
  /** Value of the Cache-Control header. `max-age` counts from the time at which the caller receives the response. */
  readonly cacheControl: 'no-store' | `${'public' | 'private'}, max-age=${number}`
  /** True if the response can contain data older than the request. The reply then has the header Age, and x-stale if the data are stale. */
  readonly aged?: true
  /** Effect on users while this function fails, as text for its alarm. */
  readonly impact: string
}

/** Contract of a scheduled job, as data. */
export type JobContract = {
  readonly summary: string
  readonly uses: Uses
  readonly event: z.ZodType
  /** Schema of the report that a run returns. Alarms watch its fields `lagSeconds`, `changedVaults` and `unreportedVaults`. */
  readonly report: z.ZodType
  readonly everyMinutes: number
  /** Events with which schedules start the job. Each event has its own schedule, which starts separate runs. */
  readonly runs: readonly Readonly<Record<string, string | number>>[]
  /** True if two RPC hosts must confirm the chain data that the job records. An alarm then reports disagreements. */
  readonly needsAgreement?: boolean
  readonly impact: string
}

/** Contract of a function that processes the messages of an SQS queue, as data. */
export type QueueContract = {
  readonly summary: string
  readonly uses: Uses
  readonly queue: QueueResource
  readonly message: z.ZodType
  readonly report: z.ZodType
  /** Time limit of a batch in seconds. SQS delivers an unfinished message again after six times as long. */
  readonly timeoutSeconds: number
  /** Maximum number of batches that run concurrently. */
  readonly maxConcurrency: number
  /** Maximum number of messages in a batch, which are processed concurrently; ten by default. */
  readonly batchSize?: number
  /** True if two RPC hosts must confirm the chain data that the function records. An alarm then reports disagreements. */
  readonly needsAgreement?: boolean
  /**
   * True if the function sends messages to its own queue. The stack must allow that, because Lambda otherwise drops the
   * 16th such message in a row. The contract must state how the loop ends.
   */
  readonly enqueuesItself?: true
  readonly impact: string
}

/** Returns the HTTP methods of an endpoint. An endpoint with GET also accepts HEAD, whose reply has no body. */
export function methodsOf<Method extends EndpointContract['method']>({ method }: { readonly method: Method }) {
  return method === 'GET' ? [method, 'HEAD' as const] : [method]
}

/**
 * Returns true if an endpoint signs its responses. Responses with a body about a user, a chain or a transaction are
 * signed. Market data and public documents are not signed.
 */
export function isSigned({ cacheControl, tag, response }: EndpointContract): boolean {
  const isOfAll = cacheControl.startsWith('public') || tag === 'Markets' || tag === 'System'
  return !isOfAll && response.def.type !== 'undefined'
}

/** Returns the scope that an API key needs for this endpoint. Returns undefined if the endpoint needs no scope or no API key. */
export function scopeOf({ tag, caller }: Pick<EndpointContract, 'tag' | 'caller'>): Scope | undefined {
  return caller === 'anyone' ? undefined : SCOPES[tag]
}

/**
 * Returns true if an endpoint may start before the request is charged against the rate limits. That holds for a GET
 * endpoint, and for an endpoint that writes only to the cache.
 */
export function mayStartBeforeCharge({
  method,
  uses: { clients = [], deposits = [], users = [], webhooks = [] },
}: EndpointContract): boolean {
  const isRead = (permission: TablePermission) => /^(Query|GetItem|BatchGetItem)/.test(permission)
  return method === 'GET' || [...clients, ...deposits, ...users, ...webhooks].every(isRead)
}

const CALLER_USES = {
  anyone: {},
  client: { clients: ['Query'], cache: ['UpdateItem'] },
  user: { clients: ['Query'], users: ['GetItem'], cache: ['UpdateItem'] },
} as const satisfies Record<EndpointContract['caller'], CallerUses>
type CallerUses = Pick<Uses, 'clients' | 'users' | 'cache'>

/** Contract of an endpoint, a scheduled job or a queue consumer. */
export type Contract = EndpointContract | JobContract | QueueContract
type UsesOfCaller<C> = C extends EndpointContract ? (typeof CALLER_USES)[C['caller']] : unknown

/** Values of the environment variables that a contract's function needs, by resource name. */
export type EnvOf<C extends Contract> = Env<Extract<keyof C['uses'] | keyof UsesOfCaller<C>, Resource>>

/** Lists all resources of a contract's function. It adds the resources that identify an endpoint's caller and sign its responses. */
export function listUses(contract: Contract): Uses {
  const ofCaller: CallerUses = 'caller' in contract ? CALLER_USES[contract.caller] : {}
  const signing = 'caller' in contract && isSigned(contract) && { signing: true as const }
  const both = (table: keyof CallerUses) => {
    const accesses = new Set([...(ofCaller[table] ?? []), ...(contract.uses[table] ?? [])])
    return accesses.size > 0 && { [table]: [...accesses] }
  }
  return { ...contract.uses, ...both('clients'), ...both('users'), ...both('cache'), ...signing }
}

/** Parsed request that an endpoint's handler receives: fields of the contract, route and caller. */
export type Request<C extends EndpointContract> = {
  readonly [Part in keyof C['request']]: C['request'][Part] extends z.ZodType ? z.output<C['request'][Part]> : never
} & { readonly requestContext: { readonly http: Http } } & Caller<C>

type Http = { readonly method: string; readonly path: string; readonly sourceIp: string }

type Caller<C extends EndpointContract> = {
  readonly anyone: unknown
  readonly client: Keyed
  readonly user: Keyed & { readonly session: Session }
}[C['caller']]

type Keyed = {
  readonly client: Client
  readonly limits: KeyLimits
  readonly payFor: PayFor
}

/** Reply of an endpoint's handler before it is encoded. It contains the age of its data if the contract says `aged`. */
export type Reply<C extends EndpointContract> = C extends { aged: true }
  ? Aged<z.output<C['response']>>
  : z.output<C['response']>
