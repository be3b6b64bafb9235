import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { COMMANDS } from '../../../admin/commands.ts'
import { sendMessages, sqsClient } from '../../../lib/aws/queue.ts'
import { parseApiKey } from '../../../lib/clients/api-key.ts'
import { localConfig } from '../../../sandbox/dynamo.ts'
import { expectError } from '../../support/errors.ts'
import { captureLogs } from '../../support/logs.ts'
import { chainlessTest } from '../../support/service.ts'
import { verifyDelivery } from '../../support/webhook-signatures.ts'
import { someNotice, tell } from '../../support/webhooks.ts'

const HOUR = 3600

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string }

const test = chainlessTest
  /** A server that is told of everything, and answers as it is told to. */
  .extend('receiver', async ({ service: _ }, { onCleanup }) => {
    const receiver = { url: '', status: 204, received: [] as Received[] }
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        receiver.received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
        response.writeHead(receiver.status).end()
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(() => void server.close())
    receiver.url = `http://localhost:${(server.address() as AddressInfo).port}/hook`
    return receiver
  })
  /** A client of its own with a webhook there. */
  .extend('own', async ({ service, receiver }) => {
    service.backends.queues.clear()
    const key = await service.createClient([])
    const clientId = parseApiKey(key)?.clientId as string
    const ask = (method: string, path: string, body?: unknown) => service.call(method, path, { key, body })
    const { body } = await ask('POST', '/webhooks', { url: receiver.url })
    return {
      ...{ clientId, ask, id: body.id as string, secret: body.secret as string },
      status: async () => (await ask('GET', '/webhooks')).body.webhooks[0],
      tell: (...keys: string[]) =>
        tell(
          service,
          clientId,
          keys.map((each) => someNotice(each)),
        ),
    }
  })

describe('A webhook', () => {
  test('is told what happens, in the bytes of the log, and can verify it', async ({ service, receiver, own }) => {
    await own.tell('one', 'two')
    await service.consume()
    const log = await own.ask('GET', '/webhooks/events')
    const told = receiver.received.map((received) => verifyDelivery(received, own.secret))
    expect(told).toHaveLength(2)
    expect(told).toEqual(expect.arrayContaining(log.body.events))
    expect(receiver.received[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
    for (const { body } of receiver.received) expect(JSON.stringify(log.body)).toContain(body)
  })

  test('is told each event whatever the queue does', async ({ service, receiver, own }) => {
    const { lies } = service.backends.queues
    Object.assign(lies, { twice: 0.5, disorder: true, refused: 0.1 })
    onTestFinished(() => void Object.assign(lies, { twice: 0, disorder: false, refused: 0 }))
    for (let index = 0; index < 5; index += 1) {
      await own.tell(`${index}a`, `${index}b`)
      await service.consume()
    }
    await service.consume()
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    const log = await own.ask('GET', '/webhooks/events')
    expect(new Set(ids)).toEqual(new Set(log.body.events.map(({ id }: { id: string }) => id)))
    expect(log.body.events).toHaveLength(10)
  })

  test('that takes nothing says so, and goes on where it stopped when a test of it succeeds', async ({
    clock,
    coldService,
    receiver,
    own,
  }) => {
    const { lines } = captureLogs()
    receiver.status = 500
    await own.tell('one')
    await coldService.consume()
    expect(await own.status()).toMatchObject({ status: 'active', failingSince: expect.stringMatching(/Z$/) })
    // What is sent on until it is due is many times what Lambda lets through of a loop that is not meant.
    for (let hours = 0; hours < 80; hours += 4) {
      clock.pass(4 * HOUR)
      await coldService.consume()
    }
    expect(await own.status()).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
    expect(lines.filter(({ message }) => message === 'webhook switched off')).toHaveLength(1)
    await own.tell('two')
    const before = receiver.received.length
    await coldService.consume()
    expect(receiver.received).toHaveLength(before)

    const path = `/webhooks/${own.id}/test`
    expect((await own.ask('POST', path)).body).toEqual({ delivered: false, status: 500, reason: 'status' })
    expect(await own.status()).toMatchObject({ status: 'disabled' })
    receiver.status = 200
    receiver.received.length = 0
    clock.pass(1_000)
    expect((await own.ask('POST', path)).body).toEqual({ delivered: true, status: 200, reason: null })
    expect(await own.status()).toMatchObject({ status: 'active', failingSince: null, disabledAt: null })
    await coldService.consume()
    const types = receiver.received.map(({ body }) => JSON.parse(body).type)
    expect(types).toEqual(['webhook.test', 'deposit.completed', 'deposit.completed'])
  })

  test('can be tried: what it is sent then is signed, and in no log', async ({ receiver, own }) => {
    const { status, body } = await own.ask('POST', `/webhooks/${own.id}/test`)
    expect([status, body]).toEqual([200, { delivered: true, status: 204, reason: null }])
    const [received] = receiver.received
    expect(received && verifyDelivery(received, own.secret)).toEqual({
      ...{ id: received?.headers['webhook-id'], type: 'webhook.test', timestamp: expect.stringMatching(/Z$/) },
      data: { webhookId: own.id },
    })
    expect((await own.ask('GET', '/webhooks/events')).body.events).toEqual([])
    expectError(await own.ask('POST', '/webhooks/wh_1/test'), 'webhook_not_found')
  })
})

test('A client tries one webhook at a time, and the next a second later', async ({ receiver, own }) => {
  const path = `/webhooks/${own.id}/test`
  const answers = await Promise.all(Array.from({ length: 8 }, () => own.ask('POST', path)))
  const [done = [], refused = []] = [200, 429].map((status) => answers.filter((answer) => answer.status === status))
  expect([done.length, refused.length]).toEqual([1, 7])
  for (const answer of refused) {
    expectError(answer, 'too_many_requests')
    expect(answer.headers.get('retry-after')).toBe('6')
  }
  expect(receiver.received).toHaveLength(1)
})

describe('What was given up', () => {
  test('waits for an operator, who has it tried again', async ({ service, receiver, own }) => {
    captureLogs()
    const { queues, admin } = service.backends
    await own.tell('one')
    await service.consume()
    const client = sqsClient(localConfig(queues.endpoint))
    onTestFinished(() => client.destroy())
    const event = { sequence: 1, page: 1 }
    const letter = { clientId: own.clientId, webhookId: own.id, event }
    await sendMessages(queues.variables['DELIVERY_DEAD_LETTERS_URL'] ?? '', [letter], { client })
    const [heading, ...rows] = (await COMMANDS['redrive-webhooks']?.prepare({})(admin)) ?? []
    expect(heading).toMatch(/^QUEUE +TRIED AGAIN +LEFT +STATE$/)
    expect(rows).toEqual([
      expect.stringMatching(/^vaultline-local-events +about 0 +about 0 +done$/),
      expect.stringMatching(/^vaultline-local-deliveries +about 1 +about 0 +done$/),
    ])
    expect(queues.listDeadLetters('deliveryQueue')).toEqual([])
    await service.consume()
    expect(receiver.received.map(({ body }) => JSON.parse(body).sequence)).toEqual([1, 1])
  })
})
