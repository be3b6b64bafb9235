import { setTimeout as sleep } from 'node:timers/promises'
import { test as base, describe, expect } from 'vitest'
import * as z from 'zod'
import { is, set } from '../../../lib/aws/conditions.ts'
import { createOperatorTable } from '../../../lib/aws/operator-table.ts'
import { wasRefused } from '../../../lib/aws/requests.ts'
import { createTable } from '../../../lib/aws/table.ts'
import { codeOf } from '../../../lib/core/errors.ts'
import { memoryDynamo } from '../../support/memory-dynamo.ts'
import { describeTable, openTestTable } from '../../support/table-conformance.ts'

const KEY = { pk: 'a', sk: 'b' }
const Word = z.object({ word: z.string() })

const test = base
  .extend('memory', () => memoryDynamo())
  .extend('table', ({ memory }) => createOperatorTable(memory.dynamo, 'test'))

describeTable(() => openTestTable(memoryDynamo().dynamo, 'test'))

describe('A write whose response is lost', () => {
  test('recognises its own effect: an added item or a change', async ({ memory, table }) => {
    let tries = 0
    memory.losesAnswer = () => {
      tries += 1
      return tries % 2 === 1
    }
    expect(await table.add(Word, KEY, { word: 'one' })).toBe(true)
    expect(await table.update(KEY, { changes: [set('word', 'two')], when: is('word', '=', 'one') })).toBe(true)
    expect(await table.update(KEY, { changes: [set('word', 'three')], when: is('word', '=', 'one') })).toBe(false)
    expect(await table.get(Word, KEY)).toEqual({ word: 'two' })
  })

  test('throws if the second response is lost too, and is not known to be refused', async ({ memory, table }) => {
    memory.losesAnswer = () => true
    const error = await table.add(Word, KEY, { word: 'one' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'TimeoutError' })
    expect(wasRefused(error)).toBe(false)
    memory.reset()
    expect(await table.get(Word, KEY)).toEqual({ word: 'one' })
  })
})

describe('A table without throughput', () => {
  test('throws after two tries, and is known to have refused both', async ({ memory, table }) => {
    memory.throttles = () => true
    const error = await table.add(Word, KEY, { word: 'one' }).catch((thrown: unknown) => thrown)
    expect(wasRefused(error)).toBe(true)
    expect(memory.tries).toHaveLength(2)
  })

  test('gets a batch of writes again until it has taken all', async ({ memory, table }) => {
    let tries = 0
    memory.throttles = () => {
      tries += 1
      return tries <= 4
    }
    await table.putMany([{ ...KEY, word: 'one' }])
    expect(await table.get(Word, KEY)).toEqual({ word: 'one' })
  })
})

describe('A read', () => {
  test('sees no newer data from a lagging replica, unless it is consistent', async ({ memory, table }) => {
    await table.putMany([{ ...KEY, word: 'old' }])
    memory.lag()
    await table.putMany([{ ...KEY, word: 'new' }])
    expect(await table.get(Word, KEY, { isConsistent: false })).toEqual({ word: 'old' })
    expect(await table.get(Word, KEY)).toEqual({ word: 'new' })
    memory.catchUp()
    expect(await table.get(Word, KEY, { isConsistent: false })).toEqual({ word: 'new' })
  })
})

describe('A batch of more than 16 MB', () => {
  test('is read in two requests', async ({ memory, table }) => {
    const keys = Array.from({ length: 50 }, (_, index) => ({ pk: 'a', sk: `${index}` }))
    const word = 'e'.repeat(390_000)
    await table.putMany(keys.map((key) => ({ ...key, word })))
    memory.tries.length = 0
    expect((await table.getMany(Word, keys)).every((item) => item?.word === word)).toBe(true)
    expect(memory.tries).toHaveLength(2)
  })
})

describe('A batch of writes that a caller waits for', () => {
  test('is given up after five tries', async () => {
    const { dynamo } = memoryDynamo()
    let tries = 0
    const table = createTable(
      {
        ...dynamo,
        batchWriteItem: async ({ writes }) => {
          tries += 1
          return writes
        },
      },
      'test',
    )
    await expect(table.putMany([KEY], { doesCallerWait: true })).rejects.toThrow('undone')
    expect(tries).toBe(5)
  })
})

describe('A transaction in progress', () => {
  test('delays other transactions of its items, and single writes are refused', async ({ memory, table }) => {
    const hold = Promise.withResolvers<void>()
    memory.holdTransactions = hold.promise
    const first = table.transact([{ put: { ...KEY, word: 'first' } }])
    await sleep(1)
    await expect(table.add(Word, KEY, { word: 'single' })).rejects.toMatchObject({
      name: 'TransactionConflictException',
    })
    memory.holdTransactions = undefined
    const second = table.transact([{ put: { ...KEY, word: 'second' } }])
    await sleep(1)
    hold.resolve()
    await Promise.all([first, second])
    expect(await table.get(Word, KEY)).toEqual({ word: 'second' })
  })
})

describe('An item in a form that this version does not know', () => {
  test('is refused as a temporary error that names the field but not its value', async ({ table }) => {
    await table.putMany([{ ...KEY, word: 7_777 }])
    const error = await table.get(Word, KEY).catch((thrown: unknown) => thrown)
    expect(codeOf(error)).toBe('service_unavailable')
    expect(error).toMatchObject({ message: expect.stringContaining('word: ') })
    expect(String(error)).not.toContain('7777')
    for (const read of [
      table.getMany(Word, [KEY]),
      table.list(Word, { partition: 'a' }),
      table.getPage(Word, { partition: 'a' }),
    ])
      await expect(read).rejects.toThrow('does not know the form')
  })

  test('is read without the fields that a newer version added', async ({ table }) => {
    await table.putMany([{ ...KEY, word: 'one', newer: 1 }])
    expect(await table.get(Word, KEY)).toEqual({ word: 'one' })
  })
})
