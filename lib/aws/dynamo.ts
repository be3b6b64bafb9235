import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb'
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

/** All items that a query finds, read page by page to the end; unparsed. */
export async function listItems(client: DynamoDBDocumentClient, query: QueryCommandInput): Promise<unknown[]> {
  const items: unknown[] = []
  let page = await client.send(new QueryCommand(query))
  items.push(...(page.Items ?? []))
  while (page.LastEvaluatedKey) {
    page = await client.send(new QueryCommand({ ...query, ExclusiveStartKey: page.LastEvaluatedKey }))
    items.push(...(page.Items ?? []))
  }
  return items
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
