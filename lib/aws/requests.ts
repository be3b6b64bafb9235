import type { Change, Condition } from './conditions.ts'

/** Key of an item. */
export type ItemKey = { readonly pk: string; readonly sk: string }

/** An item with its attributes, as in DynamoDB. */
export type Item = ItemKey & Readonly<Record<string, unknown>>

/** Attributes after which a page begins: those of the key and, in an index, of the index's key. */
export type PageKey = Readonly<Record<string, unknown>>

type Index = { readonly name: string; readonly partitionKey: string; readonly sortKey: string }

/** Items of one partition, in the order of their sort keys: all, or those from one to another, both included. */
export type KeyRange = {
  readonly partition: string | number
  readonly from?: string | number
  readonly to?: string | number
  /** Beginning of the sort keys, in place of `from` and `to`. */
  readonly prefix?: string
  readonly index?: Index
}

/** Options of a page. */
export type PageOptions = {
  readonly isConsistent: boolean
  readonly after?: PageKey | undefined
  /** Maximum items read before the filter; DynamoDB reads at most 1 MB. */
  readonly limit?: number | undefined
  readonly isDescending?: boolean | undefined
  readonly isKeysOnly?: boolean | undefined
  /** Excludes items after they are read. */
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
  /** Takes at most 100 keys; also returns those left undone. */
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
  /** Takes at most 25 writes; returns those left undone, all of them if the table was throttled. */
  batchWriteItem(request: {
    readonly table: string
    readonly writes: readonly BatchWrite[]
  }): Promise<readonly BatchWrite[]>
}

/** DynamoDB with transactions. Only the job and operators bundle this part of the SDK. */
export type TransactingDynamo = Dynamo & {
  /** Makes all or none of at most 100 writes of one table. The same token makes them once. */
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

/** DynamoDB cannot serve a request now. Like the SDK's own errors, `$metadata` marks it as temporary. */
export class TableError extends Error {
  override readonly name: string = 'TableError'
  readonly $metadata = {}
}

/** An item has a form that this version does not know: a newer version wrote it. */
export class UnknownFormError extends TableError {
  override readonly name = 'UnknownFormError'
}

/** True if a request that ended with this error certainly did nothing. After a time-out or a lost response that is uncertain. */
export function wasRefused(error: unknown): boolean {
  return error instanceof Error && 'isRefused' in error && error.isRefused === true
}
