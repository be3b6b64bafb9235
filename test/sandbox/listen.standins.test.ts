import { expect, test } from 'vitest'
import { startDynamo } from '../../sandbox/dynamo.ts'
import { sendHttpRequest } from '../../sandbox/exchange.ts'
import { listen } from '../../sandbox/listen.ts'

test.for([
  ['localhost:4000', 200],
  ['127.0.0.1', 200],
  ['evil.example', 421],
  ['evil.example:4000', 421],
  ['localhost.evil.example', 421],
  ['127.0.0.1.evil.example', 421],
  ['::', 421],
] as const)('A request to a server of this machine under the name %j gets %d', async ([host, expected]) => {
  const { url, stop } = await listen((_, response) => response.end())
  const { status } = await sendHttpRequest(url, { headers: { host } })
  await stop()
  expect(status).toBe(expected)
})

test('Requests to the local tables with another Host header get 421', async () => {
  const { endpoint, stop } = await startDynamo()
  const headers = { host: 'evil.example', 'x-amz-target': 'DynamoDB_20120810.ListTables' }
  const { status, text } = await sendHttpRequest(endpoint, { headers, body: '{}' })
  await stop()
  expect([status, text]).toEqual([421, ''])
})
