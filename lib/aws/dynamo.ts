import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  ProvisionedThroughputExceededException,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { inBatches } from '../batches.ts'
import { sideBySide } from '../side-by-side.ts'
import { CLIENT_DEFAULTS } from './client-defaults.ts'

let shared: DynamoDBDocumentClient | undefined

/** The process's DynamoDB document client, built on first use; region, credentials and endpoint come from the environment. */
export function dynamo(): DynamoDBDocumentClient {
  shared ??= documentClient()
  return shared
}

/** A new DynamoDB document client with our time-outs and marshalling. */
export function documentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...CLIENT_DEFAULTS, ...config })
  // Within the retries of a request: it sees what each try came to.
  client.middlewareStack.add(
    (next) => {
      let isRefused = true
      return async (args) => {
        try {
          return await next(args)
        } catch (error) {
          isRefused &&= isThrottling(error)
          if (isRefused && error instanceof Error) refusals.add(error)
          throw error
        }
      }
    },
    { step: 'finalizeRequest', priority: 'low' },
  )
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}

/** What was thrown for requests of which DynamoDB refused each try because the table had no throughput left. */
const refusals = new WeakSet<Error>()

/** Whether a request that ended with this has certainly done nothing: a time-out, or an answer that was lost, is not certain. */
export function wasRefused(error: unknown): boolean {
  return error instanceof Error && refusals.has(error)
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

/** The query for the items of a partition with these sort keys and those between them. */
export function keysBetween(tableName: string, partition: string, from: string, to: string) {
  return {
    TableName: tableName,
    KeyConditionExpression: 'pk = :partition AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':partition': partition, ':from': from, ':to': to },
  }
}

/** The keys of an item in a table with `pk` and `sk`. */
export const ItemKey = z.object({ pk: z.string(), sk: z.string() })
type ItemKey = Readonly<z.output<typeof ItemKey>>

/** What DynamoDB takes in one batch. */
const READ_BATCH = 100
const WRITE_BATCH = 25
/**
 * Milliseconds before what DynamoDB left undone of a batch is sent again; after the last one it is a failure. A caller waits
 * for reads; jobs alone write in batches.
 */
const READ_PAUSES_MS = [25, 50, 100, 200]
const WRITE_PAUSES_MS = [...READ_PAUSES_MS, 400, 800, 1_600]

/**
 * The items that exist of these keys, in no order, unparsed; read consistently unless told. One request a hundred, eight at
 * a time. Throws when a part is undone after 0.4 s, or a request is throttled.
 */
export async function getItems(
  client: DynamoDBDocumentClient,
  tableName: string,
  keys: readonly ItemKey[],
  { isConsistent = true } = {},
): Promise<unknown[]> {
  const items: unknown[] = []
  await sideBySide(inBatches(distinct(keys), READ_BATCH), (Keys) =>
    untilDone<Reads>(
      { [tableName]: { Keys, ConsistentRead: isConsistent } },
      async (RequestItems) => {
        const { Responses, UnprocessedKeys } = await client.send(new BatchGetCommand({ RequestItems }))
        items.push(...(Responses?.[tableName] ?? []))
        return UnprocessedKeys
      },
      READ_PAUSES_MS,
    ),
  )
  return items
}

/**
 * Writes whole items over whatever has their keys: one request for 25, eight at a time; what is left undone or throttled
 * again, seven times in 3.2 s. Of items with the same key the last is written. When it throws, some are written and some are
 * not.
 */
export function putItems(
  client: DynamoDBDocumentClient,
  tableName: string,
  items: readonly (ItemKey & Readonly<Record<string, unknown>>)[],
): Promise<void> {
  return writeBatches(client, tableName, items, (Item) => ({ PutRequest: { Item } }))
}

/** Deletes the items that exist of these keys: one request for 25, eight at a time. When it throws, some are deleted. */
export function deleteItems(
  client: DynamoDBDocumentClient,
  tableName: string,
  keys: readonly ItemKey[],
): Promise<void> {
  return writeBatches(client, tableName, keys, ({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }))
}

/** How many items are deleted between two looks at the clock. */
const DELETED_AT_ONCE = 500

/** Deletes the items that a query finds. Ends early once `isOver`; false where more is left. */
export async function deleteFound(
  client: DynamoDBDocumentClient,
  query: QueryCommandInput & { readonly TableName: string },
  isOver: () => boolean,
): Promise<boolean> {
  const keys = { ProjectionExpression: 'pk, sk', ConsistentRead: true, Limit: DELETED_AT_ONCE }
  for await (const page of queryPages(client, { ...query, ...keys })) {
    await deleteItems(client, query.TableName, z.array(ItemKey).parse(page))
    if (isOver()) return false
  }
  return true
}

type Reads = NonNullable<BatchGetCommandInput['RequestItems']>
type Writes = NonNullable<BatchWriteCommandInput['RequestItems']>

function writeBatches<Item extends ItemKey>(
  client: DynamoDBDocumentClient,
  tableName: string,
  items: readonly Item[],
  buildWrite: (item: Item) => Writes[string][number],
): Promise<void> {
  return sideBySide(inBatches(distinct(items), WRITE_BATCH), (batch) =>
    untilDone<Writes>(
      { [tableName]: batch.map(buildWrite) },
      async (RequestItems) => {
        try {
          const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems }))
          return UnprocessedItems
        } catch (error) {
          if (isThrottling(error)) return RequestItems
          throw error
        }
      },
      WRITE_PAUSES_MS,
    ),
  )
}

/**
 * Sends a batch, and what is left undone of it again after each of these pauses. Throws the SDK's error for a table without
 * throughput when something is undone after the last one.
 */
async function untilDone<Requests extends object>(
  batch: Requests,
  send: (requests: Requests) => Promise<Requests | undefined>,
  pauses: readonly number[],
): Promise<void> {
  let undone = batch
  for (const pause of pauses) {
    const left = await send(undone)
    if (!left || Object.keys(left).length === 0) return
    undone = left
    await sleep(pause)
  }
  throw new ProvisionedThroughputExceededException({
    message: 'The table leaves a part of a batch undone',
    $metadata: {},
  })
}

/** DynamoDB answers with these where it did nothing. */
const THROTTLED: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
])

/** Whether DynamoDB did nothing with a try because there was no throughput left for it. */
export function isThrottling(error: unknown): boolean {
  return error instanceof Error && THROTTLED.has(error.name)
}

/** The items, of those with the same key the last. */
function distinct<Item extends ItemKey>(items: readonly Item[]): Item[] {
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

/**
 * Adds an item; false where there is one with its key. Like every change that `updateItem` makes, the item says which
 * write made it: the SDK asks again when an answer is lost, and what it then finds may be its own.
 */
export function putNew(
  client: DynamoDBDocumentClient,
  tableName: string,
  item: ItemKey & Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const writeId = randomUUID()
  return conditionHeld(
    client.send(
      new PutCommand({
        TableName: tableName,
        Item: { ...item, writeId },
        ConditionExpression: `attribute_not_exists(pk) OR ${IS_OWN_WRITE}`,
        ExpressionAttributeValues: { ':writeId': writeId },
      }),
    ),
  )
}

/** A change of an item, as parts of DynamoDB's expressions. */
type Change = Pick<UpdateCommandInput, 'ExpressionAttributeNames' | 'ExpressionAttributeValues' | 'ReturnValues'> & {
  readonly key: ItemKey
  readonly set?: readonly string[]
  readonly remove?: readonly string[]
  readonly condition: string
}

/** Changes an item where the condition holds, and gives what `ReturnValues` asks for; null where it does not hold. */
export async function updateItem(
  client: DynamoDBDocumentClient,
  tableName: string,
  { key, set = [], remove = [], condition, ExpressionAttributeValues, ...rest }: Change,
): Promise<Record<string, unknown> | null> {
  const removed = remove.length > 0 ? ` REMOVE ${remove.join(', ')}` : ''
  let attributes: Record<string, unknown> | undefined
  const command = new UpdateCommand({
    TableName: tableName,
    Key: key,
    UpdateExpression: `SET ${[...set, IS_OWN_WRITE].join(', ')}${removed}`,
    ConditionExpression: `(${condition}) OR ${IS_OWN_WRITE}`,
    ExpressionAttributeValues: { ...ExpressionAttributeValues, ':writeId': randomUUID() },
    ...rest,
  })
  const held = await conditionHeld(
    client.send(command).then(({ Attributes }) => {
      attributes = Attributes
    }),
  )
  return held ? (attributes ?? {}) : null
}

/** The write that made an item what it is: the same words compare it and set it. */
const IS_OWN_WRITE = 'writeId = :writeId'
