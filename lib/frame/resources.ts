/** Resources of a stage, and the environment variables with their names or values. */
export const RESOURCES = {
  // Tables, by their names.
  clients: 'CLIENTS_TABLE',
  deposits: 'DEPOSITS_TABLE',
  users: 'USERS_TABLE',
  webhooks: 'WEBHOOKS_TABLE',
  cache: 'CACHE_TABLE',
  // Queues, by their URLs: deliveries to webhooks, and groups of vaults whose chain data one function run records.
  deliveryQueue: 'DELIVERY_QUEUE_URL',
  shardQueue: 'SHARD_QUEUE_URL',
  // Secrets, by their ARNs: configuration, the service's own keys, the signing keys, and the key from which webhook secrets derive.
  config: 'CONFIG_SECRET',
  identity: 'IDENTITY_SECRET',
  signing: 'SIGNING_SECRET',
  webhookKey: 'WEBHOOK_KEY_SECRET',
  // Settings as JSON: WebAuthn's relying party, and the limits of login attempts.
  relyingParty: 'RELYING_PARTY',
  rateLimits: 'RATE_LIMITS',
  // Kind of addresses that webhooks may have: `public` or `loopback`.
  webhookReach: 'WEBHOOK_REACH',
  version: 'SERVICE_VERSION',
} as const

/** Name of a resource that a function can use. */
export type Resource = keyof typeof RESOURCES

/** Builds the environment variables of these resources. */
export function buildVariables(values: { readonly [Name in Resource]?: string }): Record<string, string> {
  // The cast is right: an object of resources has no other names.
  const known = Object.entries(values) as [Resource, string][]
  return Object.fromEntries(known.map(([resource, value]) => [RESOURCES[resource], value]))
}

type TableResource = 'clients' | 'deposits' | 'users' | 'webhooks' | 'cache'

/** Name of a queue that a function can send to. */
export type QueueResource = 'deliveryQueue' | 'shardQueue'

/** Name of a secret that a function can use. */
export type SecretResource = 'config' | 'identity' | 'signing' | 'webhookKey'

/** Access to a table: a DynamoDB action on the table itself, or a query of one of its indexes. */
export type Access =
  | 'Query'
  | 'GetItem'
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem'
  | 'Scan'
  | `Query ${string}`

/** Resources that a function may use; for a table, its accesses. */
export type Uses = {
  readonly [Name in Resource]?: Name extends TableResource ? readonly Access[] : true
}

/** Values of these resources' environment variables, by resource name. */
export type Env<Name extends Resource> = { readonly [Key in Name]: string }
