import type * as z from 'zod'
import type { Session } from '../accounts/session.ts'
import type { Aged } from '../cache/cache.ts'
import type { Client } from '../clients/client.ts'
import type { KeyLimits, Scope } from '../clients/key-limits.ts'
import type { ErrorCode } from '../core/errors.ts'
import type { PayFor, Share } from '../meter/meter.ts'
import type { Access, Env, QueueResource, Resource, Uses } from './resources.ts'

/** Areas of the API by their folder in `functions/`, each with its description in the reference. */
export const TAGS = {
  Vaults: 'Vaults with their live state, and the transactions to deposit, claim, withdraw and cancel',
  Activity: 'Positions of users in vaults, and their deposits and withdrawals',
  Accounts: 'Users, their credentials, sessions and linked wallets',
  Portfolio: 'Balances of linked wallets, and token prices',
  Markets: 'Coins, their prices and market data',
  Webhooks: 'Your endpoints for the events of your vaults, and the list of these events',
  System: 'The service itself',
} as const

/** Scope that an API key needs for each area of the API. The service's own documents need none. */
const SCOPES: Readonly<Record<keyof typeof TAGS, Scope | undefined>> = {
  Vaults: 'vaults',
  Activity: 'vaults',
  Accounts: 'accounts',
  Portfolio: 'portfolio',
  Markets: 'markets',
  Webhooks: 'webhooks',
  System: undefined,
}

/** Contract of an HTTP function, as data. The function, the stack, the local gateway, the tests and the API reference read it. */
export type EndpointContract = {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'ANY'
  /** Route with API Gateway's `{parameter}` places; `$default` receives requests without a route. */
  readonly path: `/${string}` | '$default'
  /** More paths of the same function, for requests that lack a parameter of `path`; they are not documented. */
  readonly aliases?: readonly `/${string}`[]
  /** Two to four words that also name the operation: `Prepare deposit` is `prepareDeposit`. */
  readonly title: string
  readonly summary: string
  readonly tag: keyof typeof TAGS
  /** Required caller. `client`: x-join-key must name a client. `user`: Authorization must also carry a session of one of its users. */
  readonly caller: 'anyone' | 'client' | 'user'
  /** Rate-limit budget that its requests spend; that of all requests by default. */
  readonly share?: Extract<Share, 'withdrawals'>
  /** Resources that the function uses, without those that identify its caller. */
  readonly uses: Uses
  /** Request fields, each with its own error (lib/core/field.ts). Fields that identify the caller are not listed. */
  readonly request: {
    /** Headers by lower-case names. */
    readonly headers?: z.ZodObject
    readonly path?: z.ZodObject
    readonly query?: z.ZodObject
    /** A strict object: an unknown field is refused. */
    readonly body?: z.ZodObject
  }
  readonly response: z.ZodType
  /** Status of a success, if it is not 200. */
  readonly status?: 201 | 204
  /** Errors of this function, in addition to those that every function of its kind has. */
  readonly errors: readonly ErrorCode[]
  /** Time for which callers may keep the response after they receive it, however old it is then. */
  readonly cacheControl: 'no-store' | `${'public' | 'private'}, max-age=${number}`
  /** True if the response can be older than the request. It then has Age, and x-stale if it is stale. */
  readonly aged?: true
  /** Effect on users when this function fails: the text of its alarm. */
  readonly impact: string
}

/** Contract of a scheduled function, as data. */
export type JobContract = {
  readonly summary: string
  readonly uses: Uses
  readonly event: z.ZodType
  /** Report of a run; alarms watch `lagSeconds`, `changedVaults` and `unreportedVaults`. */
  readonly report: z.ZodType
  readonly everyMinutes: number
  /** Inputs; one run is scheduled for each. */
  readonly runs: readonly Readonly<Record<string, string | number>>[]
  /** True if two RPC hosts must confirm the data that it records; an alarm reports their differences. */
  readonly needsAgreement?: boolean
  readonly impact: string
}

/** Contract of a function that receives the messages of a queue, as data. */
export type QueueContract = {
  readonly summary: string
  readonly uses: Uses
  readonly queue: QueueResource
  readonly message: z.ZodType
  readonly report: z.ZodType
  /** Seconds after which the function is stopped; an unfinished message is received again after six times as long. */
  readonly timeoutSeconds: number
  /** Maximum concurrent batches. */
  readonly maxConcurrency: number
  /** Maximum messages of a batch, which are processed concurrently; ten by default. */
  readonly batchSize?: number
  /** True if two RPC hosts must confirm the data that it records; an alarm reports their differences. */
  readonly needsAgreement?: boolean
  /**
   * True if it sends messages to its own queue. Lambda drops the 16th such message in a row unless the stack allows the
   * loop. The contract must state what ends the loop.
   */
  readonly enqueuesItself?: true
  readonly impact: string
}

/** Returns the methods of a contract's route. HEAD accompanies GET and returns the same without a body. */
export function methodsOf<Method extends EndpointContract['method']>({ method }: { readonly method: Method }) {
  return method === 'GET' ? [method, 'HEAD' as const] : [method]
}

/**
 * True if a contract's responses are signed: those with a body about a user, a chain or a transaction. Market data and
 * the service's own documents are public and unsigned.
 */
export function isSigned({ cacheControl, tag, response }: EndpointContract): boolean {
  const isOfAll = cacheControl.startsWith('public') || tag === 'Markets' || tag === 'System'
  return !isOfAll && response.def.type !== 'undefined'
}

/** Returns the scope that a key needs for this endpoint; undefined if it needs none, or no key. */
export function scopeOf({ tag, caller }: Pick<EndpointContract, 'tag' | 'caller'>): Scope | undefined {
  return caller === 'anyone' ? undefined : SCOPES[tag]
}

/** True if a request's work may run before its charge succeeds: a GET, or work that writes only to the cache. */
export function isSafe({
  method,
  uses: { clients = [], deposits = [], users = [], webhooks = [] },
}: EndpointContract): boolean {
  const isRead = (access: Access) => /^(Query|GetItem|BatchGetItem)/.test(access)
  return method === 'GET' || [...clients, ...deposits, ...users, ...webhooks].every(isRead)
}

const CALLER_USES = {
  anyone: {},
  client: { clients: ['Query'], cache: ['UpdateItem'] },
  user: { clients: ['Query'], users: ['GetItem'], cache: ['UpdateItem'] },
} as const satisfies Record<EndpointContract['caller'], CallerUses>
type CallerUses = Pick<Uses, 'clients' | 'users' | 'cache'>

/** Contract of a function. */
export type Contract = EndpointContract | JobContract | QueueContract
type UsesOfCaller<C> = C extends EndpointContract ? (typeof CALLER_USES)[C['caller']] : unknown

/** Environment variables of a contract's function, by the names of all resources that it uses. */
export type EnvOf<C extends Contract> = Env<Extract<keyof C['uses'] | keyof UsesOfCaller<C>, Resource>>

/** Lists all that a function uses: the contract's resources, and for an endpoint those to identify its caller and sign. */
export function listUses(contract: Contract): Uses {
  const ofCaller: CallerUses = 'caller' in contract ? CALLER_USES[contract.caller] : {}
  const signing = 'caller' in contract && isSigned(contract) && { signing: true as const }
  const both = (table: keyof CallerUses) => {
    const accesses = new Set([...(ofCaller[table] ?? []), ...(contract.uses[table] ?? [])])
    return accesses.size > 0 && { [table]: [...accesses] }
  }
  return { ...contract.uses, ...both('clients'), ...both('users'), ...both('cache'), ...signing }
}

/** Parsed request for a contract's work, with its route and caller. */
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

/** Reply of a contract's work before it is encoded; with its time if it can be older than the request. */
export type Reply<C extends EndpointContract> = C extends { aged: true }
  ? Aged<z.output<C['response']>>
  : z.output<C['response']>
