import { randomUUID } from 'node:crypto'
import { test as base } from 'vitest'
import { documentClient } from '../../lib/aws/dynamo.ts'
import { createTables, localConfig, startDynamo } from '../../sandbox/dynamo.ts'

/** Tests with a real DynamoDB: one server per test file, and for each test fresh tables, a client of its own and the log of its requests. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('endpoint', { scope: 'file' }, async ({}, { onCleanup }) => {
    const { endpoint, stop } = await startDynamo()
    onCleanup(stop)
    return endpoint
  })
  .extend('tableNames', async ({ endpoint }, { onCleanup }) => {
    const client = documentClient(localConfig(endpoint))
    onCleanup(() => client.destroy())
    return await createTables(client, randomUUID())
  })
  /** The DynamoDB operations that went over the wire, in order: `Query`, `PutItem`. */
  .extend('requests', (): string[] => [])
  .extend('dynamo', ({ endpoint, requests }, { onCleanup }) => {
    const client = documentClient(localConfig(endpoint))
    onCleanup(() => client.destroy())
    // The last step before the request is sent, so that retries and pages are counted too.
    client.middlewareStack.add(
      (next) => (args) => {
        requests.push(operationOf(args.request))
        return next(args)
      },
      { step: 'deserialize', priority: 'low' },
    )
    return client
  })

function operationOf(request: unknown): string {
  const { headers } = request as { headers: Record<string, string> }
  return headers['x-amz-target']?.split('.')[1] ?? 'unknown'
}
