type KeyAttribute = { readonly name: string; readonly type: 'S' | 'N' }

/** A DynamoDB table as data: its keys, and its indexes, which hold only the items that have both of the index's keys. */
export type TableDefinition = {
  readonly partitionKey: KeyAttribute
  readonly sortKey: KeyAttribute
  readonly indexes: readonly {
    readonly name: string
    readonly partitionKey: KeyAttribute
    readonly sortKey: KeyAttribute
  }[]
  /** The attribute with the moment, in seconds since 1970, from which on DynamoDB may delete an item; it takes days at times. */
  readonly timeToLive?: string
}

const PK = { name: 'pk', type: 'S' } as const
const SK = { name: 'sk', type: 'S' } as const

/** The service's tables: the stack deploys them and the local service creates them from this. */
export const TABLES = {
  clients: { partitionKey: PK, sortKey: SK, indexes: [] },
  deposits: {
    partitionKey: PK,
    sortKey: SK,
    indexes: [
      // Transfers that the job follows, by their source chain and the time when it reads them next. Below zero, by the chain's id, are
      // the accounts whose rewards clients watch.
      {
        name: 'followedTransfers',
        partitionKey: { name: 'followedOnChain', type: 'N' },
        sortKey: { name: 'lookAt', type: 'N' },
      },
    ],
    // Quotes and watched accounts only: all else stays.
    timeToLive: 'expiresAt',
  },
  users: {
    partitionKey: PK,
    sortKey: SK,
    indexes: [],
    timeToLive: 'expiresAt',
  },
  // What is told to clients, and whom: docs/decisions/0038-events.md.
  webhooks: { partitionKey: PK, sortKey: SK, indexes: [], timeToLive: 'expiresAt' },
  // Answers of upstreams: each can be had again.
  cache: { partitionKey: PK, sortKey: SK, indexes: [], timeToLive: 'expiresAt' },
} as const satisfies Record<string, TableDefinition>

/** The word for one of the service's tables. */
export type TableKey = keyof typeof TABLES

/** The words for the service's tables. */
export const TABLE_KEYS = Object.keys(TABLES) as readonly TableKey[]

/** The name under which a stage's table exists in AWS. */
export function tableName(stage: string, table: TableKey): string {
  return `vaultline-${stage}-${table}`
}
