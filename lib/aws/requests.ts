import type { Change, Condition } from './conditions.ts'

/** The key of an item. */
export type ItemKey = { readonly pk: string; readonly sk: string }

/** An item with its attributes as DynamoDB holds them. */
export type Item = ItemKey & Readonly<Record<string, unknown>>

/** The attributes after which a page begins: those of the key and, in an index, of the index's key. */
export type PageKey = Readonly<Record<string, unknown>>

/** A global secondary index, by its name and key attributes. */
type Index = { readonly name: string; readonly partitionKey: string; readonly sortKey: string }

/** Items of one partition, in the order of their sort keys: those between two, both included, or all. */
export type KeyRange = {
  readonly partition: string | number
  readonly from?: string | number
  readonly to?: string | number
  /** In place of `from` and `to`: the beginning of the sort keys. */
  readonly prefix?: string
  readonly index?: Index
}

/** How a page is read. */
export type PageOptions = {
  readonly isConsistent: boolean
  readonly after?: PageKey | undefined
  /** Items to look at, at most; DynamoDB looks at 1 MB at most. */
  readonly limit?: number | undefined
  readonly isDescending?: boolean | undefined
  /** Only the keys of items. */
  readonly isKeysOnly?: boolean | undefined
  /** Leaves items out after they were looked at. */
  readonly filter?: Condition | undefined
}

/** Items as they were found, and where the next page begins; no `next` after the last page. */
export type Page = { readonly items: readonly Item[]; readonly next?: PageKey | undefined }

/** One of the writes of a transaction. */
export type Write =
  | { readonly put: Item; readonly when?: Condition | undefined }
  | { readonly delete: ItemKey; readonly when?: Condition | undefined }
  | {
      readonly update: ItemKey
      readonly changes: readonly Change[]
      readonly when?: Condition | undefined
    }
  | { readonly check: ItemKey; readonly when: Condition }

/** The outcome of a transaction: made, refused by the conditions of the writes at these indexes, or worth another try. */
type TransactionOutcome =
  | { readonly isMade: true }
  | { readonly refusedAt: readonly number[] }
  | { readonly isUncertain: true; readonly error: unknown }

/**
 * DynamoDB, one method for each of its actions. A conditional write returns false, or null, where its condition does not hold.
 * Every method throws when DynamoDB cannot be reached or refuses the request. Source:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB.html
 */
export type Dynamo = {
  getItem(request: {
    readonly table: string
    readonly key: ItemKey
    readonly isConsistent: boolean
  }): Promise<Item | undefined>
  /** At most 100 keys; returns those that were left undone, too. */
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
  /** Returns the item as it is then. */
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
  /** At most 25 writes; returns those that were left undone, all of them where the table was throttled. */
  batchWriteItem(request: {
    readonly table: string
    readonly writes: readonly BatchWrite[]
  }): Promise<readonly BatchWrite[]>
}

/** DynamoDB with transactions: only the job and operators bring their part of the SDK. */
export type TransactingDynamo = Dynamo & {
  /** At most 100 writes of one table, all made or none. The same token makes them once. */
  transactWriteItems(request: {
    readonly table: string
    readonly writes: readonly Write[]
    readonly token: string
  }): Promise<TransactionOutcome>
}

/** DynamoDB as operators use it: only they read whole tables. */
export type OperatorDynamo = TransactingDynamo & {
  scan(request: { readonly table: string } & PageOptions): Promise<Page>
}

/** A write without a condition. */
export type BatchWrite = { readonly put: Item } | { readonly delete: ItemKey }

/** DynamoDB cannot do what it is asked now. `$metadata` marks it, like the SDK's own errors, as trouble that passes. */
export class TableError extends Error {
  override readonly name: string = 'TableError'
  readonly $metadata = {}
}

/** An item is of a form that this version does not know: a newer version wrote it. */
export class UnknownFormError extends TableError {
  override readonly name = 'UnknownFormError'
}

/** Whether a request that ended with this has certainly done nothing. It is uncertain after a time-out or a lost answer. */
export function wasRefused(error: unknown): boolean {
  return error instanceof Error && 'isRefused' in error && error.isRefused === true
}
