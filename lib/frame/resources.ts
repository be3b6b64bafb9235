/** What a function can use of its stage, and the environment variable that tells where or what it is. */
export const RESOURCES = {
  // Tables, by their names.
  clients: 'CLIENTS_TABLE',
  deposits: 'DEPOSITS_TABLE',
  users: 'USERS_TABLE',
  webhooks: 'WEBHOOKS_TABLE',
  cache: 'CACHE_TABLE',
  // Queues, by their URLs: deliveries to webhooks, and shards of chains that are to be recorded.
  deliveryQueue: 'DELIVERY_QUEUE_URL',
  shardQueue: 'SHARD_QUEUE_URL',
  // Secrets, by their ARNs: the stage's configuration, the service's own key, the keys that sign its answers, and the key
  // from which the secrets of webhooks follow.
  config: 'CONFIG_SECRET',
  identity: 'IDENTITY_SECRET',
  signing: 'SIGNING_SECRET',
  webhookKey: 'WEBHOOK_KEY_SECRET',
  // Settings, as JSON: for whom credentials are, and how many challenges are given.
  relyingParty: 'RELYING_PARTY',
  rateLimits: 'RATE_LIMITS',
  // Where events are sent, in one word.
  webhookReach: 'WEBHOOK_REACH',
  version: 'SERVICE_VERSION',
} as const

/** The word for something that a function can use. */
export type Resource = keyof typeof RESOURCES

/** The environment variables that tell what these resources are. */
export function buildVariables(values: { readonly [Name in Resource]?: string }): Record<string, string> {
  // An object of resources has no other names.
  const told = Object.entries(values) as [Resource, string][]
  return Object.fromEntries(told.map(([resource, value]) => [RESOURCES[resource], value]))
}

/** The word for a table that a function can use. */
type TableResource = 'clients' | 'deposits' | 'users' | 'webhooks' | 'cache'

/** The word for a queue that a function can send to. */
export type QueueResource = 'deliveryQueue' | 'shardQueue'

/** The word for a secret that a function can use. */
export type SecretResource = 'config' | 'identity' | 'signing' | 'webhookKey'

/** What a function does with a table: a DynamoDB action on the table itself, or a query of one of its indexes. */
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

/** What a function uses, and so may use: of a table what it does with it. */
export type Uses = {
  readonly [Name in Resource]?: Name extends TableResource ? readonly Access[] : true
}

/** What the variables tell of these resources. */
export type Env<Name extends Resource> = { readonly [Key in Name]: string }
