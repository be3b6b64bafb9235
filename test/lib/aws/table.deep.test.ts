import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { connect, documentClient } from '../../../lib/aws/dynamo.ts'
import { createTables, type LocalDynamo, localConfig, startDynamo } from '../../../sandbox/dynamo.ts'
import { describeTable, openForTests } from '../../support/table-conformance.ts'

// The same promises over HTTP: at the DynamoDB of this machine, or at the one that DYNAMODB_ENDPOINT names.
let server: LocalDynamo | undefined
let client: ReturnType<typeof documentClient>

beforeAll(async () => {
  const { DYNAMODB_ENDPOINT } = process.env
  if (!DYNAMODB_ENDPOINT) server = await startDynamo()
  client = documentClient(localConfig(server?.endpoint ?? String(DYNAMODB_ENDPOINT)))
})
afterAll(async () => {
  client.destroy()
  await server?.stop()
})

describeTable(async () => openForTests(connect(client), (await createTables(client, randomUUID())).deposits))
