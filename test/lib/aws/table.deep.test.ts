import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { dynamoClient } from '../../../lib/aws/dynamo.ts'
import { connectOperator } from '../../../lib/aws/operator-table.ts'
import { createTables, type LocalDynamo, localConfig, startDynamo } from '../../../sandbox/dynamo.ts'
import { describeTable, openTestTable } from '../../support/table-conformance.ts'

// The tests start a local DynamoDB server, unless DYNAMODB_ENDPOINT names another one.
let server: LocalDynamo | undefined
let client: ReturnType<typeof dynamoClient>

beforeAll(async () => {
  const { DYNAMODB_ENDPOINT } = process.env
  if (!DYNAMODB_ENDPOINT) server = await startDynamo()
  client = dynamoClient(localConfig(server?.endpoint ?? String(DYNAMODB_ENDPOINT)))
})
afterAll(async () => {
  client.destroy()
  await server?.stop()
})

describeTable(async () => openTestTable(connectOperator(client), (await createTables(client, randomUUID())).deposits))
