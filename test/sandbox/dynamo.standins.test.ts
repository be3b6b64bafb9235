import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect } from 'vitest'
import { test as base } from '../support/dynamo-server.ts'

/** Builds a DynamoDB request that is exactly at a limit, or exceeds the limit by `over`. */
type Ask = (TableName: string, over: number) => unknown

const keyOf = (sk: string) => marshall({ pk: 'a', sk })
const put = (TableName: string, item: object, more: Partial<PutItemCommandInput> = {}) =>
  new PutItemCommand({ TableName, Item: marshall({ pk: 'a', sk: 'b', ...item }), ...more })
const puts = (TableName: string, count: number, words = '', more: Partial<TransactWriteItemsCommandInput> = {}) =>
  new TransactWriteItemsCommand({
    TransactItems: Array.from({ length: count }, (_, index) => ({
      Put: { TableName, Item: marshall({ pk: 'a', sk: `${index}#`, words }) },
    })),
    ...more,
  })
const setWords = (TableName: string, sk: string, words: string) => ({
  ...{ TableName, Key: keyOf(sk) },
  ...{ UpdateExpression: 'SET words = :words', ExpressionAttributeValues: marshall({ ':words': words }) },
})
const nested = (levels: number): unknown => (levels === 0 ? 'leaf' : { inner: nested(levels - 1) })

const LIMITS: Record<string, Ask> = {
  'an expression of more than 4 KB': (TableName, over) =>
    put(TableName, {}, { ConditionExpression: `attribute_not_exists(${'a'.repeat(4096 - 22 + over)})` }),
  'an expression of more than 300 operators': (TableName, over) => {
    const compared = Array.from({ length: 150 }, (_, index) => (index <= over ? 'NOT sk = :sk' : 'sk = :sk'))
    const ConditionExpression = compared.join(' OR ')
    return put(TableName, {}, { ConditionExpression, ExpressionAttributeValues: marshall({ ':sk': 'b' }) })
  },
  'a value within more than 31 others': (TableName, over) => put(TableName, { value: nested(31 + over) }),
  'an item of more than 400 KB, whatever its characters': (TableName, over) =>
    put(TableName, { text: `${'é'.repeat(204_795)}${'e'.repeat(over)}` }),
  'an update that makes such an item': (TableName, over) =>
    new UpdateItemCommand(setWords(TableName, 'b', `${'é'.repeat(204_794)}${'e'.repeat(1 + over)}`)),
  'a batch with such an item': (TableName, over) =>
    new BatchWriteItemCommand({
      RequestItems: {
        [TableName]: [
          { PutRequest: { Item: marshall({ pk: 'a', sk: 'b', text: `${'é'.repeat(204_795)}${'e'.repeat(over)}` }) } },
        ],
      },
    }),
  'a partition key of more than 2,048 bytes': (TableName, over) =>
    put(TableName, { pk: `${'é'.repeat(1024)}${'e'.repeat(over)}` }),
  'a sort key of more than 1,024 bytes': (TableName, over) =>
    new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [keyOf('e'.repeat(1024 + over))] } } }),
  'a query for a sort key of more than 1,024 bytes': (TableName, over) =>
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk AND sk < :sk',
      ExpressionAttributeValues: marshall({ ':pk': 'p'.repeat(1025), ':sk': 's'.repeat(1024 + over) }),
    }),
  'a query for an empty key': (TableName, over) =>
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: marshall({ ':pk': 'p'.repeat(1 - over) }),
    }),
  'a transaction of more than 100 actions': (TableName, over) => puts(TableName, 100 + over),
  'a transaction of none': (TableName, over) => puts(TableName, 1 - over),
  'a transaction of more than 4 MB': (TableName, over) => puts(TableName, 11, 'e'.repeat(381_288 + over)),
  'a transaction of updates that make more than 4 MB': (TableName, over) =>
    new TransactWriteItemsCommand({
      TransactItems: Array.from({ length: 11 }, (_, index) => ({
        Update: setWords(TableName, `${index}#`, 'e'.repeat(381_288 + over)),
      })),
    }),
}

const test = base.extend(
  'send',
  ({ dynamo }) =>
    (command: unknown) =>
      // The cast is needed because commands have different types. No test reads their results.
      dynamo.send(command as PutItemCommand),
)

describe('DynamoDB on this machine', () => {
  test.for(Object.entries(LIMITS))('refuses %s', async ([, ask], { send, tableNames }) => {
    await send(ask(tableNames.cache, 0))
    await expect(send(ask(tableNames.cache, 1))).rejects.toMatchObject({ name: 'ValidationException' })
  })

  test.for([
    ['', 'greater than or equal to 1'],
    ['t'.repeat(37), 'less than or equal to 36'],
  ])('refuses the transaction token %o, whose length must be %s', async ([token, bound], { send, tableNames }) => {
    await expect(send(puts(tableNames.cache, 1, '', { ClientRequestToken: token }))).rejects.toMatchObject({
      name: 'ValidationException',
      message: `1 validation error detected: Value '${token}' at 'clientRequestToken' failed to satisfy constraint: Member must have length ${bound}`,
    })
  })

  test('cancels a transaction that makes an item too large and names the item', async ({ send, tableNames }) => {
    const TableName = tableNames.cache
    await send(put(TableName, { text: 'e'.repeat(400_000) }))
    const update = {
      TableName,
      Key: keyOf('b'),
      UpdateExpression: 'SET more = :more',
      ExpressionAttributeValues: marshall({ ':more': 'e'.repeat(10_000) }),
    }
    const check = { TableName, Key: keyOf('c'), ConditionExpression: 'attribute_not_exists(pk)' }
    const transaction = new TransactWriteItemsCommand({
      TransactItems: [{ ConditionCheck: check }, { Update: update }],
    })
    await expect(send(transaction)).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ValidationError' }],
    })
  })

  test('refuses writes to an item in a running transaction, returns its old state, and serves all other items', async ({
    send,
    server,
    tableNames,
    requests,
  }) => {
    const TableName = tableNames.cache
    await send(puts(TableName, 1, 'before'))
    const hold = Promise.withResolvers<void>()
    server.transactions.hold = hold.promise
    const making = send(puts(TableName, 1, 'after'))
    await expect.poll(() => requests).toHaveLength(2)
    const update = new UpdateItemCommand(setWords(TableName, '0#', 'meanwhile'))
    await expect(send(update)).rejects.toMatchObject({ name: 'TransactionConflictException' })
    const get = new GetItemCommand({ TableName, Key: keyOf('0#'), ConsistentRead: true })
    expect(await send(get)).toMatchObject({ Item: marshall({ words: 'before' }) })
    await send(put(TableName, {}))
    expect(await send(new ScanCommand({ TableName }))).toMatchObject({ Count: 2 })
    const deletion = (sk: string) =>
      send(new BatchWriteItemCommand({ RequestItems: { [TableName]: [{ DeleteRequest: { Key: keyOf(sk) } }] } }))
    const late = deletion('0#')
    server.transactions.hold = undefined
    const other = new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName, Item: keyOf('c') } }] })
    await Promise.all([deletion('b'), send(other)])
    expect(await send(get)).toMatchObject({ Item: marshall({ words: 'before' }) })
    hold.resolve()
    await Promise.all([making, late])
    // The batch deletes the item after the transaction has written it, so the item is gone.
    expect(await send(get)).not.toHaveProperty('Item')
    await send(update)
  })
})
