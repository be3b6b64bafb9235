/** Resources of a stage, and the environment variables that pass their names or values to functions. */
export const RESOURCES = {
  // Tables, passed by name.
  clients: 'CLIENTS_TABLE',
  deposits: 'DEPOSITS_TABLE',
  users: 'USERS_TABLE',
  webhooks: 'WEBHOOKS_TABLE',
  cache: 'CACHE_TABLE',
  // Queues, passed by URL: deliveries to webhooks, and groups of vaults whose chain data one run records.
  deliveryQueue: 'DELIVERY_QUEUE_URL',
  shardQueue: 'SHARD_QUEUE_URL',
  // Secrets, passed by ARN: configuration, keys for user accounts, keys that sign responses, and the key from which
  // webhook secrets derive.
  config: 'CONFIG_SECRET',
  identity: 'IDENTITY_SECRET',
  signing: 'SIGNING_SECRET',
  webhookKey: 'WEBHOOK_KEY_SECRET',
  // Settings as JSON: WebAuthn's relying party, and the limits of failed attempts.
  relyingParty: 'RELYING_PARTY',
  rateLimits: 'RATE_LIMITS',
  // Network in which webhooks may be: `public`, or `loopback` for local tests.
  webhookReach: 'WEBHOOK_REACH',
  version: 'SERVICE_VERSION',
} as const

/** Name of a resource that a function can use, such as a table or a secret. */
export type Resource = keyof typeof RESOURCES

/** Builds environment variables from these resources' names or values. */
export function buildVariables(values: { readonly [Name in Resource]?: string }): Record<string, string> {
  // The cast is safe: `values` has only names of resources as keys.
  const known = Object.entries(values) as [Resource, string][]
  return Object.fromEntries(known.map(([resource, value]) => [RESOURCES[resource], value]))
}

type TableResource = 'clients' | 'deposits' | 'users' | 'webhooks' | 'cache'

/** Name of an SQS queue that a function can send to. */
export type QueueResource = 'deliveryQueue' | 'shardQueue'

/** Name of a secret that a function can read. */
export type SecretResource = 'config' | 'identity' | 'signing' | 'webhookKey'

/** Permission on a table: a DynamoDB action on the table, or a query of one of its indexes. */
export type TablePermission =
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

/** Resources that a function may use. A table has a list of permissions. */
export type Uses = {
  readonly [Name in Resource]?: Name extends TableResource ? readonly TablePermission[] : true
}

/** Values of the environment variables of these resources, by resource name. */
export type Env<Name extends Resource> = { readonly [Key in Name]: string }
