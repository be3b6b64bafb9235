import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandOutput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { CLIENT_DEFAULTS } from './client-defaults.ts'
import type { Condition } from './conditions.ts'
import { createExpressionBuilder } from './expressions.ts'
import type { Dynamo, Item, Page, PageOptions, Write } from './requests.ts'
import { createTable, type Table } from './table.ts'

let client: DynamoDBClient | undefined
let shared: Dynamo | undefined

/**
 * Returns the DynamoDB client of this process, created on first use. Region, credentials and endpoint come from the
 * environment variables.
 */
export function sharedClient(): DynamoDBClient {
  client ??= dynamoClient()
  return client
}

/** Returns the DynamoDB actions of this process's shared client. */
export function dynamo(): Dynamo {
  shared ??= createDynamo(sharedClient())
  return shared
}

/** Opens a DynamoDB table by its name, with the shared client of this process. */
export function openTable(name: string): Table {
  return createTable(dynamo(), name)
}

/** Creates a DynamoDB client with the time-outs of CLIENT_DEFAULTS. */
export function dynamoClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const client = new DynamoDBClient({ ...CLIENT_DEFAULTS, ...config })
  // The SDK runs this middleware once for each attempt of a request. `isRefused` stays true only if DynamoDB throttled
  // every attempt, so the request changed nothing.
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
  return client
}

/** Creates the DynamoDB actions that use this client. */
export function createDynamo(client: DynamoDBClient): Dynamo {
  return {
    async getItem({ table, key, isConsistent }) {
      const { Item: item } = await client.send(
        new GetItemCommand({ TableName: table, Key: toAttributes(key), ConsistentRead: isConsistent }),
      )
      return item && toItem(item)
    },

    async batchGetItem({ table, keys, isConsistent }) {
      const RequestItems = { [table]: { Keys: keys.map(toAttributes), ConsistentRead: isConsistent } }
      const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems }))
      return {
        items: (Responses?.[table] ?? []).map(toItem),
        undone: (UnprocessedKeys?.[table]?.Keys ?? []).map(toItem),
      }
    },

    async query({ table, range, ...options }) {
      const expressions = createExpressionBuilder()
      const KeyConditionExpression = expressions.keyCondition(range)
      const input = {
        KeyConditionExpression,
        ...(range.index && { IndexName: range.index.name }),
        ...(options.isDescending && { ScanIndexForward: false }),
        ...pageInput(options, expressions),
      }
      return asPage(await client.send(new QueryCommand({ TableName: table, ...input })))
    },

    putItem: ({ table, item, when }) =>
      conditionHeld(
        client.send(new PutItemCommand({ TableName: table, Item: toAttributes(item), ...conditionInput(when) })),
      ),

    async updateItem({ table, key, changes, when, deadlineMs }) {
      const input = {
        TableName: table,
        ...updateInput({ update: key, changes, when }),
        ReturnValues: 'ALL_NEW' as const,
      }
      const options = deadlineMs === undefined ? {} : { abortSignal: AbortSignal.timeout(deadlineMs) }
      let item: Item | null = null
      await conditionHeld(
        client.send(new UpdateItemCommand(input), options).then(({ Attributes }) => {
          item = Attributes ? toItem(Attributes) : key
        }),
      )
      return item
    },

    deleteItem: ({ table, key, when }) =>
      conditionHeld(
        client.send(new DeleteItemCommand({ TableName: table, Key: toAttributes(key), ...conditionInput(when) })),
      ),

    async batchWriteItem({ table, writes }) {
      const requests = writes.map((write) =>
        'put' in write
          ? { PutRequest: { Item: toAttributes(write.put) } }
          : { DeleteRequest: { Key: toAttributes(write.delete) } },
      )
      try {
        const { UnprocessedItems } = await client.send(
          new BatchWriteItemCommand({ RequestItems: { [table]: requests } }),
        )
        return (UnprocessedItems?.[table] ?? []).map(({ PutRequest, DeleteRequest }) =>
          PutRequest ? { put: toItem(PutRequest.Item) } : { delete: toItem(DeleteRequest?.Key) },
        )
      } catch (error) {
        if (isThrottling(error)) return writes
        throw error
      }
    },
  }
}

type Attributes = Record<string, AttributeValue>

/** Converts an item or a key to DynamoDB's attribute format. */
export function toAttributes(attributes: object): Attributes {
  return marshall({ ...attributes }, { removeUndefinedValues: true })
}

/** Converts DynamoDB attributes to an item. The cast is safe: every item of a table has the attributes `pk` and `sk`. */
function toItem(attributes: Attributes | undefined): Item {
  return unmarshall(attributes ?? {}) as Item
}

/** Converts the response of a query or scan into a page of items. */
export function asPage({
  Items,
  LastEvaluatedKey: last,
}: Pick<QueryCommandOutput, 'Items' | 'LastEvaluatedKey'>): Page {
  return { items: (Items ?? []).map(toItem), next: last && unmarshall(last) }
}

/** Builds the request parameters of a query or scan from its options. */
export function pageInput(
  { isConsistent, after, limit, filter }: PageOptions,
  expressions: ReturnType<typeof createExpressionBuilder>,
) {
  return {
    ConsistentRead: isConsistent,
    ...(limit !== undefined && { Limit: limit }),
    ...(after && { ExclusiveStartKey: toAttributes(after) }),
    ...(filter && { FilterExpression: expressions.condition(filter) }),
    ...attributesOf(expressions),
  }
}

/** Returns the attribute names and values of these expressions as request parameters. */
export function attributesOf(expressions: ReturnType<typeof createExpressionBuilder>) {
  const { names, values } = expressions.attributes()
  return {
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: toAttributes(values) }),
  }
}

/** Builds the request parameters for the condition of a write. */
export function conditionInput(when: Condition | undefined) {
  if (!when) return {}
  const expressions = createExpressionBuilder()
  return { ConditionExpression: expressions.condition(when), ...attributesOf(expressions) }
}

/** Builds the request parameters of an update. */
export function updateInput({
  update,
  changes,
  when,
}: Pick<Extract<Write, { update: unknown }>, 'update' | 'changes' | 'when'>) {
  const expressions = createExpressionBuilder()
  return {
    Key: toAttributes(update),
    UpdateExpression: expressions.update(changes),
    ...(when && { ConditionExpression: expressions.condition(when) }),
    ...attributesOf(expressions),
  }
}

/** Waits for a conditional write. Returns false if its condition was false. */
async function conditionHeld(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}

/** Names of errors after which DynamoDB has certainly not executed the request. */
const THROTTLED: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
])

/** Returns true if DynamoDB rejected the request because the table's throughput was exceeded. The request then changed nothing. */
export function isThrottling(error: unknown): boolean {
  return error instanceof Error && THROTTLED.has(error.name)
}
