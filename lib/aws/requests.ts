import type { Change, Condition } from './conditions.ts'

/** Key of an item. */
export type ItemKey = { readonly pk: string; readonly sk: string }

/** An item with its attributes, as in DynamoDB. */
export type Item = ItemKey & Readonly<Record<string, unknown>>

/** Attributes of the item before a page: those of its key and, in an index, of the index's key. */
export type PageKey = Readonly<Record<string, unknown>>

type Index = { readonly name: string; readonly partitionKey: string; readonly sortKey: string }

/** Range of one partition's items, in the order of their sort keys: all, or from `from` to `to`, both included. */
export type KeyRange = {
  readonly partition: string | number
  readonly from?: string | number
  readonly to?: string | number
  /** Text with which the sort keys begin, in place of `from` and `to`. */
  readonly prefix?: string
  readonly index?: Index
}

/** Options of a query or scan that reads one page. */
export type PageOptions = {
  readonly isConsistent: boolean
  readonly after?: PageKey | undefined
  /** Maximum items read before the filter; DynamoDB reads at most 1 MB. */
  readonly limit?: number | undefined
  readonly isDescending?: boolean | undefined
  readonly isKeysOnly?: boolean | undefined
  /** Condition of returned items. Items that do not meet it are still read. */
  readonly filter?: Condition | undefined
}

/** Items and the key of the next page; no `next` after the last page. */
export type Page = { readonly items: readonly Item[]; readonly next?: PageKey | undefined }

/** One write of a transaction. */
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
 * DynamoDB, one method for each of its actions. A conditional write returns false, or null, if its condition does not
 * hold. Every method throws if DynamoDB cannot be reached or refuses the request. Source:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB.html
 */
export type Dynamo = {
  getItem(request: {
    readonly table: string
    readonly key: ItemKey
    readonly isConsistent: boolean
  }): Promise<Item | undefined>
  /** Takes at most 100 keys. Also returns the keys that DynamoDB did not process. */
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
  /** Returns the item after the change. */
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
  /** Takes at most 25 writes. Returns those that DynamoDB did not process, all of them if the table was throttled. */
  batchWriteItem(request: {
    readonly table: string
    readonly writes: readonly BatchWrite[]
  }): Promise<readonly BatchWrite[]>
}

/** DynamoDB with transactions. Only scheduled jobs, their queue and operators' tools bundle this part of the SDK. */
export type TransactingDynamo = Dynamo & {
  /** Makes all or none of at most 100 writes of one table. Repeated requests with the same token write once. */
  transactWriteItems(request: {
    readonly table: string
    readonly writes: readonly Write[]
    readonly token: string
  }): Promise<TransactionOutcome>
}

/** DynamoDB for operators, who also read whole tables. */
export type OperatorDynamo = TransactingDynamo & {
  scan(request: { readonly table: string } & PageOptions): Promise<Page>
}

/** A write without a condition. */
export type BatchWrite = { readonly put: Item } | { readonly delete: ItemKey }

/** Error for a request that DynamoDB cannot serve now. Like the SDK's own errors, `$metadata` marks it as temporary. */
export class TableError extends Error {
  override readonly name: string = 'TableError'
  readonly $metadata = {}
}

/** Error for an item in a form that this version does not know, because a newer version wrote it. */
export class UnknownFormError extends TableError {
  override readonly name = 'UnknownFormError'
}

/** True if a request that ended with this error certainly did nothing. After a time-out or a lost response that is uncertain. */
export function wasRefused(error: unknown): boolean {
  return error instanceof Error && 'isRefused' in error && error.isRefused === true
}
