import type { Change, Condition } from './conditions.ts'

/** Primary key of a DynamoDB item: partition key and sort key. */
export type ItemKey = { readonly pk: string; readonly sk: string }

/** DynamoDB item: its primary key and its other attributes. */
export type Item = ItemKey & Readonly<Record<string, unknown>>

/**
 * Key of the last item of a page. DynamoDB continues with the next page after this item. A page of an index also needs
 * the item's key in the index.
 */
export type PageKey = Readonly<Record<string, unknown>>

type Index = { readonly name: string; readonly partitionKey: string; readonly sortKey: string }

/** Range of items in one partition, ordered by sort key. `from` and `to` are inclusive; without them the range is the whole partition. */
export type KeyRange = {
  readonly partition: string | number
  readonly from?: string | number
  readonly to?: string | number
  /** Prefix of the sort keys, as an alternative to `from` and `to`. */
  readonly prefix?: string
  readonly index?: Index
}

/** Options of a query or scan that reads one page. */
export type PageOptions = {
  readonly isConsistent: boolean
  readonly after?: PageKey | undefined
  /** Maximum number of items that DynamoDB reads before it applies the filter. It reads at most 1 MB per page. */
  readonly limit?: number | undefined
  readonly isDescending?: boolean | undefined
  /** Condition for the returned items. DynamoDB also reads and charges the other items. */
  readonly filter?: Condition | undefined
}

/** Page of items. `next` is the key at which the next page begins; undefined after the last page. */
export type Page = { readonly items: readonly Item[]; readonly next?: PageKey | undefined }

/** One write, or one check of a condition, in a DynamoDB transaction. */
export type Write =
  | { readonly put: Item; readonly when?: Condition | undefined }
  | { readonly delete: ItemKey; readonly when?: Condition | undefined }
  | {
      readonly update: ItemKey
      readonly changes: readonly Change[]
      readonly when?: Condition | undefined
    }
  | { readonly check: ItemKey; readonly when: Condition }

type TransactionOutcome =
  | { readonly isMade: true }
  | { readonly refusedAt: readonly number[] }
  | { readonly isUncertain: true; readonly error: unknown }

/**
 * The actions of DynamoDB that this service uses, one method each. A conditional write returns false or null if its
 * condition is false. Every method throws if DynamoDB cannot be reached or rejects the request. Source:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB.html
 */
export type Dynamo = {
  getItem(request: {
    readonly table: string
    readonly key: ItemKey
    readonly isConsistent: boolean
  }): Promise<Item | undefined>
  /** Reads the items of at most 100 keys. `undone` has the keys that DynamoDB did not process. */
  batchGetItem(request: {
    readonly table: string
    readonly keys: readonly ItemKey[]
    readonly isConsistent: boolean
  }): Promise<{ readonly items: readonly Item[]; readonly undone: readonly ItemKey[] }>
  query(request: { readonly table: string; readonly range: KeyRange } & PageOptions): Promise<Page>
  putItem(request: {
    readonly table: string
    readonly item: Item
    readonly when?: Condition | undefined
  }): Promise<boolean>
  /** Returns the changed item; null if the condition was false. */
  updateItem(request: {
    readonly table: string
    readonly key: ItemKey
    readonly changes: readonly Change[]
    readonly when?: Condition | undefined
    readonly deadlineMs?: number | undefined
  }): Promise<Item | null>
  deleteItem(request: {
    readonly table: string
    readonly key: ItemKey
    readonly when?: Condition | undefined
  }): Promise<boolean>
  /** Makes at most 25 writes. Returns the writes that DynamoDB did not process: all of them if the table was throttled. */
  batchWriteItem(request: {
    readonly table: string
    readonly writes: readonly BatchWrite[]
  }): Promise<readonly BatchWrite[]>
}

/**
 * DynamoDB actions with transactions. Only scheduled jobs, their queue consumer and operators' tools bundle this part
 * of the SDK, which keeps other bundles small.
 */
export type TransactingDynamo = Dynamo & {
  /** Makes all or none of at most 100 writes to one table. Repeated requests with the same token write only once. */
  transactWriteItems(request: {
    readonly table: string
    readonly writes: readonly Write[]
    readonly token: string
  }): Promise<TransactionOutcome>
}

/** DynamoDB actions for operators' tools, with scans of whole tables. */
export type OperatorDynamo = TransactingDynamo & {
  scan(request: { readonly table: string } & PageOptions): Promise<Page>
}

/** Unconditional write of a batch. */
export type BatchWrite = { readonly put: Item } | { readonly delete: ItemKey }

/** Error for a request that DynamoDB cannot serve at present. The field `$metadata`, as in the SDK's errors, marks it as temporary. */
export class TableError extends Error {
  override readonly name: string = 'TableError'
  readonly $metadata = {}
}

/** Error for an item that does not match the schema of this version. A newer version has probably written the item. */
export class UnknownFormError extends TableError {
  override readonly name = 'UnknownFormError'
}

/**
 * Returns true if the request that failed with this error certainly changed nothing. After a time-out or a lost
 * response the effect is unknown.
 */
export function wasRefused(error: unknown): boolean {
  return error instanceof Error && 'isRefused' in error && error.isRefused === true
}
