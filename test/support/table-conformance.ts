import { test as base, describe, expect } from 'vitest'
import * as z from 'zod'
import type { Condition } from '../../lib/aws/conditions.ts'
import {
  addElements,
  all,
  any,
  beginsWith,
  exists,
  is,
  missing,
  remove,
  removeElements,
  set,
  setOnce,
  sizeIs,
} from '../../lib/aws/conditions.ts'
import { createOperatorTable, type OperatorTable } from '../../lib/aws/operator-table.ts'
import type { Item, OperatorDynamo, Write } from '../../lib/aws/requests.ts'
import { Amount, Timestamp } from '../../lib/core/codecs.ts'

const Anything = z.looseObject({ pk: z.string(), sk: z.string() })
const INDEX = { name: 'followedTransfers', partitionKey: 'followedOnChain', sortKey: 'lookAt' } as const

const KEY = { pk: 'a', sk: 'b' }
const TEXT = 'e'
const refused = { name: 'ValidationException' }

type Opened = { readonly dynamo: OperatorDynamo; readonly name: string; readonly table: OperatorTable }

/** Opens the table `name` in this DynamoDB. */
export const openTestTable = (dynamo: OperatorDynamo, name: string): Opened => ({
  dynamo,
  name,
  table: createOperatorTable(dynamo, name),
})

/**
 * Requests by the name of the DynamoDB limit that they test. With `over` 0 a request is exactly at the limit, with 1 it exceeds
 * the limit.
 */
const LIMITS: Readonly<Record<string, (opened: Opened, over: number) => Promise<unknown>>> = {
  'an item of more than 400 KB, whatever its characters': ({ table }, over) =>
    table.putMany([{ ...KEY, text: `${'é'.repeat(204_795)}${TEXT.repeat(over)}` }]),
  'an update that makes such an item': ({ table }, over) =>
    table.write(KEY, [set('text', `${'é'.repeat(204_795)}${TEXT.repeat(over)}`)]),
  'a batch of more than 25 writes': ({ dynamo, name }, over) =>
    dynamo.batchWriteItem({ table: name, writes: keys(25 + over).map((key) => ({ put: key })) }),
  'a batch of more than 100 reads': ({ dynamo, name }, over) =>
    dynamo.batchGetItem({ table: name, keys: keys(100 + over), isConsistent: true }),
  'a batch with a key twice': ({ dynamo, name }, over) =>
    dynamo.batchGetItem({ table: name, keys: [...keys(2), ...keys(over)], isConsistent: true }),
  'a partition key of more than 2,048 bytes': ({ table }, over) =>
    table.putMany([{ pk: `${'é'.repeat(1024)}${TEXT.repeat(over)}`, sk: 'b' }]),
  'a sort key of more than 1,024 bytes': ({ table }, over) =>
    table.get(Anything, { pk: 'a', sk: TEXT.repeat(1024 + over) }),
  'a query for a sort key of more than 1,024 bytes': ({ table }, over) =>
    table.list(Anything, { partition: 'a', to: TEXT.repeat(1024 + over) }),
  'an empty key': ({ table }, over) => table.get(Anything, { pk: 'p'.repeat(1 - over), sk: 'b' }),
  'a transaction of more than 100 writes': ({ table }, over) => table.transact(puts(100 + over)),
  'a transaction of more than 4 MB': ({ table }, over) => table.transact(puts(11, TEXT.repeat(381_288 + over * 11))),
  'a transaction with an item twice': ({ table }, over) => table.transact([...puts(2), ...puts(over)]),
  'a condition of more than 4 KB': ({ table }, over) =>
    table.delete(KEY, all(...Array.from({ length: 100 + over * 100 }, (_, index) => missing(`attribute${index}`)))),
  'a condition of more than 300 operators': ({ table }, over) => table.delete(KEY, anyNumber(150 + over)),
  'a filter of more than 300 operators': ({ table }, over) =>
    table.list(Anything, { partition: 'a' }, { filter: anyNumber(150 + over) }),
  'a value within more than 31 others': ({ table }, over) => table.putMany([{ ...KEY, value: nested(31 + over) }]),
  'an update of a part of nothing': ({ table }, over) => table.write(KEY, [set(over ? ['map', 'part'] : 'map', 'x')]),
  'an update of an attribute and a part of it': ({ table }, over) =>
    table.write(KEY, [set('map', {}), ...(over ? [set(['map', 'part'], 'x')] : [])]),
  'a consistent read of an index': ({ table }, over) =>
    table.list(Anything, { index: INDEX, partition: 1 }, { isConsistent: over > 0 }),
  'a query that filters by a key': ({ table }, over) =>
    table.list(Anything, { partition: 'a' }, { filter: exists(over ? 'sk' : 'word') }),
}

function keys(count: number) {
  return Array.from({ length: count }, (_, index) => ({ pk: 'a', sk: `${index}#` }))
}
function puts(count: number, text = ''): Write[] {
  return keys(count).map((key) => ({ put: { ...key, text } }))
}
function anyNumber(count: number): Condition {
  return any(...Array.from({ length: count }, (_, index) => is('number', '=', index)))
}
function nested(levels: number): unknown {
  return levels === 0 ? 'leaf' : { inner: nested(levels - 1) }
}

/** Condition expressions of every kind. The two booleans are the expected results for ITEM and for a missing item. */
const CONDITIONS: readonly (readonly [string, Condition, boolean, boolean])[] = [
  ['an attribute exists', exists('text'), true, false],
  ['a part of a map exists', exists(['map', 'part']), true, false],
  ['a part of a missing map exists', exists(['none', 'part']), false, false],
  ['an attribute is missing', missing('none'), true, true],
  ['an attribute that is there is missing', missing('text'), false, true],
  ['a text is another', is('text', '=', 'word'), true, false],
  ['a text is no other', is('text', '<>', 'word'), false, true],
  ['a missing attribute differs', is('none', '<>', 'word'), true, true],
  ['a missing attribute is smaller', is('none', '<', 5), false, false],
  ['a number is at most itself', is('number', '<=', 5), true, false],
  ['a number is below itself', is('number', '<', 5), false, false],
  ['a number is above a smaller one', is('number', '>', 4), true, false],
  ['a number is at least a larger one', is('number', '>=', 6), false, false],
  ['a number is above a text', is('number', '>', '4'), false, false],
  ['texts compare by their bytes', is('text', '>', 'Word'), true, false],
  ['a set is another in any order', is('set', '=', new Set(['y', 'x'])), true, false],
  ['a map has fewer parts', sizeIs('map', '<', 2), true, false],
  ['a set has at most so many elements', sizeIs('set', '<=', 1), false, false],
  ['a missing set has fewer elements', sizeIs('none', '<', 9), false, false],
  ['a text begins so', beginsWith('text', 'wo'), true, false],
  ['a text begins otherwise', beginsWith('text', 'or'), false, false],
  ['all of these hold', all(exists('text'), any(missing('text'), is('number', '=', 5))), true, false],
  ['one of these holds', any(missing('pk'), all(exists('text'), missing('number'))), false, true],
  ['the only one of these holds', any(all(exists('text'))), true, false],
]
const ITEM = { ...KEY, text: 'word', number: 5, set: new Set(['x', 'y']), map: { part: 1 } }

/** Defines the tests that the in-memory DynamoDB and the real one must pass. `open` returns an empty table for each test. */
export function describeTable(open: () => Opened | Promise<Opened>): void {
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  const test = base.extend('opened', async ({}) => await open())

  describe('A table', () => {
    test('returns what was put, through codecs in both directions', async ({ opened: { table } }) => {
      const Value = z.object({
        amount: Amount,
        at: Timestamp,
        bytes: z.instanceof(Uint8Array).optional(),
        tags: z.set(z.string()),
      })
      const value = { amount: 2n ** 200n, at: new Date(5), bytes: Uint8Array.of(1, 2), tags: new Set(['x']) }
      expect(await table.add(Value, KEY, value)).toBe(true)
      expect(await table.get(Value, KEY)).toEqual(value)
      expect(await table.get(Anything, KEY)).toMatchObject({ amount: `${2n ** 200n}`, at: '1970-01-01T00:00:00.005Z' })
      expect(await table.get(Value, { pk: 'a', sk: 'none' })).toBeUndefined()
      await expect(table.get(z.object({ amount: z.number() }), KEY)).rejects.toThrow()
    })

    test('stores no attribute for undefined', async ({ opened: { table } }) => {
      await table.putMany([{ ...KEY, none: undefined, map: { none: undefined } }])
      expect(await table.get(Anything, KEY)).toEqual({ ...KEY, map: {} })
    })

    test('adds an item once', async ({ opened: { table } }) => {
      const Value = z.object({ word: z.string() })
      expect(await table.add(Value, KEY, { word: 'first' })).toBe(true)
      expect(await table.add(Value, KEY, { word: 'second' })).toBe(false)
      expect(await table.get(Value, KEY)).toEqual({ word: 'first' })
    })

    test.for(CONDITIONS)('writes if and only if %s', async ([, when, ofItem, ofNone], { opened: { table } }) => {
      await table.putMany([ITEM])
      expect(await table.update(KEY, { changes: [set('seen', true)], when })).toBe(ofItem)
      expect(await table.delete(KEY, when)).toBe(ofItem)
      expect(await table.put(z.object({}), { pk: 'a', sk: 'none' }, {}, when)).toBe(ofNone)
    })

    test('applies all changes of an update to the item’s previous state', async ({ opened: { table } }) => {
      await table.putMany([ITEM])
      const changes = [
        set('text', 'new'),
        setOnce('number', 9),
        setOnce('once', 9),
        set(['map', 'other'], null),
        remove(['map', 'part']),
        addElements('set', 'z', 'x'),
        addElements('more', 'm'),
      ]
      const changed = await table.change(Anything, KEY, { changes, when: exists('pk') })
      const expected = {
        ...{ ...KEY, text: 'new', number: 5, once: 9, map: { other: null } },
        ...{ set: new Set(['x', 'y', 'z']), more: new Set(['m']), writeId: expect.any(String) },
      }
      expect(changed).toEqual(expected)
      expect(await table.get(Anything, KEY)).toEqual(expected)
      await table.write(KEY, [removeElements('set', 'x'), removeElements('more', 'm', 'n'), remove('none')])
      expect(await table.get(Anything, KEY)).toEqual({ ...expected, set: new Set(['y', 'z']), more: undefined })
      expect(await table.change(Anything, KEY, { changes: [set('text', '')], when: missing('pk') })).toBeUndefined()
    })

    test('adds an item by an update', async ({ opened: { table } }) => {
      await table.write(KEY, [set('word', 'new')])
      expect(await table.get(Anything, KEY)).toEqual({ ...KEY, word: 'new' })
    })

    test('counts up to a maximum even with concurrent writers', async ({ opened: { table } }) => {
      const until = new Date(60_500)
      const counted = await Promise.all(Array.from({ length: 6 }, () => table.count(KEY, { by: 2, max: 9, until })))
      expect(counted.toSorted()).toEqual([2, 4, 6, 8, undefined, undefined])
      expect(await table.get(Anything, KEY)).toEqual({ ...KEY, counted: 8, expiresAt: 61 })
    })

    test('reads the items of many keys in their order', async ({ opened: { table } }) => {
      await table.putMany(keys(130))
      const items = await table.getMany(Anything, [...keys(140), ...keys(10)])
      expect(items).toEqual([...keys(130), ...Array.from({ length: 10 }), ...keys(10)])
    })

    test('reads again what a batch left undone', async ({ opened: { table } }) => {
      const text = TEXT.repeat(390_000)
      await table.putMany(keys(10).map((key) => ({ ...key, text })))
      const found = await table.getMany(Anything, keys(10))
      expect(found.map((item) => item?.sk)).toEqual(keys(10).map(({ sk }) => sk))
    })

    test('writes the last of items with the same key, and deletes many', async ({ opened: { table } }) => {
      await table.putMany([...keys(60), { pk: 'a', sk: '0#', word: 'last' }])
      expect(await table.get(Anything, { pk: 'a', sk: '0#' })).toMatchObject({ word: 'last' })
      await table.deleteMany(keys(59))
      expect(await table.list(Anything, { partition: 'a' })).toEqual([{ pk: 'a', sk: '59#' }])
    })
  })

  describe('A range of a table', () => {
    const named = ['A', 'a', 'b#1', 'b#2', 'c', 'é', '～', '😀']
    const items: readonly Item[] = named.map((sk) => ({ pk: 'p', sk, name: sk }))
    const sortKeys = (items: readonly { readonly sk: string }[]) => items.map(({ sk }) => sk)

    test('is in the order of the bytes of its sort keys, between two of them, both included', async ({
      opened: { table },
    }) => {
      await table.putMany([...items, { pk: 'other', sk: 'b' }])
      const list = async (range: object, options = {}) =>
        sortKeys(await table.list(Anything, { partition: 'p', ...range }, options))
      expect(await list({})).toEqual(named)
      expect(await list({}, { isDescending: true })).toEqual(named.toReversed())
      expect(await list({ from: 'a', to: 'b#2' })).toEqual(['a', 'b#1', 'b#2'])
      expect(await list({ from: 'c' })).toEqual(['c', 'é', '～', '😀'])
      expect(await list({ to: 'a' })).toEqual(['A', 'a'])
      expect(await list({ prefix: 'b#' })).toEqual(['b#1', 'b#2'])
      expect(await list({ partition: 'none' })).toEqual([])
      expect(await list({}, { filter: is('name', '>', 'b'), limit: 2 })).toEqual(['b#1', 'b#2', 'c', 'é', '～', '😀'])
    })

    test('is read in pages that each read at most the limit', async ({ opened: { table } }) => {
      await table.putMany([...items])
      const first = await table.getPage(Anything, { partition: 'p' }, { limit: 3 })
      expect(sortKeys(first.items)).toEqual(['A', 'a', 'b#1'])
      const second = await table.getPage(Anything, { partition: 'p' }, { limit: 9, after: first.next })
      expect(sortKeys(second.items)).toEqual(named.slice(3))
      expect(second.next).toBeUndefined()
      const filtered = await table.getPage(Anything, { partition: 'p' }, { limit: 3, filter: is('name', '=', 'c') })
      expect(filtered).toEqual({ items: [], next: { pk: 'p', sk: 'b#1' } })
    })

    test('is read in pages of 1 MB', async ({ opened: { table } }) => {
      const text = TEXT.repeat(300_000)
      await table.putMany(keys(8).map((key) => ({ ...key, text })))
      const sizes: number[] = []
      for await (const page of table.pages(Anything, { partition: 'a' })) sizes.push(page.length)
      // DynamoDB may end a query with an empty page.
      expect(sizes.filter((size) => size > 0)).toEqual([4, 4])
    })

    test('of an index has the items with its keys, by its sort key', async ({ opened: { table } }) => {
      const followed = [30, 10, 20].map((lookAt, at) => ({ pk: `t${at}`, sk: 'x', followedOnChain: 1, lookAt }))
      await table.putMany([
        ...followed,
        { pk: 't3', sk: 'x', followedOnChain: 2, lookAt: 1 },
        { pk: 't4', sk: 'x', lookAt: 1 },
      ])
      const range = { index: INDEX, partition: 1, to: 20 }
      const items = await table.list(Anything, range, { isConsistent: false })
      expect(items.map(({ pk }) => pk)).toEqual(['t1', 't2'])
      const first = await table.getPage(Anything, range, { isConsistent: false, limit: 1 })
      const second = await table.getPage(Anything, range, { isConsistent: false, limit: 1, after: first.next })
      expect([...first.items, ...second.items].map(({ pk }) => pk)).toEqual(['t1', 't2'])
    })

    test('that is the whole table is scanned', async ({ opened: { table } }) => {
      await table.putMany([...items, { pk: 'q', sk: 'z' }])
      const keys: string[] = []
      for await (const page of table.scan(Anything, {
        limit: 4,
        filter: any(is('pk', '=', 'q'), is('sk', '=', 'c')),
      })) {
        keys.push(...page.map(({ pk, sk }) => pk + sk))
      }
      expect(keys.toSorted()).toEqual(['pc', 'qz'])
    })
  })

  describe('A transaction', () => {
    test('makes all of its writes', async ({ opened: { table } }) => {
      await table.putMany([ITEM, { pk: 'a', sk: 'old' }])
      const writes: Write[] = [
        { put: { pk: 'a', sk: 'new' }, when: missing('pk') },
        { update: KEY, changes: [set('text', 'changed')], when: is('number', '=', 5) },
        { delete: { pk: 'a', sk: 'old' } },
        { check: { pk: 'a', sk: 'none' }, when: missing('pk') },
      ]
      expect(await table.transact(writes)).toEqual([])
      const items = await table.list(Anything, { partition: 'a' })
      expect(items).toEqual([
        { ...ITEM, text: 'changed' },
        { pk: 'a', sk: 'new' },
      ])
    })

    test('makes no write if one condition fails, and names that write', async ({ opened: { table } }) => {
      const writes: Write[] = [{ put: { pk: 'a', sk: 'new' } }, { check: KEY, when: exists('pk') }]
      expect(await table.transact(writes)).toEqual([1])
      expect(await table.list(Anything, { partition: 'a' })).toEqual([])
    })

    test('is made once by its token', async ({ opened: { dynamo, name, table } }) => {
      const request = { table: name, writes: [{ put: { ...KEY } }], token: 'token-of-this-test' }
      expect(await dynamo.transactWriteItems(request)).toEqual({ isMade: true })
      await table.delete(KEY)
      expect(await dynamo.transactWriteItems(request)).toEqual({ isMade: true })
      expect(await table.get(Anything, KEY)).toBeUndefined()
      const other = { ...request, writes: [{ put: { ...KEY, other: true } }] }
      await expect(dynamo.transactWriteItems(other)).rejects.toMatchObject({
        name: 'IdempotentParameterMismatchException',
      })
    })
  })

  describe('Items that are each put on a condition', () => {
    test('are written if their condition holds, and returned otherwise', async ({ opened: { table } }) => {
      const keyOf = (index: number) => ({ pk: 'a', sk: `${index}`.padStart(3, '0') })
      const isTaken = (index: number) => index % 20 === 7
      const all = Array.from({ length: 60 }, (_, index) => index)
      await table.putMany(all.filter(isTaken).map((index) => ({ ...keyOf(index), number: -1 })))
      const puts = all.map((number) => ({ put: { ...keyOf(number), number }, when: missing('pk') }))
      expect((await table.putEach(puts)).map(({ put }) => put.number).toSorted((a, b) => a - b)).toEqual([7, 27, 47])
      const items = await table.list(Anything, { partition: 'a' })
      expect(items).toEqual(all.map((number) => ({ ...keyOf(number), number: isTaken(number) ? -1 : number })))
      expect(await table.putEach([])).toEqual([])
    })
  })

  describe('DynamoDB', () => {
    test.for(Object.entries(LIMITS))('refuses %s', async ([, ask], { opened }) => {
      await ask(opened, 0)
      await expect(ask(opened, 1)).rejects.toMatchObject(refused)
    })

    test('refuses an empty request, an empty set, and a change of the key', async ({
      opened: { dynamo, name, table },
    }) => {
      await expect(dynamo.batchGetItem({ table: name, keys: [], isConsistent: true })).rejects.toMatchObject(refused)
      await expect(dynamo.batchWriteItem({ table: name, writes: [] })).rejects.toMatchObject(refused)
      await expect(table.transact([])).rejects.toMatchObject(refused)
      await expect(table.write(KEY, [set('sk', 'c')])).rejects.toMatchObject(refused)
      // The SDK itself rejects an empty set.
      await expect(table.putMany([{ ...KEY, set: new Set() }])).rejects.toThrow()
    })
  })
}
