import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  DynamoDBServiceException,
  TransactionCanceledException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { CLIENT_DEFAULTS } from './client-defaults.ts'
import type { Condition } from './conditions.ts'
import { placeholders } from './expressions.ts'
import type { Dynamo, Item, Page, PageOptions, Write } from './requests.ts'
import { createTable, type Table } from './table.ts'

let shared: Dynamo | undefined

/** The process's DynamoDB, connected at first use; region, credentials and endpoint come from the environment. */
export function dynamo(): Dynamo {
  shared ??= connect(documentClient())
  return shared
}

/** The table with this name in the process's DynamoDB. */
export function openTable(name: string): Table {
  return createTable(dynamo(), name)
}

/** A new DynamoDB document client with our time-outs and marshalling. */
export function documentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...CLIENT_DEFAULTS, ...config })
  // This step is within the retries of a request, so it sees the outcome of each try.
  client.middlewareStack.add(
    (next) => {
      let isRefused = true
      return async (args) => {
        try {
          return await next(args)
        } catch (error) {
          isRefused &&= isThrottling(error)
          throw Object.assign(Object(error), { isRefused })
        }
      }
    },
    { step: 'finalizeRequest', priority: 'low' },
  )
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}

/** DynamoDB by way of this client. */
export function connect(client: DynamoDBDocumentClient): Dynamo {
  return {
    async getItem({ table, key, isConsistent }) {
      const { Item: item } = await client.send(
        new GetCommand({ TableName: table, Key: key, ConsistentRead: isConsistent }),
      )
      return item && asItem(item)
    },

    async batchGetItem({ table, keys, isConsistent }) {
      const RequestItems = { [table]: { Keys: [...keys], ConsistentRead: isConsistent } }
      const { Responses, UnprocessedKeys } = await client.send(new BatchGetCommand({ RequestItems }))
      return {
        items: (Responses?.[table] ?? []).map(asItem),
        undone: (UnprocessedKeys?.[table]?.Keys ?? []).map(asItem),
      }
    },

    async query({ table, range, ...options }) {
      const expressions = placeholders()
      const KeyConditionExpression = expressions.keyCondition(range)
      const input = {
        KeyConditionExpression,
        ...(range.index && { IndexName: range.index.name }),
        ...(options.isDescending && { ScanIndexForward: false }),
        ...pageInput(options, expressions),
      }
      return asPage(await client.send(new QueryCommand({ TableName: table, ...input })))
    },

    async scan({ table, ...options }) {
      return asPage(await client.send(new ScanCommand({ TableName: table, ...pageInput(options, placeholders()) })))
    },

    putItem: ({ table, item, when }) =>
      conditionHeld(client.send(new PutCommand({ TableName: table, Item: { ...item }, ...conditionInput(when) }))),

    async updateItem({ table, key, changes, when, deadlineMs }) {
      const input = {
        TableName: table,
        ...updateInput({ update: key, changes, when }),
        ReturnValues: 'ALL_NEW' as const,
      }
      const options = deadlineMs === undefined ? {} : { abortSignal: AbortSignal.timeout(deadlineMs) }
      let item: Item | null = null
      await conditionHeld(
        client.send(new UpdateCommand(input), options).then(({ Attributes }) => {
          item = asItem(Attributes ?? key)
        }),
      )
      return item
    },

    deleteItem: ({ table, key, when }) =>
      conditionHeld(client.send(new DeleteCommand({ TableName: table, Key: key, ...conditionInput(when) }))),

    async batchWriteItem({ table, writes }) {
      const requests = writes.map((write) =>
        'put' in write ? { PutRequest: { Item: { ...write.put } } } : { DeleteRequest: { Key: write.delete } },
      )
      try {
        const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [table]: requests } }))
        return (UnprocessedItems?.[table] ?? []).map(({ PutRequest, DeleteRequest }) =>
          PutRequest ? { put: asItem(PutRequest.Item) } : { delete: asItem(DeleteRequest?.Key) },
        )
      } catch (error) {
        if (isThrottling(error)) return writes
        throw error
      }
    },

    async transactWriteItems({ table, writes, token }) {
      const input = { TransactItems: writes.map((write) => asTransactItem(table, write)), ClientRequestToken: token }
      try {
        await client.send(new TransactWriteCommand(input))
        return { isMade: true }
      } catch (error) {
        const reasons = error instanceof TransactionCanceledException ? error.CancellationReasons : undefined
        const codes = (reasons ?? []).map(({ Code }) => Code)
        const refusedAt = codes.indexOf('ConditionalCheckFailed')
        if (refusedAt >= 0) return { refusedAt }
        if (isUncertain(error) || codes.some((code) => PASSING_REASONS.includes(code)))
          return { isUncertain: true, error }
        throw error
      }
    },
  }
}

/** An item as the SDK returns it. DynamoDB holds none without its key. */
function asItem(attributes: unknown): Item {
  return attributes as Item
}

function asPage({ Items, LastEvaluatedKey }: Pick<QueryCommandOutput, 'Items' | 'LastEvaluatedKey'>): Page {
  return { items: (Items ?? []).map(asItem), next: LastEvaluatedKey }
}

function pageInput(
  { isConsistent, after, limit, isKeysOnly, filter }: PageOptions,
  expressions: ReturnType<typeof placeholders>,
) {
  return {
    ConsistentRead: isConsistent,
    ...(limit !== undefined && { Limit: limit }),
    ...(after && { ExclusiveStartKey: { ...after } }),
    ...(filter && { FilterExpression: expressions.condition(filter) }),
    ...(isKeysOnly && { ProjectionExpression: ['pk', 'sk'].map(expressions.nameOf).join(', ') }),
    ...expressions.attributes(),
  }
}

function conditionInput(when: Condition | undefined) {
  if (!when) return {}
  const expressions = placeholders()
  return { ConditionExpression: expressions.condition(when), ...expressions.attributes() }
}

function updateInput({
  update,
  changes,
  when,
}: Pick<Extract<Write, { update: unknown }>, 'update' | 'changes' | 'when'>) {
  const expressions = placeholders()
  return {
    Key: update,
    UpdateExpression: expressions.update(changes),
    ...(when && { ConditionExpression: expressions.condition(when) }),
    ...expressions.attributes(),
  }
}

function asTransactItem(TableName: string, write: Write) {
  if ('put' in write) return { Put: { TableName, Item: { ...write.put }, ...conditionInput(write.when) } }
  if ('update' in write) return { Update: { TableName, ...updateInput(write) } }
  if ('delete' in write) return { Delete: { TableName, Key: write.delete, ...conditionInput(write.when) } }
  const expressions = placeholders()
  const ConditionExpression = expressions.condition(write.when)
  return { ConditionCheck: { TableName, Key: write.check, ConditionExpression, ...expressions.attributes() } }
}

/** Whether a conditional write was made: false when its condition did not hold; throws on any other failure. */
async function conditionHeld(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}

/** DynamoDB answers with these where it did nothing. */
const THROTTLED: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
])

function isThrottling(error: unknown): boolean {
  return error instanceof Error && THROTTLED.has(error.name)
}

/** The reasons for which DynamoDB cancels what it may do a moment later: TransactionCanceledException in its API reference. */
const PASSING_REASONS: readonly (string | undefined)[] = [
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]

/** Whether a transaction that ended so may have been made, or may be made by another try. */
function isUncertain(error: unknown): boolean {
  if (error instanceof TransactionInProgressException || isThrottling(error)) return true
  if (error instanceof DynamoDBServiceException && error.$fault === 'client') return false
  return Sent.safeParse(error).success
}

/** The SDK counts its tries of what it sent, and of nothing else. */
const Sent = z.object({ $metadata: z.object({ attempts: z.number() }) })
