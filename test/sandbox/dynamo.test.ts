import { BatchGetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect } from 'vitest'
import { test as base } from '../support/dynamo.ts'

/** Requests that are as large as they can be, and by how much they are. */
type Ask = (TableName: string, over: number) => unknown

const key = { pk: 'a', sk: 'b' }
const put = (TableName: string, item: object, more: object = {}) =>
  new PutCommand({ TableName, Item: { ...key, ...item }, ...more })
const puts = (TableName: string, count: number, words = '') =>
  new TransactWriteCommand({
    TransactItems: Array.from({ length: count }, (_, index) => ({
      Put: { TableName, Item: { pk: 'a', sk: `${index}#`, words } },
    })),
  })
const nested = (levels: number): unknown => (levels === 0 ? 'leaf' : { inner: nested(levels - 1) })

const LIMITS: Record<string, Ask> = {
  'an expression of more than 4 KB': (TableName, over) =>
    put(TableName, {}, { ConditionExpression: `attribute_not_exists(${'a'.repeat(4096 - 22 + over)})` }),
  'an expression of more than 300 operators': (TableName, over) => {
    const compared = Array.from({ length: 150 }, (_, index) => (index <= over ? 'NOT sk = :sk' : 'sk = :sk'))
    const ConditionExpression = compared.join(' OR ')
    return put(TableName, {}, { ConditionExpression, ExpressionAttributeValues: { ':sk': 'b' } })
  },
  'a value within more than 31 others': (TableName, over) => put(TableName, { value: nested(31 + over) }),
  'an item of more than 400 KB, whatever its characters': (TableName, over) =>
    put(TableName, { text: `${'é'.repeat(204_795)}${'e'.repeat(over)}` }),
  'a partition key of more than 2,048 bytes': (TableName, over) =>
    put(TableName, { pk: `${'é'.repeat(1024)}${'e'.repeat(over)}` }),
  'a sort key of more than 1,024 bytes': (TableName, over) =>
    new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [{ pk: 'a', sk: 'e'.repeat(1024 + over) }] } } }),
  'a query for a sort key of more than 1,024 bytes': (TableName, over) =>
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk AND sk < :sk',
      ExpressionAttributeValues: { ':pk': 'p'.repeat(1025), ':sk': 's'.repeat(1024 + over) },
    }),
  'a query for an empty key': (TableName, over) =>
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'p'.repeat(1 - over) },
    }),
  'a transaction of more than 100 actions': (TableName, over) => puts(TableName, 100 + over),
  'a transaction of none': (TableName, over) => puts(TableName, 1 - over),
  'a transaction of more than 4 MB': (TableName, over) => puts(TableName, 11, 'e'.repeat(381_288 + over)),
}

const test = base.extend(
  'send',
  ({ dynamo }) =>
    (command: unknown) =>
      // Commands of different types, of which nobody looks at what they come to.
      dynamo.send(command as PutCommand),
)

describe('DynamoDB on this machine', () => {
  test.for(Object.entries(LIMITS))('refuses %s', async ([, ask], { send, tableNames }) => {
    await send(ask(tableNames.cache, 0))
    await expect(send(ask(tableNames.cache, 1))).rejects.toMatchObject({ name: 'ValidationException' })
  })

  test('cancels a transaction that makes an item too large, and says which', async ({ send, tableNames }) => {
    const TableName = tableNames.cache
    await send(put(TableName, { text: 'e'.repeat(400_000) }))
    const update = {
      TableName,
      Key: key,
      UpdateExpression: 'SET more = :more',
      ExpressionAttributeValues: { ':more': 'e'.repeat(10_000) },
    }
    const check = { TableName, Key: { pk: 'a', sk: 'c' }, ConditionExpression: 'attribute_not_exists(pk)' }
    const transaction = new TransactWriteCommand({ TransactItems: [{ ConditionCheck: check }, { Update: update }] })
    await expect(send(transaction)).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ValidationError' }],
    })
  })

  test('refuses to write an item that is in a transaction under way, and nothing else', async ({
    send,
    server,
    tableNames,
    requests,
  }) => {
    const TableName = tableNames.cache
    const hold = Promise.withResolvers<void>()
    server.transactions.hold = hold.promise
    const made = puts(TableName, 1)
    const making = send(made)
    await expect.poll(() => requests).toHaveLength(1)
    const update = new UpdateCommand({ TableName, Key: { pk: 'a', sk: '0#' }, UpdateExpression: 'REMOVE words' })
    await expect(send(update)).rejects.toMatchObject({ name: 'TransactionConflictException' })
    const other = send(put(TableName, {}))
    server.transactions.hold = undefined
    hold.resolve()
    await Promise.all([making, other])
    await send(update)
  })
})
