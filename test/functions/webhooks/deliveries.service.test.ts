import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { describe, expect, onTestFinished } from 'vitest'
import { describeFailure, runCommandLine } from '../../../admin/command-line.ts'
import { sendMessages, sqsClient } from '../../../lib/aws/queue.ts'
import { readSecretJson, writeSecretJson } from '../../../lib/aws/secrets.ts'
import { parseApiKey } from '../../../lib/clients/api-key.ts'
import { KeysByAge } from '../../../lib/core/keys-by-age.ts'
import { localConfig } from '../../../sandbox/dynamo.ts'
import { expectError } from '../../support/errors.ts'
import { captureLogs } from '../../support/logs.ts'
import { startTestServer } from '../../support/serve.ts'
import { chainlessTest, type Service } from '../../support/service.ts'
import { verifyDelivery } from '../../support/webhook-signatures.ts'
import { publishAndDeliver, publishTo, someWebhookEvent } from '../../support/webhooks.ts'

const HOUR = 3600
/** Seconds that tests wait after a test message or an operator has resumed deliveries. Queued messages are then due. */
const SOON = 3

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string }

const test = chainlessTest
  .extend('receiver', async ({ service: _ }) => {
    const receiver = { url: '', status: 204, received: [] as Received[] }
    const url = await startTestServer(async (request, response) => {
      receiver.received.push({ headers: request.headers, body: await text(request) })
      response.writeHead(receiver.status).end()
    })
    receiver.url = `http://localhost:${new URL(url).port}/hook`
    return receiver
  })
  .extend('own', async ({ service, receiver }) => {
    service.backends.queues.clear()
    const key = await service.createClient([])
    const clientId = parseApiKey(key)?.clientId as string
    const ask = (method: string, path: string, body?: unknown) => service.call(method, path, { key, body })
    const { body } = await ask('POST', '/webhooks', { url: receiver.url })
    return {
      ...{ key, clientId, ask, id: body.id as string, secret: body.secret as string },
      status: async () => (await ask('GET', '/webhooks')).body.webhooks[0],
      tell: (...keys: string[]) =>
        publishAndDeliver(
          service,
          clientId,
          keys.map((each) => someWebhookEvent(each)),
        ),
    }
  })
  /** A webhook whose receiver refused an event for so long that the service stopped delivering that event. */
  .extend('failing', async ({ clock, coldService: service, receiver, own }) => {
    receiver.status = 400
    await own.tell('one')
    for (let hours = 0; hours < 80; hours += 1) {
      await service.consume()
      clock.pass(HOUR)
    }
    receiver.status = 204
    receiver.received.length = 0
    return { service, of: ['--client', own.clientId] as const }
  })

describe('A webhook', () => {
  test('receives events in the bytes of the log, and can verify them', async ({ service, receiver, own }) => {
    await own.tell('one', 'two')
    await service.consume()
    const log = await own.ask('GET', '/webhooks/events')
    const events = receiver.received.map((received) => verifyDelivery(received, own.secret))
    expect(events).toHaveLength(2)
    expect(events).toEqual(expect.arrayContaining(log.body.events))
    expect(receiver.received[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
    for (const { body } of receiver.received) expect(JSON.stringify(log.body)).toContain(body)
  })

  test('receives each event whatever the queue does', async ({ service, receiver, own }) => {
    const { faults } = service.backends.queues
    Object.assign(faults, { twice: 0.5, disorder: true, refused: 0.1 })
    onTestFinished(() => void Object.assign(faults, { twice: 0, disorder: false, refused: 0 }))
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

  test('that accepts nothing is reported and disabled, and resumes where it stopped after a successful test', async ({
    clock,
    coldService,
    receiver,
    own,
  }) => {
    const { lines } = captureLogs()
    receiver.status = 500
    await own.tell('one', 'two')
    await coldService.consume()
    expect(await own.status()).toMatchObject({
      ...{ status: 'active', failingSince: expect.stringMatching(/Z$/) },
      delivery: {
        lastFailure: { at: expect.stringMatching(/Z$/), reason: 'status', status: 500 },
        ...{ behindFrom: 1, waiting: 0, nextAttemptAt: expect.stringMatching(/Z$/), givenUp: [] },
      },
    })
    expect(lines.filter(({ message }) => message === 'deliveries failed')).toMatchObject([
      { clientId: own.clientId, webhookId: own.id, failed: 2, of: 2, failures: 2, reason: 'status', status: 500 },
    ])
    // Each test message of the webhook enqueues the next one. In three days this happens far more often than Lambda's
    // loop detection allows.
    for (let hours = 0; hours < 76; hours += 2) {
      clock.pass(2 * HOUR)
      await coldService.consume()
    }
    expect(await own.status()).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
    expect(lines.filter(({ message }) => message === 'webhook switched off')).toHaveLength(1)
    await own.tell('three')
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
    expect(await own.status()).toMatchObject({ status: 'active', disabledAt: null })
    clock.pass(SOON)
    await coldService.consume()
    const types = receiver.received.map(({ body }) => JSON.parse(body).type)
    expect(types).toEqual(['webhook.test', ...Array(3).fill('deposit.completed')])
    expect(await own.status()).toMatchObject({
      failingSince: null,
      delivery: { lastFailure: { status: 500 }, behindFrom: null, waiting: 0, nextAttemptAt: null },
    })
  })

  test("that is behind gets all events immediately on an operator's command, unless it is disabled", async ({
    clock,
    coldService: service,
    receiver,
    own,
  }) => {
    const of = ['--client', own.clientId] as const
    receiver.status = 500
    await own.tell('one', 'two')
    await service.consume()
    receiver.status = 204
    receiver.received.length = 0
    await own.tell('three')
    await service.consume()
    expect(receiver.received).toEqual([])
    const { nextAttemptAt } = (await own.status()).delivery
    expect(await run(service, 'list-webhooks', ...of)).toMatch(
      new RegExp(` failing since \\S+Z +1 +0 +${nextAttemptAt} +0 +\\S+Z: status 500$`, 'm'),
    )
    expect(await run(service, 'resume-webhooks', ...of)).toBe('Webhooks that get what they did not take: 1.')
    clock.pass(SOON)
    await service.consume()
    const sequences = receiver.received.map(({ body }) => JSON.parse(body).sequence)
    expect(new Set(sequences)).toEqual(new Set([1, 2, 3]))
    expect(await run(service, 'resume-webhooks', ...of)).toContain(': 0.')

    receiver.status = 410
    await own.tell('four')
    await service.consume()
    clock.pass(HOUR)
    expect(await run(service, 'resume-webhooks', ...of)).toBe(
      ['Webhooks that get what they did not take: 0.', 'Disabled, until a test of their client succeeds: 1.'].join(
        '\n',
      ),
    )
  })

  test('can be tested with a signed event that is in no log', async ({ receiver, own }) => {
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

test('A client can test only one webhook at a time', async ({ receiver, own }) => {
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

async function run({ backends: { admin } }: Service, ...args: string[]): Promise<string> {
  const lines = await runCommandLine(args, async () => admin).catch((error: unknown) => [describeFailure(error)])
  return lines.join('\n')
}

describe('An event that is given up', () => {
  test('is reported to its client and to an operator, who can send it again', async ({
    clock,
    failing,
    receiver,
    own,
  }) => {
    const { service, of } = failing
    expect(await own.status()).toMatchObject({
      ...{ status: 'active', failingSince: null },
      delivery: { lastFailure: { reason: 'status', status: 400 }, waiting: 0, nextAttemptAt: null, givenUp: [1] },
    })
    expect(await run(service, 'list-webhooks', ...of)).toMatch(/ active +none +0 +none +1 +\S+Z: status 400$/m)
    expect(await run(service, 'list-given-up', ...of)).toMatch(
      new RegExp(`^${own.clientId} +${own.id} +1 +deposit.completed +\\S+Z$`, 'm'),
    )
    // Undelivered events stay in the event log. They must not be in the dead-letter queue.
    expect(service.backends.queues.listDeadLetters('deliveryQueue')).toEqual([])
    expect(await run(service, 'resume-webhooks', ...of)).toBe('Webhooks that get what they did not take: 1.')
    clock.pass(SOON)
    await service.consume()
    expect(receiver.received.map(({ body }) => JSON.parse(body).sequence)).toEqual([1])
    expect(await run(service, 'list-given-up', ...of)).toBe('None.')
  })

  test('is not sent again by a successful test of an active webhook', async ({
    failing: { service },
    receiver,
    own,
  }) => {
    await own.ask('POST', `/webhooks/${own.id}/test`)
    await service.consume()
    expect(receiver.received.map(({ body }) => JSON.parse(body).sequence)).toEqual([undefined])
    expect(await own.status()).toMatchObject({ delivery: { givenUp: [1], givenUpBefore: 0 } })
  })

  test('is dropped by an operator who confirms it', async ({ failing: { service, of }, receiver, own }) => {
    const drop = (...more: string[]) => run(service, 'drop-given-up', ...of, '--webhook', own.id, ...more)
    expect(await drop()).toBe('Events that would never be sent again: 1, of webhooks: 1. Add --yes to do it.')
    expect(await run(service, 'drop-given-up', ...of, '--webhook', 'wh_other', '--yes')).toBe(
      'There is no webhook wh_other. See list-webhooks.',
    )
    expect(await own.status()).toMatchObject({ delivery: { givenUp: [1] } })
    expect(await drop('--yes')).toBe('Events that are never sent again: 1.')
    expect(await run(service, 'list-given-up', ...of)).toBe('None.')
    await own.ask('POST', `/webhooks/${own.id}/test`)
    await service.consume()
    expect(receiver.received.map(({ body }) => JSON.parse(body).sequence)).toEqual([undefined])
    await own.tell('two')
    await service.consume()
    expect(receiver.received).toHaveLength(2)
  })

  test('is deleted with its webhook', async ({ failing: { service, of }, own }) => {
    await own.ask('DELETE', `/webhooks/${own.id}`)
    expect(await run(service, 'list-given-up', ...of)).toBe('None.')
    expect(await run(service, 'resume-webhooks', ...of)).toContain(': 0.')
  })
})

test('An invalid message is received a hundred times, and then waits for an operator', async ({
  clock,
  service,
  own: _,
}) => {
  captureLogs()
  const { queues } = service.backends
  const client = sqsClient(localConfig(queues.endpoint))
  onTestFinished(() => client.destroy())
  await sendMessages(queues.variables['DELIVERY_QUEUE_URL'] ?? '', [{ nothing: 'known' }], { client })
  const handOut = async () => {
    for (let times = 0; times <= 100; times += 1) {
      await service.consume()
      clock.pass(200)
    }
  }
  await handOut()
  expect(queues.listDeadLetters('deliveryQueue')).toEqual([{ nothing: 'known' }])
  expect(await run(service, 'list-dead-letters')).toMatch(/^vaultline-local-deliveries +\S+Z +{"nothing":"known"}$/m)
  clock.pass(30)
  expect(await run(service, 'redrive-dead-letters')).toContain(
    'Messages of vaultline-local-deliveries that are worked on again: about 1; left: about 0; done.',
  )
  expect(queues.listDeadLetters('deliveryQueue')).toEqual([])
  await handOut()
  expect(queues.listDeadLetters('deliveryQueue')).toEqual([{ nothing: 'known' }])
})

test("A stage's new key signs within five minutes, together with the old one until that is removed", async ({
  clock,
  coldService: service,
  receiver,
  own,
}) => {
  const { environment } = service.backends
  const secretId = environment['WEBHOOK_KEY_SECRET'] ?? ''
  const secrets = new SecretsManagerClient(localConfig(environment['AWS_ENDPOINT_URL_SECRETS_MANAGER'] ?? ''))
  const [before] = await readSecretJson(secretId, KeysByAge, secrets)
  onTestFinished(async () => {
    await writeSecretJson(secretId, { key: before }, secrets)
    clock.pass(5 * 60)
    secrets.destroy()
  })
  const receive = async (key: string) => {
    receiver.received.length = 0
    await publishTo(service, own.clientId, [someWebhookEvent(key)])
    await service.consume()
    const [received] = receiver.received
    if (!received) throw new Error('nothing was received')
    return received
  }
  await receive('one')
  const key = 'n'.repeat(64)
  await writeSecretJson(secretId, { key, before }, secrets)
  clock.pass(5 * 60)
  // Receivers can change their secret later, because the old secret still verifies deliveries.
  expect(verifyDelivery(await receive('two'), own.secret)).toMatchObject({ sequence: 2 })
  const { body } = await service.call('POST', `/webhooks/${own.id}/secret`, { key: own.key })
  const second = await receive('three')
  for (const secret of [own.secret, body.secret]) expect(verifyDelivery(second, secret)).toMatchObject({ sequence: 3 })

  await writeSecretJson(secretId, { key }, secrets)
  clock.pass(5 * 60)
  const third = await receive('four')
  expect(verifyDelivery(third, body.secret)).toMatchObject({ sequence: 4 })
  expect(() => verifyDelivery(third, own.secret)).toThrow()
})
