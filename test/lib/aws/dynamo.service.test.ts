import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { CLIENT_DEFAULTS } from '../../../lib/aws/client-defaults.ts'
import { dynamo, dynamoClient, openTable } from '../../../lib/aws/dynamo.ts'
import { connectOperator, createOperatorTable } from '../../../lib/aws/operator-table.ts'
import { wasRefused } from '../../../lib/aws/requests.ts'
import { localConfig } from '../../../sandbox/dynamo.ts'

const get = new GetItemCommand({ TableName: 'any', Key: { pk: { S: 'a' }, sk: { S: 'b' } } })
let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/**
 * Starts a server that sends these replies in order and then repeats the last reply. A server without replies never
 * responds.
 */
async function fakeDynamo(...replies: { status: number; body: unknown }[]) {
  const requests: Promise<unknown>[] = []
  server = createServer((request, response) => {
    const reply = replies[requests.length] ?? replies.at(-1)
    requests.push(json(request))
    if (reply) response.writeHead(reply.status).end(JSON.stringify(reply.body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { endpoint, requests, count: () => requests.length }
}

/** Makes timers of this duration twenty times shorter. Returns a function that counts these timers. */
function shortenTimers(milliseconds: number): () => number {
  const wait = setTimeout
  const spy = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => spy.mockRestore())
  let begun = 0
  spy.mockImplementation((over, delay) => {
    if (delay !== milliseconds) return wait(over, delay)
    begun += 1
    return wait(over, milliseconds / 20)
  })
  return () => begun
}

describe('The DynamoDB client', () => {
  test('gives up on a table without a response after two tries of 2 s', async () => {
    const { endpoint, count } = await fakeDynamo()
    const waits = shortenTimers(2000)
    const client = dynamoClient({ ...localConfig(endpoint), ...CLIENT_DEFAULTS })
    await expect(client.send(get)).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(count()).toBe(2)
    expect(waits()).toBe(2)
  })

  test('closes a connection that is unused for five seconds', async () => {
    const { endpoint } = await fakeDynamo({ status: 200, body: {} })
    // The server itself never closes an unused connection.
    Object.assign(server ?? {}, { keepAliveTimeout: 0 })
    const connected = once(server as Server, 'connection')
    await dynamoClient({ ...localConfig(endpoint), ...CLIENT_DEFAULTS }).send(get)
    const [socket] = await connected
    await once(socket, 'close')
    expect(socket.destroyed).toBe(true)
  })

  test('retries a failed request once', async () => {
    const { endpoint, count } = await fakeDynamo({ status: 500, body: {} })
    await expect(dynamoClient(localConfig(endpoint)).send(get)).rejects.toThrow()
    expect(count()).toBe(2)
  })

  test('is one per process and has its endpoint from the environment', async () => {
    const { endpoint, count } = await fakeDynamo({ status: 200, body: {} })
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint)
    vi.stubEnv('AWS_PROFILE', undefined)
    vi.stubEnv('AWS_REGION', 'eu-west-1')
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'any')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any')

    await openTable('any').get(z.unknown(), { pk: 'a', sk: 'b' })
    expect(count()).toBe(1)
    expect(dynamo()).toBe(dynamo())
    vi.unstubAllEnvs()
  })
})

describe('A batch', () => {
  test.for(['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'])(
    'that is throttled with %s is sent again',
    async (name) => {
      const replies = [1, 2, 3].map(() => ({
        status: 400,
        body: { __type: `com.amazonaws.dynamodb.v20120810#${name}` },
      }))
      const { endpoint, count } = await fakeDynamo(...replies, { status: 200, body: {} })
      await tableAt(endpoint).putMany([{ pk: 'a', sk: 'b' }])
      expect(count()).toBe(4)
    },
  )

  test('of writes sends only its undone writes again', async () => {
    const undone = { any: [{ PutRequest: { Item: { pk: { S: 'c' }, sk: { S: 'd' } } } }] }
    const { endpoint, requests } = await fakeDynamo(
      { status: 200, body: { UnprocessedItems: undone } },
      { status: 200, body: { UnprocessedItems: {} } },
    )
    const items = [
      { pk: 'a', sk: 'b' },
      { pk: 'c', sk: 'd' },
    ]
    await tableAt(endpoint).putMany(items)
    const [, ...again] = await Promise.all(requests)
    expect(again).toEqual([{ RequestItems: undone }])
  })
})

describe('A conditional write', () => {
  const conditional = (endpoint: string) => tableAt(endpoint).add(z.object({}), { pk: 'a', sk: 'b' }, {})
  const failure = (name: string) => ({ status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${name}` } })

  test('that fails for another reason than its condition throws', async () => {
    const { endpoint } = await fakeDynamo(failure('ValidationException'))
    await expect(conditional(endpoint)).rejects.toMatchObject({ name: 'ValidationException' })
  })

  test('whose condition does not hold returns false', async () => {
    const { endpoint } = await fakeDynamo(failure('ConditionalCheckFailedException'))
    expect(await conditional(endpoint)).toBe(false)
  })

  test('is known to be refused if each try was throttled, but not if a response was lost', async () => {
    const throttled = await fakeDynamo(failure('ThrottlingException'))
    expect(wasRefused(await conditional(throttled.endpoint).catch((error: unknown) => error))).toBe(true)
    server?.close()
    const lost = await fakeDynamo({ status: 500, body: {} }, failure('ThrottlingException'))
    expect(wasRefused(await conditional(lost.endpoint).catch((error: unknown) => error))).toBe(false)
  })
})

describe('A transaction', () => {
  const cancelled = (code: string) => ({
    status: 400,
    body: {
      __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: code }],
    },
  })
  const success = { status: 200, body: {} }
  const transact = (endpoint: string) =>
    tableAt(endpoint).transact([{ delete: { pk: 'a', sk: 'b' } }, { delete: { pk: 'a', sk: 'c' } }])

  test.for(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'that is cancelled by %s succeeds in another try with the same token',
    async (code) => {
      const { endpoint, requests } = await fakeDynamo(cancelled(code), success)
      expect(await transact(endpoint)).toEqual([])
      const [first, ...others] = (await Promise.all(requests)).map((body) => Tokened.parse(body).ClientRequestToken)
      expect(others).toEqual([first])
    },
  )

  test('without a response succeeds in another try with the same token', async () => {
    const down = { status: 500, body: {} }
    const { endpoint, requests } = await fakeDynamo(down, down, success)
    expect(await transact(endpoint)).toEqual([])
    const tokens = (await Promise.all(requests)).map((body) => Tokened.parse(body).ClientRequestToken)
    expect([tokens.length, new Set(tokens).size]).toEqual([3, 1])
  })

  test('whose condition does not hold names the condition, and is not retried', async () => {
    const { endpoint, count } = await fakeDynamo(cancelled('ConditionalCheckFailed'))
    expect(await transact(endpoint)).toEqual([1])
    expect(count()).toBe(1)
  })

  test('is not retried without credentials', async () => {
    const credentials = vi.fn<() => Promise<never>>().mockRejectedValue(new Error('No credentials.'))
    const client = dynamoClient({ ...localConfig('http://127.0.0.1:1'), credentials })
    const transaction = createOperatorTable(connectOperator(client), 'any').transact([{ delete: { pk: 'a', sk: 'b' } }])
    await expect(transaction).rejects.toThrow('No credentials.')
    expect(credentials).toHaveBeenCalledOnce()
  })
})

const Tokened = z.object({ ClientRequestToken: z.string() })

function tableAt(endpoint: string) {
  return createOperatorTable(connectOperator(dynamoClient(localConfig(endpoint))), 'any')
}
