type KeyAttribute = { readonly name: string; readonly type: 'S' | 'N' }

/** Definition of a DynamoDB table: its keys and indexes. An index contains only items that have both of its keys. */
export type TableDefinition = {
  readonly partitionKey: KeyAttribute
  readonly sortKey: KeyAttribute
  readonly indexes: readonly {
    readonly name: string
    readonly partitionKey: KeyAttribute
    readonly sortKey: KeyAttribute
  }[]
  /** Attribute with the time, in seconds since 1970, after which DynamoDB may delete an item. The deletion can take days. */
  readonly timeToLive?: string
}

const PK = { name: 'pk', type: 'S' } as const
const SK = { name: 'sk', type: 'S' } as const

/** Tables of the service. The stack and the local service both create them from these definitions. */
export const TABLES = {
  clients: { partitionKey: PK, sortKey: SK, indexes: [] },
  deposits: {
    partitionKey: PK,
    sortKey: SK,
    indexes: [
      // The index lists the bridge transfers that jobs still check, by source chain and time of the next check. It also
      // lists the accounts whose rewards jobs check, by the chain's id as a negative number.
      {
        name: 'followedTransfers',
        partitionKey: { name: 'followedOnChain', type: 'N' },
        sortKey: { name: 'lookAt', type: 'N' },
      },
    ],
    // Only bridge quotes and watched accounts have this attribute, so only they expire.
    timeToLive: 'expiresAt',
  },
  users: {
    partitionKey: PK,
    sortKey: SK,
    indexes: [],
    timeToLive: 'expiresAt',
  },
  // The table holds webhooks and the events for them (docs/decisions/0038-events.md).
  webhooks: { partitionKey: PK, sortKey: SK, indexes: [], timeToLive: 'expiresAt' },
  // The table holds responses of other services; each can be fetched again.
  cache: { partitionKey: PK, sortKey: SK, indexes: [], timeToLive: 'expiresAt' },
} as const satisfies Record<string, TableDefinition>

/** Key of one of the service's tables. */
export type TableKey = keyof typeof TABLES

/** Keys of the service's tables. */
export const TABLE_KEYS = Object.keys(TABLES) as readonly TableKey[]

/** Returns the name of a stage's table in AWS. */
export function tableName(stage: string, table: TableKey): string {
  return `vaultline-${stage}-${table}`
}
