import { setTimeout as sleep } from 'node:timers/promises'
import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DynamoDBDocumentClient,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { CLIENT_DEFAULTS } from './client-defaults.ts'

let shared: DynamoDBDocumentClient | undefined

/** The process's DynamoDB document client, built on first use; region, credentials and endpoint come from the environment. */
export function dynamo(): DynamoDBDocumentClient {
  shared ??= documentClient()
  return shared
}

/** A new DynamoDB document client with our time-outs and marshalling. */
export function documentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(new DynamoDBClient({ ...CLIENT_DEFAULTS, ...config }), {
    marshallOptions: { removeUndefinedValues: true },
  })
}

/** The pages that a query finds, one after the other to the end; unparsed. */
export async function* queryPages(client: DynamoDBDocumentClient, query: QueryCommandInput): AsyncGenerator<unknown[]> {
  let ExclusiveStartKey: Record<string, unknown> | undefined
  do {
    const page = await client.send(new QueryCommand({ ...query, ...(ExclusiveStartKey && { ExclusiveStartKey }) }))
    yield page.Items ?? []
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey)
}

/** All items that a query finds, read page by page to the end; unparsed. */
export async function listItems(client: DynamoDBDocumentClient, query: QueryCommandInput): Promise<unknown[]> {
  const items: unknown[] = []
  for await (const page of queryPages(client, query)) items.push(...page)
  return items
}

/** The keys of an item in a table with `pk` and `sk`. */
type ItemKey = { readonly pk: string; readonly sk: string }

/** What DynamoDB takes in one batch, and how many batches are on their way at a time. */
const READ_BATCH = 100
const WRITE_BATCH = 25
const SIDE_BY_SIDE = 8
/** The pauses before what DynamoDB left undone is asked for again, in milliseconds; then it is a failure. */
const PAUSES_MS = [25, 50, 100, 200, 400, 800, 1_600]

/** The items that exist of these keys, read consistently, in no order; unparsed. One request a hundred, eight at a time. */
export async function getItems(
  client: DynamoDBDocumentClient,
  tableName: string,
  keys: readonly ItemKey[],
): Promise<unknown[]> {
  const items: unknown[] = []
  await sideBySide(inBatches(unique(keys), READ_BATCH), (Keys) =>
    untilDone<NonNullable<BatchGetCommandInput['RequestItems']>>(
      { [tableName]: { Keys, ConsistentRead: true } },
      async (RequestItems) => {
        const { Responses, UnprocessedKeys } = await client.send(new BatchGetCommand({ RequestItems }))
        items.push(...(Responses?.[tableName] ?? []))
        return UnprocessedKeys
      },
    ),
  )
  return items
}

/**
 * Writes whole items over whatever has their keys: one request for 25, eight at a time. Of items with the same key the
 * last is written. When it throws, some are written and some are not.
 */
export async function putItems(
  client: DynamoDBDocumentClient,
  tableName: string,
  items: readonly (ItemKey & Readonly<Record<string, unknown>>)[],
): Promise<void> {
  await sideBySide(inBatches(unique(items), WRITE_BATCH), (batch) =>
    untilDone<NonNullable<BatchWriteCommandInput['RequestItems']>>(
      { [tableName]: batch.map((Item) => ({ PutRequest: { Item } })) },
      async (RequestItems) => (await client.send(new BatchWriteCommand({ RequestItems }))).UnprocessedItems,
    ),
  )
}

/** Deletes items, those that are not there too: one request for 25, eight at a time. */
export async function deleteItems(
  client: DynamoDBDocumentClient,
  tableName: string,
  items: readonly ItemKey[],
): Promise<void> {
  await sideBySide(inBatches(unique(items), WRITE_BATCH), (batch) =>
    untilDone<NonNullable<BatchWriteCommandInput['RequestItems']>>(
      { [tableName]: batch.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })) },
      async (RequestItems) => (await client.send(new BatchWriteCommand({ RequestItems }))).UnprocessedItems,
    ),
  )
}

/**
 * Sends a batch, and what the table left undone of it, or threw back as too much for now, again after a pause that
 * doubles: seven times in 3.2 s at most. Throws when it leaves it undone for ever.
 */
async function untilDone<Requests extends object>(
  batch: Requests,
  send: (requests: Requests) => Promise<Requests | undefined>,
): Promise<void> {
  let undone: Requests | undefined = batch
  for (const pause of PAUSES_MS) {
    undone = await send(undone).catch(undoneIfThrottled(undone))
    if (!undone || Object.keys(undone).length === 0) return
    await sleep(pause)
  }
  throw new Error('The table leaves a part of a batch undone')
}

/** DynamoDB throws a batch back where it could not do any of it. */
const THROTTLED: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
])

/** What is undone of a batch that failed so: all of it where it was throttled; throws any other failure on. */
function undoneIfThrottled<Requests>(batch: Requests): (error: unknown) => Requests {
  return (error) => {
    if (error instanceof Error && THROTTLED.has(error.name)) return batch
    throw error
  }
}

/** Does a task for each, eight at a time, in order; throws the first failure. */
export async function sideBySide<T>(tasks: Iterable<T>, run: (task: T) => Promise<void>): Promise<void> {
  const waiting = [...tasks].values()
  const worker = async () => {
    for (const task of waiting) await run(task)
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker))
}

function inBatches<T>(list: readonly T[], size: number): T[][] {
  const count = Math.ceil(list.length / size)
  return Array.from({ length: count }, (_, index) => list.slice(index * size, (index + 1) * size))
}

function unique<T extends ItemKey>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [`${item.pk} ${item.sk}`, item])).values()]
}

/** Whether a conditional write was made: false when its condition did not hold; throws on any other failure. */
export async function conditionHeld(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}
