import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  type AttributeDefinition,
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import dynalite from 'dynalite'
import { TABLES, type TableDefinition, type TableKey, tableName } from '../infra/tables.ts'
import { dynamoClient } from '../lib/aws/dynamo.ts'
import { connectOperator } from '../lib/aws/operator-table.ts'
import type { OperatorDynamo } from '../lib/aws/requests.ts'
import { addTransactions, type TransactionSettings } from './dynamo/transactions.ts'

/** DynamoDB name of each table of the service. */
export type TableNames = Readonly<Record<TableKey, string>>

/** DynamoDB server with the service's tables. */
export type Database = {
  readonly endpoint: string
  readonly tableNames: TableNames
  readonly connection: OperatorDynamo
  readonly stop: () => Promise<void>
}

/** DynamoDB server inside this process, with settings by which tests control transactions. */
export type LocalDynamo = Database & {
  readonly transactions: TransactionSettings
}

/** Starts DynamoDB in this process on a free port with all tables, in memory or at a path on disk. */
export async function startDynamo({ path }: { path?: string } = {}): Promise<LocalDynamo> {
  const server = dynalite({ createTableMs: 0, ...(path && { path }) })
  const transactions = addTransactions(server, { now: Date.now })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const client = dynamoClient(localConfig(endpoint))
  const tableNames = await createTables(client, 'local')

  return {
    endpoint,
    tableNames,
    connection: connectOperator(client),
    transactions,
    // The server stops only after it has responded to open requests.
    stop: () =>
      new Promise<void>((resolve, reject) => {
        client.destroy()
        server.close((error) => (error ? reject(error) : resolve()))
      }),
  }
}

/** Environment of a local AWS client, with invented credentials that no local server checks. */
export const localCredentials = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' }

/** Returns the configuration of an AWS client for a local endpoint, which may need 30 seconds on a busy machine. */
export function localConfig(endpoint: string) {
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = localCredentials
  return {
    endpoint,
    region: AWS_REGION,
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY },
    requestHandler: { requestTimeout: 30_000, throwOnRequestTimeout: true },
  }
}

/** Creates the missing tables of a stage (a deployment of the service). Returns the names of all tables. */
export async function createTables(client: DynamoDBClient, stage: string): Promise<TableNames> {
  const create = async (table: TableKey) => {
    const TableName = tableName(stage, table)
    await createTable(client, { TableName, ...createTableInput(TABLES[table]) })
    return TableName
  }
  return {
    clients: await create('clients'),
    deposits: await create('deposits'),
    users: await create('users'),
    webhooks: await create('webhooks'),
    cache: await create('cache'),
  }
}

/** Creates a table if it is missing, and waits until it is ready. */
export async function createTable(client: DynamoDBClient, input: CreateTableCommandInput): Promise<void> {
  await client.send(new CreateTableCommand(input)).catch((error: unknown) => {
    if (!(error instanceof ResourceInUseException)) throw error
  })
  const { TableName } = input
  await waitUntilTableExists({ client, minDelay: 0.01, maxDelay: 0.1, maxWaitTime: 5 }, { TableName })
}

function createTableInput({ partitionKey, sortKey, indexes }: TableDefinition) {
  const keys = [partitionKey, sortKey, ...indexes.flatMap((index) => [index.partitionKey, index.sortKey])]
  const types = new Map(keys.map(({ name, type }) => [name, type]))
  return {
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: [...types].map(
      ([AttributeName, AttributeType]): AttributeDefinition => ({ AttributeName, AttributeType }),
    ),
    KeySchema: keySchema(partitionKey.name, sortKey.name),
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: keySchema(index.partitionKey.name, index.sortKey.name),
        Projection: { ProjectionType: 'ALL' as const },
      })),
    }),
  }
}

function keySchema(partitionKey: string, sortKey: string): KeySchemaElement[] {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' },
    { AttributeName: sortKey, KeyType: 'RANGE' },
  ]
}
