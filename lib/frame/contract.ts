import type * as z from 'zod'
import type { Session } from '../accounts/session.ts'
import type { Aged } from '../cache/cache.ts'
import type { Client } from '../clients/client.ts'
import type { KeyLimits, Scope } from '../clients/key-limits.ts'
import type { ErrorCode } from '../errors.ts'
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

/** What opens each area to a key; what the service says of itself needs nothing. */
const SCOPES: Readonly<Record<keyof typeof TAGS, Scope | undefined>> = {
  Vaults: 'vaults',
  Activity: 'vaults',
  Accounts: 'accounts',
  Portfolio: 'portfolio',
  Markets: 'markets',
  Webhooks: 'webhooks',
  System: undefined,
}

/** What an HTTP function promises, as data: read by the function, the stack, the local gateway, the tests and the API reference. */
export type EndpointContract = {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'ANY'
  /** The route, with API Gateway's `{parameter}` places; `$default` takes what no other route takes. */
  readonly path: `/${string}` | '$default'
  /** More paths of the same function, for requests that lack a parameter of `path`; they are not documented. */
  readonly aliases?: readonly `/${string}`[]
  /** Two to four words, which name the operation too: `Prepare deposit` is `prepareDeposit`. */
  readonly title: string
  /** One sentence: what the caller gets. */
  readonly summary: string
  readonly tag: keyof typeof TAGS
  /** `client`: the x-join-key header must name a client; `user`: besides, Authorization must carry a session of one of its users. */
  readonly caller: 'anyone' | 'client' | 'user'
  /** The share that its requests spend, where it is not that of all requests. */
  readonly share?: Extract<Share, 'withdrawals'>
  /** What the function uses besides what it takes to know its caller. */
  readonly uses: Uses
  /** Every field of these has an error of its own (lib/field.ts); who calls is not asked for here. */
  readonly request: {
    /** By their names in lower case. */
    readonly headers?: z.ZodObject
    readonly path?: z.ZodObject
    readonly query?: z.ZodObject
    /** A strict object: an unknown field is refused. */
    readonly body?: z.ZodObject
  }
  /** `z.undefined()` for an answer without a body. */
  readonly response: z.ZodType
  /** The status of a success, where it is not 200. */
  readonly status?: 201 | 204
  /** What this function itself can answer beyond the errors that every function of its kind has. */
  readonly errors: readonly ErrorCode[]
  /** For how long callers may keep the answer from when they get it, however old it is then. */
  readonly cacheControl: 'no-store' | `${'public' | 'private'}, max-age=${number}`
  /** Whether the answer can be older than the request: its age is told as Age, and x-stale when it is past its time. */
  readonly aged?: true
  /** What users notice when this function fails: the text of its alarm. */
  readonly impact: string
}

/** What a scheduled function promises, as data. */
export type JobContract = {
  readonly summary: string
  readonly uses: Uses
  /** The input of one run. */
  readonly event: z.ZodType
  /** Report of a run; alarms watch `lagSeconds`, `changedVaults` and `untoldVaults`. */
  readonly report: z.ZodType
  readonly everyMinutes: number
  /** One run is scheduled for each of these inputs. */
  readonly runs: readonly Readonly<Record<string, string | number>>[]
  /** Whether what it records is told by two hosts, of which an alarm says when they differ. */
  readonly needsAgreement?: boolean
  readonly impact: string
}

/** What a function promises that takes the messages of a queue, as data. */
export type QueueContract = {
  readonly summary: string
  readonly uses: Uses
  /** The queue that it takes from. */
  readonly queue: QueueResource
  /** One message, which is sent as JSON. */
  readonly message: z.ZodType
  /** What the work of one message reports. */
  readonly report: z.ZodType
  /** After so long the function is ended; a message that it has not done is taken again after six times as long. */
  readonly timeoutSeconds: number
  /** How many batches of messages are worked on at a time, at most. */
  readonly mostAtATime: number
  /** The most messages of a batch, which are worked on side by side; ten unless given. */
  readonly batchSize?: number
  /** Whether what it records is told by two hosts, of which an alarm says when they differ. */
  readonly needsAgreement?: boolean
  /**
   * Whether it sends messages to the queue that it takes from. Lambda drops a message that is the 16th such one in a row,
   * unless it is told that the loop is meant; what ends it stands beside this.
   */
  readonly wakesItself?: true
  readonly impact: string
}

/** The methods that a contract's route takes: HEAD, where there is GET, answers the same without a body. */
export function methodsOf<Method extends EndpointContract['method']>({ method }: { readonly method: Method }) {
  return method === 'GET' ? [method, 'HEAD' as const] : [method]
}

/**
 * Whether a contract's responses are signed: all with a body about a user, a chain or a transaction. Public responses are not:
 * market data, whose search nobody keeps as it is a POST, and the service's own documents.
 */
export function isSigned({ cacheControl, tag, response }: EndpointContract): boolean {
  const isOfAll = cacheControl.startsWith('public') || tag === 'Markets' || tag === 'System'
  return !isOfAll && response.def.type !== 'undefined'
}

/** The scope that a key needs for this endpoint; undefined where it needs none, or no key is asked for. */
export function scopeOf({ tag, caller }: Pick<EndpointContract, 'tag' | 'caller'>): Scope | undefined {
  return caller === 'anyone' ? undefined : SCOPES[tag]
}

/**
 * Whether nothing is lost when the work of a request was done for nothing: it reads, or it prepares an answer and writes no
 * more than what can be had again.
 */
export function isSafe({
  method,
  uses: { clients = [], deposits = [], users = [], webhooks = [] },
}: EndpointContract): boolean {
  const isRead = (access: Access) => /^(Query|GetItem|BatchGetItem)/.test(access)
  return method === 'GET' || [...clients, ...deposits, ...users, ...webhooks].every(isRead)
}

/** What it takes to know a caller: a query for the client, an item for the session, and a lease of the key's requests. */
const CALLER_USES = {
  anyone: {},
  client: { clients: ['Query'], cache: ['UpdateItem'] },
  user: { clients: ['Query'], users: ['GetItem'], cache: ['UpdateItem'] },
} as const satisfies Record<EndpointContract['caller'], CallerUses>
type CallerUses = Pick<Uses, 'clients' | 'users' | 'cache'>

/** What a function promises. */
export type Contract = EndpointContract | JobContract | QueueContract
type UsesOfCaller<C> = C extends EndpointContract ? (typeof CALLER_USES)[C['caller']] : unknown

/** What a contract's function finds in its environment: all that it uses, by name. */
export type EnvOf<C extends Contract> = Env<Extract<keyof C['uses'] | keyof UsesOfCaller<C>, Resource>>

/** All that a function uses: what its contract says, and for an endpoint what it takes to know its caller and to sign. */
export function listUses(contract: Contract): Uses {
  const ofCaller: CallerUses = 'caller' in contract ? CALLER_USES[contract.caller] : {}
  const signing = 'caller' in contract && isSigned(contract) && { signing: true as const }
  const both = (table: keyof CallerUses) => {
    const accesses = new Set([...(ofCaller[table] ?? []), ...(contract.uses[table] ?? [])])
    return accesses.size > 0 && { [table]: [...accesses] }
  }
  return { ...contract.uses, ...both('clients'), ...both('users'), ...both('cache'), ...signing }
}

/** The parsed request that a contract's work is given, with the route that was asked for and its caller. */
export type Request<C extends EndpointContract> = {
  readonly [Part in keyof C['request']]: C['request'][Part] extends z.ZodType ? z.output<C['request'][Part]> : never
} & { readonly requestContext: { readonly http: Http } } & Caller<C>

/** The route that was asked for, and the IP address that asks. */
type Http = { readonly method: string; readonly path: string; readonly sourceIp: string }

/** Who calls: the client with what its key may do, and the session of its user, where the contract asks for them. */
type Caller<C extends EndpointContract> = {
  readonly anyone: unknown
  readonly client: Keyed
  readonly user: Keyed & { readonly session: Session }
}[C['caller']]

/** The client of a key, what the key may do, and how a request pays for what it asks others. */
type Keyed = {
  readonly client: Client
  readonly limits: KeyLimits
  readonly payFor: PayFor
}

/** The reply that a contract's work owes, before it is encoded; one that can be old with its age. */
export type Reply<C extends EndpointContract> = C extends { aged: true }
  ? Aged<z.output<C['response']>>
  : z.output<C['response']>
