import { isDeepStrictEqual } from 'node:util'
import type { AttributePath, Change, Comparison, Condition } from '../../lib/aws/conditions.ts'
import { createExpressionBuilder } from '../../lib/aws/expressions.ts'
import {
  type BatchWrite,
  type Item,
  type ItemKey,
  type KeyRange,
  type OperatorDynamo,
  type Page,
  type PageKey,
  type PageOptions,
  TableError,
  type Write,
} from '../../lib/aws/requests.ts'
import { findExpressionLimitError } from '../../sandbox/expression-limits.ts'

/** Attempt of a request to DynamoDB. A retry is another attempt. */
export type RequestAttempt = {
  readonly action: string
  readonly table: string
  readonly index: string | undefined
  readonly request: object
  readonly body: string
  /** True if the simulated crash of the caller happens at this write. */
  readonly isCutOff: boolean
  units: number
}

type Faults = {
  readonly tries: RequestAttempt[]
  /** Returns a promise for which this request waits before it runs, or undefined for a request that runs at once. */
  hold: ((tried: RequestAttempt) => Promise<unknown> | undefined) | undefined
  /** Promise for which a transaction waits while its items are locked. */
  holdTransactions: Promise<unknown> | undefined
  throttles: ((tried: RequestAttempt) => boolean) | undefined
  /** Returns true for attempts that succeed but lose their response, so that the SDK retries them. */
  losesAnswer: ((tried: RequestAttempt) => boolean) | undefined
  /** Returns true for attempts that fail without effect, as if DynamoDB were down. */
  fails: ((tried: RequestAttempt) => boolean) | undefined
  /** Returns true for requests that DynamoDB rejects as invalid, as for a too large item. The SDK does not retry them. */
  refuses: ((tried: RequestAttempt) => boolean) | undefined
  leavesUndone: ((tried: RequestAttempt) => boolean) | undefined
  /** Maximum number of items that a query reads per page. */
  maxPage: number | undefined
  /**
   * Simulates a crash of the caller at its `count`-th write from now: all later requests fail. The write itself
   * succeeds, but of a batch only the first half. The returned function reports whether the crash has happened.
   */
  killAt(count: number): () => boolean
  /** Makes eventually consistent reads return the present items until `catchUp` or `reset`, even after later writes. */
  lag(): void
  catchUp(): void
  reset(): void
}

/** Connection to the in-memory DynamoDB, with faults that tests switch on. */
export type Connection = Faults & { readonly dynamo: OperatorDynamo }

/** DynamoDB in memory, with one connection that has faults. */
export type MemoryDynamo = Connection & {
  /** Connection without faults. Its requests are not recorded. */
  readonly direct: OperatorDynamo
  readonly connectAgain: () => Connection
}

type Attempt = <T>(
  action: string,
  request: { readonly table: string } & Readonly<Record<string, unknown>>,
  perform: (tried: RequestAttempt) => T | Promise<T>,
) => Promise<T>

/**
 * Limits of DynamoDB. All are in bytes except `nesting`, the maximum depth of an item
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html).
 */
const MAX = {
  item: 400 * 1024,
  page: 2 ** 20,
  batch: 16 * 2 ** 20,
  transaction: 4 * 2 ** 20,
  pk: 2048,
  sk: 1024,
  nesting: 32,
}
const TRIES = 2
/** Time in milliseconds for which DynamoDB recognises a repeated transaction by its client request token. */
const TOKEN_MS = 600_000

class DynamoError extends TableError {
  override readonly name: string
  readonly isRefused: boolean
  constructor(name: string, message: string, isRefused = false) {
    super(message)
    this.name = name
    this.isRefused = isRefused
  }
}
const invalid = (message: string) => new DynamoError('ValidationException', message)

type Stored = { readonly item: Item; readonly size: number }
type Partition = Map<string, Stored>
type Tables = Map<string, Map<string, Partition>>

/**
 * Creates a DynamoDB in memory with the conditions, limits, pages and errors of the real DynamoDB. Tests can switch on faults.
 * Writes are atomic. `now` is in milliseconds since 1970.
 */
export function memoryDynamo({
  now = Date.now,
  onTry = () => {},
}: {
  readonly now?: () => number
  readonly onTry?: (tried: RequestAttempt) => void
} = {}): MemoryDynamo {
  const tables: Tables = new Map()
  /** Sorted sort keys of each partition. They are recomputed after an item is added or deleted. */
  const orders = new WeakMap<Partition, readonly string[]>()
  const busy = new Set<string>()
  const tokens = new Map<string, { readonly writes: unknown; readonly at: number }>()

  const partitionOf = (table: string, pk: string, from: Tables = tables) => from.get(table)?.get(pk)
  const find = (table: string, key: ItemKey, from?: Tables) => partitionOf(table, key.pk, from)?.get(key.sk)

  function store(table: string, { item, size }: Stored): void {
    const partitions = tables.get(table) ?? new Map<string, Partition>()
    tables.set(table, partitions)
    const partition = partitions.get(item.pk) ?? new Map<string, Stored>()
    partitions.set(item.pk, partition)
    if (!partition.has(item.sk)) orders.delete(partition)
    partition.set(item.sk, { item, size })
  }

  function erase(table: string, { pk, sk }: ItemKey): void {
    const partition = partitionOf(table, pk)
    if (partition?.delete(sk)) orders.delete(partition)
    if (partition?.size === 0) tables.get(table)?.delete(pk)
  }

  function sortKeysOf(partition: Partition): readonly string[] {
    const order = orders.get(partition) ?? [...partition.keys()].sort(compareTexts)
    orders.set(partition, order)
    return order
  }

  /** Prepares a write without changing the table. Returns undefined if the write's condition does not hold. */
  function prepare(
    table: string,
    write: Write,
  ): { readonly size: number; readonly apply: () => Item | undefined } | undefined {
    const key = keyOf(write)
    const before = find(table, key)
    if (write.when && !holds(write.when, before?.item)) return undefined
    if ('check' in write) return { size: before?.size ?? 0, apply: () => undefined }
    if ('delete' in write) return { size: before?.size ?? 0, apply: () => void erase(table, key) }
    const item = 'put' in write ? write.put : updated(before?.item ?? key, write.changes)
    const after = measured(item, 'update' in write)
    return {
      size: after.size,
      apply: () => {
        store(table, after)
        return after.item
      },
    }
  }

  function make(table: string, write: Write, tried: RequestAttempt): Item | null | undefined {
    checkWrite(write)
    if (busy.has(nameOf(table, keyOf(write)))) {
      throw new DynamoError('TransactionConflictException', 'Transaction is ongoing for the item')
    }
    const prepared = prepare(table, write)
    tried.units = writeUnits(prepared?.size)
    return prepared ? prepared.apply() : null
  }

  /** Returns the next page of items. A page ends at the limit or after 1 MB, as in DynamoDB. */
  function pageOf(
    candidates: Iterable<Stored>,
    { limit = Number.POSITIVE_INFINITY, filter }: PageOptions,
    toItem: (stored: Stored) => Item,
    keyOfPage: (item: Item) => PageKey,
  ): Page & { readonly size: number } {
    if (filter) checkExpression('FilterExpression', createExpressionBuilder().condition(filter))
    const items: Item[] = []
    let [looked, size] = [0, 0]
    for (const candidate of candidates) {
      looked += 1
      size += candidate.size
      if (!filter || holds(filter, candidate.item)) items.push(toItem(candidate))
      // DynamoDB returns a next key even if the page ended exactly at the last item.
      if (looked >= limit || size > MAX.page) return { items, size, next: keyOfPage(candidate.item) }
    }
    return { items, size }
  }

  function* inRange(
    source: Tables,
    table: string,
    range: KeyRange,
    { isConsistent, after, isDescending }: PageOptions,
  ): Iterable<Stored> {
    if (range.index) {
      if (isConsistent) throw invalid('Consistent reads are not supported on global secondary indexes')
      yield* inIndex(source.get(table) ?? new Map(), range, range.index, { after, isDescending })
      return
    }
    checkKeyText('pk', range.partition)
    for (const bound of [range.from, range.to, range.prefix]) if (bound !== undefined) checkKeyText('sk', bound)
    const partition = partitionOf(table, `${range.partition}`, source)
    if (!partition) return
    const last = after === undefined ? undefined : `${after['sk']}`
    const order = sortKeysOf(partition)
    for (const sk of isDescending ? order.toReversed() : order) {
      if (last !== undefined && (isDescending ? compareTexts(sk, last) >= 0 : compareTexts(sk, last) <= 0)) continue
      const stored = partition.get(sk)
      if (stored && isWithin(sk, range)) yield stored
    }
  }

  const connect = (attempt: Attempt, faults?: Switches): OperatorDynamo => {
    const toItem = ({ item }: Stored): Item => copied(item)
    const tablesFor = (isConsistent: boolean) => (isConsistent ? tables : (faults?.lagging() ?? tables))
    return {
      getItem: ({ table, key, isConsistent }) =>
        attempt('GetItem', { table, key, isConsistent }, (tried) => {
          checkKey(key)
          const stored = find(table, key, tablesFor(isConsistent))
          tried.units = readUnits(stored?.size, isConsistent)
          return stored && toItem(stored)
        }),

      batchGetItem: ({ table, keys, isConsistent }) =>
        attempt('BatchGetItem', { table, keys, isConsistent }, (tried) => {
          checkBatch(keys, 100)
          if (faults?.leavesUndone?.(tried)) return { items: [], undone: keys }
          const items: Item[] = []
          let size = 0
          for (const [index, key] of keys.entries()) {
            const stored = find(table, key, tablesFor(isConsistent))
            size += stored?.size ?? 0
            if (size > MAX.batch) return { items, undone: keys.slice(index) }
            tried.units += readUnits(stored?.size, isConsistent)
            if (stored) items.push(toItem(stored))
          }
          return { items, undone: [] }
        }),

      query: ({ table, range, ...options }) =>
        attempt('Query', { table, range, ...options }, (tried) => {
          const { partitionKey = 'pk', sortKey = 'sk' } = range.index ?? {}
          if (namesIn(options.filter).some((name) => name === partitionKey || name === sortKey)) {
            throw invalid('Filter Expression can only contain non-primary key attributes')
          }
          const { size, ...page } = pageOf(
            inRange(tablesFor(options.isConsistent), table, range, options),
            { ...options, limit: Math.min(options.limit ?? MAX.page, faults?.maxPage ?? MAX.page) },
            toItem,
            ({ pk, sk, ...attributes }) => ({
              pk,
              sk,
              ...(range.index && {
                [range.index.partitionKey]: attributes[range.index.partitionKey],
                [range.index.sortKey]: attributes[range.index.sortKey],
              }),
            }),
          )
          tried.units = readUnits(size, options.isConsistent)
          return page
        }),

      scan: ({ table, ...options }) =>
        attempt('Scan', { table, ...options }, (tried) => {
          const source = tablesFor(options.isConsistent)
          const items = [...(source.get(table)?.values() ?? [])].flatMap((partition) => [...partition.values()])
          const { after } = options
          const start = after
            ? items.findIndex(({ item }) => item.pk === after['pk'] && item.sk === after['sk']) + 1
            : 0
          const { size, ...page } = pageOf(items.slice(start), options, toItem, ({ pk, sk }) => ({ pk, sk }))
          tried.units = readUnits(size, options.isConsistent)
          return page
        }),

      putItem: ({ table, item, when }) =>
        attempt('PutItem', { table, item, when }, (tried) => make(table, { put: item, when }, tried) !== null),

      updateItem: ({ table, key, changes, when }) =>
        attempt('UpdateItem', { table, key, changes, when }, (tried) => {
          const item = make(table, { update: key, changes, when }, tried)
          return item ? copied(item) : null
        }),

      deleteItem: ({ table, key, when }) =>
        attempt('DeleteItem', { table, key, when }, (tried) => make(table, { delete: key, when }, tried) !== null),

      async batchWriteItem({ table, writes }) {
        try {
          return await attempt('BatchWriteItem', { table, writes }, (tried) => {
            checkBatch(writes.map(keyOfBatch), 25)
            for (const write of writes) checkWrite(write)
            if (faults?.leavesUndone?.(tried)) return writes
            const done = tried.isCutOff ? writes.slice(0, Math.ceil(writes.length / 2)) : writes
            for (const write of done) {
              const prepared = prepare(table, write)
              tried.units += writeUnits(prepared?.size)
              prepared?.apply()
            }
            return []
          })
        } catch (error) {
          if (error instanceof DynamoError && error.name === 'ThrottlingException') return writes
          throw error
        }
      },

      async transactWriteItems({ table, writes, token }) {
        const names = writes.map((write) => nameOf(table, keyOf(write)))
        try {
          return await attempt('TransactWriteItems', { table, writes, token }, async (tried) => {
            if (writes.length === 0 || writes.length > 100) throw invalid('A transaction has 1 to 100 actions')
            if (new Set(names).size < names.length) {
              throw invalid('Transaction request cannot include multiple operations on one item')
            }
            for (const write of writes) checkWrite(write)
            const earlier = tokens.get(token)
            if (earlier && now() - earlier.at < TOKEN_MS) {
              if (isDeepStrictEqual(earlier.writes, writes)) return { isMade: true }
              throw new DynamoError('IdempotentParameterMismatchException', 'The token is of another transaction')
            }
            if (names.some((name) => busy.has(name))) {
              return {
                isUncertain: true,
                error: new DynamoError('TransactionCanceledException', '[TransactionConflict]'),
              }
            }
            if (faults?.holdTransactions) {
              for (const name of names) busy.add(name)
              await faults.holdTransactions.finally(() => {
                for (const name of names) busy.delete(name)
              })
            }
            const prepared = writes.map((write) => prepare(table, write))
            // A write in a transaction costs twice the units of a single write, even if the transaction is refused.
            tried.units = prepared.reduce((sum, one) => sum + 2 * writeUnits(one?.size), 0)
            const refusedAt = prepared.flatMap((one, index) => (one ? [] : [index]))
            if (refusedAt.length > 0) return { refusedAt }
            if (prepared.reduce((sum, one) => sum + (one?.size ?? 0), 0) > MAX.transaction) {
              throw invalid('The items of the transaction have more than 4 MB')
            }
            for (const one of prepared) one?.apply()
            tokens.set(token, { writes, at: now() })
            return { isMade: true }
          })
        } catch (error) {
          if (error instanceof DynamoError && !/^(Validation|Idempotent|Killed)/.test(error.name)) {
            return { isUncertain: true, error }
          }
          throw error
        }
      },
    }
  }

  const connectAgain = (): Connection => {
    const faults = createFaults(snapshot)
    return Object.assign(faults, { dynamo: connect(attemptWith(faults, onTry), faults) })
  }
  const direct = connect(async (action, request, perform) => await perform(triedOf(action, request)))
  return Object.assign(connectAgain(), { direct, connectAgain })

  function snapshot(): Tables {
    return new Map(
      [...tables].map(([name, partitions]) => [name, new Map([...partitions].map(([pk, of]) => [pk, new Map(of)]))]),
    )
  }
}

type Switches = Faults & {
  readonly lagging: () => Tables | undefined
  /** Counts a write. Returns the number of writes left until the simulated crash of the caller. */
  readonly takeWrite: () => number
  readonly isKilled: () => boolean
}

const NO_FAULTS = {
  hold: undefined,
  holdTransactions: undefined,
  throttles: undefined,
  losesAnswer: undefined,
  fails: undefined,
  refuses: undefined,
  leavesUndone: undefined,
  maxPage: undefined,
}

function createFaults(snapshot: () => Tables): Switches {
  let lagging: Tables | undefined
  let left = Number.POSITIVE_INFINITY
  const faults: Switches = {
    tries: [],
    ...NO_FAULTS,
    lagging: () => lagging,
    lag() {
      lagging = snapshot()
    },
    catchUp() {
      lagging = undefined
    },
    killAt(count) {
      left = count
      return () => left <= 0
    },
    isKilled: () => left <= 0,
    takeWrite() {
      left -= 1
      return left
    },
    reset() {
      lagging = undefined
      left = Number.POSITIVE_INFINITY
      faults.tries.length = 0
      Object.assign(faults, NO_FAULTS)
    },
  }

  return faults
}

/** Attempts a request as the AWS SDK does, with retries after throttling, a failure or a lost response. */
function attemptWith(faults: Switches, onTry: (tried: RequestAttempt) => void): Attempt {
  return async (action, request, perform) => {
    const errors: DynamoError[] = []
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (faults.isKilled()) throw new DynamoError('Killed', 'The caller was killed.')
      const tried = triedOf(action, request, IS_WRITE.test(action) && faults.takeWrite() === 0)
      faults.tries.push(tried)
      onTry(tried)
      // DynamoDB never responds in the same turn of the event loop, so the code yields once.
      await faults.hold?.(tried)
      await Promise.resolve()
      if (faults.refuses?.(tried)) throw invalid('Item size has exceeded the maximum allowed size')
      if (faults.fails?.(tried)) errors.push(new DynamoError('InternalServerError', 'DynamoDB is down.'))
      else if (faults.throttles?.(tried)) {
        const name = 'ThrottlingException'
        errors.push(
          new DynamoError(
            name,
            'Throughput exceeds the current limit.',
            errors.every((e) => e.isRefused),
          ),
        )
      } else {
        const answer = await perform(tried)
        if (tried.isCutOff) throw new DynamoError('Killed', 'The caller was killed.')
        if (!faults.losesAnswer?.(tried)) return answer
        errors.push(new DynamoError('TimeoutError', 'The answer was lost.'))
      }
    }
    throw errors.at(-1) ?? new Error('A request has at least one try.')
  }
}

const IS_WRITE = /^(Put|Update|Delete|BatchWrite|TransactWrite)Items?$/

function triedOf(
  action: string,
  request: { readonly table: string; readonly range?: KeyRange },
  isCutOff = false,
): RequestAttempt {
  let body: string | undefined
  return {
    action,
    table: request.table,
    index: request.range?.index?.name,
    request,
    isCutOff,
    units: 0,
    get body() {
      body ??= JSON.stringify(request, (_, value) => (value instanceof Set ? [...value] : value))
      return body
    },
  }
}

function readUnits(size = 0, isConsistent = false): number {
  return Math.max(1, Math.ceil(size / 4096)) * (isConsistent ? 1 : 0.5)
}

function writeUnits(size = 0): number {
  return Math.max(1, Math.ceil(size / 1024))
}

function nameOf(table: string, { pk, sk }: ItemKey): string {
  return JSON.stringify([table, pk, sk])
}

function keyOf(write: Write): ItemKey {
  const { pk, sk } =
    'put' in write ? write.put : 'update' in write ? write.update : 'delete' in write ? write.delete : write.check
  return { pk, sk }
}

function keyOfBatch(write: BatchWrite): ItemKey {
  return 'put' in write ? write.put : write.delete
}

/** Compares texts by their UTF-8 bytes, as DynamoDB does. JavaScript orders only texts with surrogates otherwise. */
function compareTexts(left: string, right: string): number {
  if (left === right) return 0
  if (SURROGATE.test(left) || SURROGATE.test(right)) return Buffer.compare(Buffer.from(left), Buffer.from(right))
  return left < right ? -1 : 1
}
const SURROGATE = /[\ud800-\udfff]/

function isWithin(sk: string, { from, to, prefix }: KeyRange): boolean {
  if (prefix !== undefined) return sk.startsWith(prefix)
  return (
    (from === undefined || compareTexts(sk, `${from}`) >= 0) && (to === undefined || compareTexts(sk, `${to}`) <= 0)
  )
}

/** Returns the items of a secondary index partition. Items with equal sort keys are ordered by their table keys. */
function inIndex(
  partitions: Map<string, Partition>,
  { partition, from, to }: KeyRange,
  { partitionKey, sortKey }: NonNullable<KeyRange['index']>,
  { after, isDescending }: Pick<PageOptions, 'after' | 'isDescending'>,
): Stored[] {
  const order = (left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>) =>
    compareValues(left[sortKey], right[sortKey]) ||
    compareTexts(`${left['pk']} ${left['sk']}`, `${right['pk']} ${right['sk']}`)
  const isIn = (value: unknown) =>
    value !== undefined &&
    (from === undefined || compareValues(value, from) >= 0) &&
    (to === undefined || compareValues(value, to) <= 0)
  const sorted = [...partitions.values()]
    .flatMap((of) => [...of.values()])
    .filter(({ item }) => item[partitionKey] === partition && isIn(item[sortKey]))
    .sort((left, right) => (isDescending ? -1 : 1) * order(left.item, right.item))
  return after ? sorted.filter(({ item }) => (isDescending ? -1 : 1) * order(item, after) > 0) : sorted
}

type Type = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'L' | 'M' | 'SS'

function typeOf(value: unknown): Type {
  if (typeof value === 'string') return 'S'
  if (typeof value === 'number' || typeof value === 'bigint') return 'N'
  if (typeof value === 'boolean') return 'BOOL'
  if (value === null) return 'NULL'
  if (value instanceof Uint8Array) return 'B'
  if (value instanceof Set) return 'SS'
  if (Array.isArray(value)) return 'L'
  if (typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value))) return 'M'
  throw new Error(`The SDK cannot marshall this: ${String(value)}`)
}

/** Copies a value as DynamoDB stores it: without undefined fields, and independent of the caller's object. */
function copied<T>(value: T): T {
  return marshalled(value) as T
}

function marshalled(value: unknown, depth = 0): unknown {
  if (depth > MAX.nesting) throw invalid('Nesting Levels have exceeded supported limits')
  switch (typeOf(value)) {
    case 'M':
      return Object.fromEntries(
        Object.entries(value as object)
          .filter(([, inner]) => inner !== undefined)
          .map(([name, inner]) => [name, marshalled(inner, depth + 1)]),
      )
    case 'L':
      return (value as unknown[]).filter((inner) => inner !== undefined).map((inner) => marshalled(inner, depth + 1))
    case 'SS': {
      const elements = [...(value as Set<unknown>)]
      if (elements.length === 0) throw invalid('An string set may not be empty')
      if (elements.some((element) => typeof element !== 'string')) throw new Error('Only sets of texts are stored.')
      return new Set(elements)
    }
    case 'B':
      return Uint8Array.from(value as Uint8Array)
    case 'N': {
      if (!Number.isFinite(Number(value)) || digitsOf(value) > 38) throw invalid(`Not a number of DynamoDB's: ${value}`)
      return Number.isSafeInteger(Number(value)) ? Number(value) : value
    }
    default:
      return value
  }
}

function digitsOf(number: unknown): number {
  return `${number}`.replace(/e.*$/, '').replaceAll(/\D|^0+/g, '').length
}

/**
 * Returns a value's size in bytes as DynamoDB counts it
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
 */
function sizeOf(value: unknown): number {
  switch (typeOf(value)) {
    case 'S':
      return Buffer.byteLength(value as string)
    case 'N':
      return Math.ceil(digitsOf(value) / 2) + 1 + Number(Number(value) < 0)
    case 'B':
      return (value as Uint8Array).length
    case 'SS':
      return [...(value as Set<string>)].reduce((sum, element) => sum + Buffer.byteLength(element), 0)
    case 'L':
      return (value as unknown[]).reduce<number>((sum, inner) => sum + 1 + sizeOf(inner), 3)
    case 'M':
      return Object.entries(value as object).reduce((sum, [name, inner]) => sum + 1 + sizeOf(name) + sizeOf(inner), 3)
    default:
      return 1
  }
}

/** Returns an item as stored, with its size in bytes. Throws if the size exceeds 400 KB. */
function measured(item: Item, isUpdate: boolean): Stored {
  const stored = copied(item)
  const size = Object.entries(stored).reduce((sum, [name, value]) => sum + sizeOf(name) + sizeOf(value), 0)
  if (size > MAX.item) {
    throw invalid(`Item size ${isUpdate ? 'to update ' : ''}has exceeded the maximum allowed size`)
  }
  return { item: stored, size }
}

function checkKeyText(name: 'pk' | 'sk', value: unknown): void {
  if (typeof value !== 'string') throw invalid(`Type mismatch for key ${name}`)
  if (value === '')
    throw invalid(`The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`)
  if (Buffer.byteLength(value) > MAX[name]) throw invalid(`The key ${name} has more than ${MAX[name]} bytes`)
}

function checkKey({ pk, sk, ...others }: ItemKey): void {
  checkKeyText('pk', pk)
  checkKeyText('sk', sk)
  if (Object.keys(others).length > 0) throw invalid('The provided key element does not match the schema')
}

function checkBatch(keys: readonly ItemKey[], max: number): void {
  if (keys.length === 0 || keys.length > max) throw invalid(`A batch has 1 to ${max} requests`)
  if (new Set(keys.map((key) => nameOf('', key))).size < keys.length)
    throw invalid('Provided list of item keys contains duplicates')
}

function checkWrite(write: Write): void {
  checkKey(keyOf(write))
  const expressions = createExpressionBuilder()
  if ('changes' in write) {
    checkExpression('UpdateExpression', expressions.update(write.changes))
    checkPaths(write.changes.map(({ path }) => namesOf(path)))
  }
  if (write.when) checkExpression('ConditionExpression', expressions.condition(write.when))
}

function checkExpression(name: string, text: string): void {
  const excess = findExpressionLimitError(name, text)
  if (excess !== undefined) throw invalid(excess)
}

function checkPaths(paths: readonly (readonly string[])[]): void {
  for (const [index, path] of paths.entries()) {
    if (['pk', 'sk'].includes(path[0] ?? ''))
      throw invalid('Cannot update attribute. This attribute is part of the key')
    const overlapping = paths.slice(index + 1).find((other) => {
      const shared = Math.min(path.length, other.length)
      return isDeepStrictEqual(path.slice(0, shared), other.slice(0, shared))
    })
    if (overlapping) throw invalid('Two document paths overlap with each other')
  }
}

function namesIn(condition: Condition | undefined): string[] {
  if (!condition) return []
  return 'conditions' in condition ? condition.conditions.flatMap(namesIn) : namesOf(condition.path).slice(0, 1)
}

function namesOf(path: AttributePath): readonly string[] {
  return typeof path === 'string' ? [path] : path
}

function valueAt(item: unknown, path: AttributePath): unknown {
  let value = item
  for (const name of namesOf(path)) {
    if (value === undefined || typeOf(value) !== 'M' || !Object.hasOwn(value as object, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

function compareValues(left: unknown, right: unknown): number {
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right)
  return Number(left) - Number(right)
}

const COMPARES: Readonly<Record<Exclude<Comparison, '=' | '<>'>, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

function compares(left: unknown, comparison: Comparison, right: unknown): boolean {
  const wanted = marshalled(right)
  if (comparison === '=') return left !== undefined && isDeepStrictEqual(left, wanted)
  if (comparison === '<>') return left === undefined || !isDeepStrictEqual(left, wanted)
  if (!['S', 'N', 'B'].includes(typeOf(wanted))) throw invalid('Incorrect operand type for operator or function')
  if (left === undefined || typeOf(left) !== typeOf(wanted)) return false
  return COMPARES[comparison](compareValues(left, wanted))
}

function holds(condition: Condition, item: Item | undefined): boolean {
  switch (condition.test) {
    case 'all':
      return condition.conditions.every((one) => holds(one, item))
    case 'any':
      return condition.conditions.some((one) => holds(one, item))
    case 'exists':
      return valueAt(item ?? {}, condition.path) !== undefined
    case 'missing':
      return valueAt(item ?? {}, condition.path) === undefined
    case 'beginsWith': {
      const value = valueAt(item ?? {}, condition.path)
      return typeof value === 'string' && value.startsWith(condition.value)
    }
    case 'size': {
      const value = valueAt(item ?? {}, condition.path)
      return value !== undefined && compares(elementsIn(value), condition.is, condition.value)
    }
    default:
      return compares(valueAt(item ?? {}, condition.path), condition.test, condition.value)
  }
}

function elementsIn(value: unknown): number {
  const type = typeOf(value)
  if (type === 'S' || type === 'B') return sizeOf(value)
  if (value instanceof Set) return value.size
  if (type === 'L' || type === 'M') return Object.keys(value as object).length
  throw invalid('Incorrect operand type for operator or function; operator or function: size')
}

/** Returns an item after these changes. Each change sees the item before all changes, as in DynamoDB's update expressions. */
function updated(before: Item, changes: readonly Change[]): Item {
  const item = copied(before)
  for (const change of changes) {
    const names = namesOf(change.path)
    const last = names.at(-1) ?? ''
    const parent = names.length === 1 ? item : valueAt(item, names.slice(0, -1) as unknown as AttributePath)
    if (parent === undefined || typeOf(parent) !== 'M') {
      throw invalid('The document path provided in the update expression is invalid for update')
    }
    const inside = parent as Record<string, unknown>
    const value = changedValue(change, valueAt(before, change.path))
    if (value === undefined) delete inside[last]
    else inside[last] = value
  }
  return item
}

function changedValue(change: Change, before: unknown): unknown {
  switch (change.do) {
    case 'remove':
      return undefined
    case 'set':
      return marshalledValue(change.value)
    case 'setOnce':
      return before === undefined ? marshalledValue(change.value) : before
    case 'add': {
      if (typeof change.value === 'number') {
        if (before !== undefined && typeOf(before) !== 'N') throw invalid('An operand has an incorrect data type')
        return Number(before ?? 0) + change.value
      }
      return marshalled(setOf(before).union(change.value))
    }
    case 'take': {
      const left = setOf(before).difference(change.value)
      return left.size > 0 ? left : undefined
    }
  }
}

function marshalledValue(value: unknown): unknown {
  if (value === undefined) throw invalid('ExpressionAttributeValues must not be empty')
  return marshalled(value)
}

function setOf(value: unknown): Set<string> {
  if (value === undefined) return new Set()
  if (!(value instanceof Set)) throw invalid('An operand in the update expression has an incorrect data type')
  return value
}
