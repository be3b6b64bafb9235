import { randomUUID } from 'node:crypto'
import { test as base } from 'vitest'
import { dynamoClient } from '../../lib/aws/dynamo.ts'
import { connectOperator } from '../../lib/aws/operator-table.ts'
import { createTables, localConfig, startDynamo } from '../../sandbox/dynamo.ts'
import { openTables } from './tables.ts'

/** Test fixtures with one DynamoDB server per file. Each test has empty tables, its own client and the list of its requests. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('server', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await startDynamo()
    onCleanup(server.stop)
    return server
  })
  .extend('endpoint', { scope: 'file' }, ({ server }) => server.endpoint)
  .extend('tableNames', async ({ endpoint }, { onCleanup }) => {
    const client = dynamoClient(localConfig(endpoint))
    onCleanup(() => client.destroy())
    return await createTables(client, randomUUID())
  })
  /** DynamoDB operations that the client sent, in order, such as `Query` or `PutItem`. */
  .extend('requests', (): string[] => [])
  .extend('dynamo', ({ endpoint, requests }, { onCleanup }) => {
    const client = dynamoClient(localConfig(endpoint))
    onCleanup(() => client.destroy())
    // The SDK runs this middleware for each HTTP request, so retries and further pages count too.
    client.middlewareStack.add(
      (next) => (args) => {
        requests.push(operationOf(args.request))
        return next(args)
      },
      { step: 'deserialize', priority: 'low' },
    )
    return client
  })
  /** Makes each later write succeed but lose its first response, so that the SDK retries the write. */
  .extend('loseAnswers', ({ dynamo }) => () => {
    const lost = new Set<string>()
    dynamo.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args)
        const invocation = headersOf(args.request)['amz-sdk-invocation-id'] ?? ''
        const isWrite = /^(Put|Update|Delete)Item$|^TransactWriteItems$/.test(operationOf(args.request))
        if (!isWrite || lost.has(invocation)) return answer
        lost.add(invocation)
        throw Object.assign(new Error('The answer was lost.'), { code: 'ECONNRESET' })
      },
      { step: 'deserialize', priority: 'high' },
    )
  })
  .extend('tables', ({ dynamo, tableNames }) => openTables(connectOperator(dynamo), tableNames))

function operationOf(request: unknown): string {
  return headersOf(request)['x-amz-target']?.split('.')[1] ?? 'unknown'
}

function headersOf(request: unknown): Record<string, string> {
  return (request as { headers: Record<string, string> }).headers
}
