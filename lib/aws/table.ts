import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { inBatches } from '../core/batches.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import { any, type Change, type Condition, is, missing, set } from './conditions.ts'
import type { BatchWrite, Dynamo, Item, ItemKey, KeyRange, PageKey, PageOptions } from './requests.ts'
import { TableError, UnknownFormError } from './requests.ts'

/**
 * Options of a read. Reads are strongly consistent by default. An eventually consistent read may return data that are a
 * second old, but costs half.
 */
type ReadOptions = { readonly isConsistent?: boolean }

/** Options of a query for all items of a range. */
export type RangeOptions = Partial<Omit<PageOptions, 'after'>>

/** Changes of one item, made only if the condition is true. */
export type Update = { readonly changes: readonly Change[]; readonly when: Condition }

const READ_BATCH = 100
const WRITE_BATCH = 25
/** Pauses in milliseconds before the unprocessed items of a batch are sent again, while a caller waits for the result. */
const SHORT_PAUSES_MS = [25, 50, 100, 200]
const LONG_PAUSES_MS = [...SHORT_PAUSES_MS, 400, 800, 1_600]
const MAX_NAMED = 5

/**
 * Creates a DynamoDB table with the keys `pk` and `sk`. Codecs convert values to items and back. Every method throws if
 * the table cannot be reached, or an item does not match its schema. The SDK repeats a conditional write whose response
 * was lost, even if DynamoDB executed it. So each write stores a `writeId`, and its condition is also true for an item
 * with the same `writeId`.
 */
export function createTable(dynamo: Dynamo, table: string) {
  const writeMany = async (
    writes: readonly BatchWrite[],
    pauses: readonly number[] = LONG_PAUSES_MS,
  ): Promise<void> => {
    await runConcurrently(inBatches(distinct(writes, keyOfWrite), WRITE_BATCH), (batch) =>
      untilDone(batch, (undone) => dynamo.batchWriteItem({ table, writes: undone }), pauses),
    )
  }

  const changeItem = (key: ItemKey, { changes, when }: Update): Promise<Item | null> => {
    const writeId = randomUUID()
    return dynamo.updateItem({
      table,
      key,
      changes: [...changes, set('writeId', writeId)],
      when: any(when, is('writeId', '=', writeId)),
    })
  }

  /** Returns one page of a range: at most `limit` items or 1 MB, and the key of the next page. */
  const getPage = async <S extends z.ZodType>(
    schema: S,
    range: KeyRange,
    { isConsistent = true, ...options }: Partial<PageOptions> = {},
  ): Promise<{ items: z.output<S>[]; next: PageKey | undefined }> => {
    const { items, next } = await dynamo.query({ table, range, isConsistent, ...options })
    return { items: parseItem(z.array(schema), items), next }
  }

  async function* pages<S extends z.ZodType>(
    schema: S,
    range: KeyRange,
    options: RangeOptions = {},
  ): AsyncGenerator<z.output<S>[]> {
    let after: PageKey | undefined
    do {
      const { items, next } = await getPage(schema, range, { ...options, after })
      yield items
      after = next
    } while (after)
  }

  function put<S extends ItemCodec>(schema: S, key: ItemKey, value: z.output<S>, when?: Condition): Promise<boolean> {
    const item = buildItem(schema, key, value)
    if (!when) return dynamo.putItem({ table, item })
    const writeId = randomUUID()
    return dynamo.putItem({ table, item: { ...item, writeId }, when: any(when, is('writeId', '=', writeId)) })
  }

  return {
    name: table,

    async get<S extends z.ZodType>(
      schema: S,
      key: ItemKey,
      { isConsistent = true }: ReadOptions = {},
    ): Promise<z.output<S> | undefined> {
      const item = await dynamo.getItem({ table, key, isConsistent })
      return item && parseItem(schema, item)
    },

    /**
     * Returns the items of these keys, in their order; undefined for a key without an item. Each request reads 100 keys,
     * and eight requests run concurrently. Throws if DynamoDB has not processed all keys after retries for 0.4 s.
     */
    async getMany<S extends z.ZodType>(
      schema: S,
      keys: readonly ItemKey[],
      { isConsistent = true }: ReadOptions = {},
    ): Promise<(z.output<S> | undefined)[]> {
      const found = new Map<string, z.output<S>>()
      await runConcurrently(inBatches(distinct(keys, textOf), READ_BATCH), (batch) =>
        untilDone(
          batch,
          async (wanted) => {
            const { items, undone } = await dynamo.batchGetItem({ table, keys: wanted, isConsistent })
            for (const item of items) found.set(textOf(item), parseItem(schema, item))
            return undone
          },
          SHORT_PAUSES_MS,
        ),
      )
      return keys.map((key) => found.get(textOf(key)))
    },

    getPage,

    pages,

    async list<S extends z.ZodType>(schema: S, range: KeyRange, options: RangeOptions = {}): Promise<z.output<S>[]> {
      const found: z.output<S>[] = []
      for await (const page of pages(schema, range, options)) found.push(...page)
      return found
    },

    put,

    /** Adds an item. Returns false if an item with the same key exists. */
    add: <S extends ItemCodec>(schema: S, key: ItemKey, value: z.output<S>): Promise<boolean> =>
      put(schema, key, value, missing('pk')),

    /**
     * Writes these items and replaces existing items with the same keys. Each request writes 25 items, and eight
     * requests run concurrently. Unprocessed items are retried for 3.2 s, or for 0.4 s while a caller waits. The last
     * of several items with the same key is written. A failure may leave some items written.
     */
    putMany: (items: readonly Item[], { doesCallerWait = false } = {}): Promise<void> =>
      writeMany(
        items.map((item) => ({ put: item })),
        doesCallerWait ? SHORT_PAUSES_MS : LONG_PAUSES_MS,
      ),

    /** Changes an item. Returns false if the condition was false. */
    update: async (key: ItemKey, changeAndGet: Update): Promise<boolean> =>
      (await changeItem(key, changeAndGet)) !== null,

    /** Changes an item and returns the changed item. Returns undefined if the condition was false. */
    async change<S extends z.ZodType>(schema: S, key: ItemKey, change: Update): Promise<z.output<S> | undefined> {
      const item = await changeItem(key, change)
      return item === null ? undefined : parseItem(schema, item)
    },

    /**
     * Changes an item unconditionally, or adds it. A retry may make the changes twice, so use it only for changes where
     * that is harmless.
     */
    async write(key: ItemKey, changes: readonly Change[]): Promise<void> {
      await dynamo.updateItem({ table, key, changes })
    },

    /**
     * Adds `by` to a counter that expires at `until`, unless the sum would exceed `max`. Returns the sum, or undefined
     * if nothing was added. If a response is lost, the retry may add twice, or return undefined although the first
     * attempt added.
     */
    async count(
      key: ItemKey,
      { by, max, until, deadlineMs }: { by: number; max: number; until: Date; deadlineMs?: number },
    ): Promise<number | undefined> {
      const item = await dynamo.updateItem({
        table,
        key,
        changes: [{ do: 'add', path: 'counted', value: by }, set('expiresAt', Math.ceil(until.getTime() / 1000))],
        when: any(missing('counted'), is('counted', '<=', max - by)),
        deadlineMs,
      })
      return item === null ? undefined : z.object({ counted: z.number() }).parse(item).counted
    },

    /** Deletes an item. Returns false if the condition was false. */
    delete: (key: ItemKey, when?: Condition): Promise<boolean> => dynamo.deleteItem({ table, key, when }),

    /**
     * Deletes the items of these keys. Each request deletes 25 items, and eight requests run concurrently. A failure
     * may leave some deleted.
     */
    deleteMany: (keys: readonly ItemKey[]): Promise<void> =>
      writeMany(keys.map(({ pk, sk }) => ({ delete: { pk, sk } }))),
  }
}
export type Table = ReturnType<typeof createTable>

type ItemCodec = z.ZodType<unknown, object>

/**
 * Parses an item of a table. Throws UnknownSchemaError, named `UnknownFormError` in logs, if the item does not match
 * the schema. The request then fails with 503, and the log names the fields.
 */
export function parseItem<S extends z.ZodType>(schema: S, item: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(item)
  if (success) return data
  const fields = error.issues.slice(0, MAX_NAMED).map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new UnknownFormError(`This version does not know the form of an item: ${fields.join('; ')}`)
}

/** Builds the DynamoDB item that stores a value under this key. */
export function buildItem<S extends ItemCodec>(schema: S, key: ItemKey, value: z.output<S>): Item {
  return { ...z.encode(schema, value), ...key }
}

/** Sends a batch, then sends its unprocessed items again after each pause. Throws TableError if some items are still unprocessed. */
async function untilDone<T>(
  batch: readonly T[],
  send: (undone: readonly T[]) => Promise<readonly T[]>,
  pauses: readonly number[],
): Promise<void> {
  let undone = await send(batch)
  for (const pause of pauses) {
    if (undone.length === 0) return
    await sleep(pause)
    undone = await send(undone)
  }
  if (undone.length > 0) throw new TableError('The table left part of a batch undone.')
}

/** Removes duplicates: keeps the last of all elements with the same key. */
function distinct<T>(elements: readonly T[], keyOf: (element: T) => string): T[] {
  return [...new Map(elements.map((element) => [keyOf(element), element])).values()]
}

function keyOfWrite(write: BatchWrite): string {
  return textOf('put' in write ? write.put : write.delete)
}

function textOf({ pk, sk }: ItemKey): string {
  return `${pk} ${sk}`
}
