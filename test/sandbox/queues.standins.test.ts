import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  type MessageSystemAttributeName,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  StartMessageMoveTaskCommand,
  type StartMessageMoveTaskCommandInput,
} from '@aws-sdk/client-sqs'
import { test as base, describe, expect, onTestFinished, vi } from 'vitest'
import type { Admin } from '../../admin/admin.ts'
import { describeFailure, runCommandLine } from '../../admin/command-line.ts'
import { createDeadLetters } from '../../admin/dead-letters.ts'
import { QUEUES } from '../../infra/queues.ts'
import { hideMessage, sendMessages, sqsClient } from '../../lib/aws/queue.ts'
import { createConsumers, localMappings } from '../../sandbox/consumers.ts'
import { localConfig } from '../../sandbox/dynamo.ts'
import { startQueues } from '../../sandbox/queues.ts'

const START = Date.parse('2026-11-20')

// biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
const test = base.extend('sqs', async ({}, { onCleanup }) => {
  let time = START
  let random = [0.5]
  const queues = await startQueues({ now: () => time, random: () => random.shift() ?? 0.5 })
  const client = sqsClient(localConfig(queues.endpoint))
  onCleanup(async () => {
    client.destroy()
    await queues.stop()
  })
  const QueueUrl = queues.variables['DELIVERY_QUEUE_URL'] ?? ''
  // The clock jumps to the end of the longest pause, so concurrent pauses do not add up.
  const sleep = async (ms: number) => {
    const until = time + ms
    await new Promise(setImmediate)
    time = Math.max(time, until)
  }
  return {
    queues,
    client,
    QueueUrl,
    pass: (seconds: number) => {
      time += seconds * 1000
    },
    /** Sets the next results of the queue's random generator. Later results are 0.5. */
    draw: (...next: number[]) => {
      random = next
    },
    send: (messages: readonly object[], delaySeconds = 0) => sendMessages(QueueUrl, messages, { delaySeconds, client }),
    sendOf: (counts: Readonly<Record<string, number>>) =>
      sendMessages(
        QueueUrl,
        Object.entries(counts).flatMap(([tenant, count]) => Array.from({ length: count }, () => ({ tenant }))),
        { groupOf: ({ tenant }) => tenant, client },
      ),
    receive: async ({
      waitSeconds: WaitTimeSeconds = 0,
      most = 10,
      attributes = [],
    }: {
      waitSeconds?: number
      most?: number
      attributes?: MessageSystemAttributeName[]
    } = {}) => {
      const messages: Message[] = []
      for (let left = most; left > 0; left -= 10) {
        const { Messages = [] } = await client.send(
          new ReceiveMessageCommand({
            ...{ QueueUrl, WaitTimeSeconds, MessageSystemAttributeNames: attributes },
            MaxNumberOfMessages: Math.min(10, left),
          }),
        )
        messages.push(...Messages)
      }
      return messages
    },
    hide: ({ ReceiptHandle = '' }: Message, seconds: number) => hideMessage(QueueUrl, ReceiptHandle, seconds, client),
    giveUp: (count: number) =>
      sendMessages(
        `${QueueUrl}-dead`,
        Array.from({ length: count }, (_, i) => ({ i })),
        { client },
      ),
    /** Moves dead letters back to their queue, as an operator's command does. The command's pauses take no real time. */
    redrive: async () => {
      const said: string[] = []
      const [ofDeliveries] = await createDeadLetters(client, 'local', {
        sleep,
        say: (line) => said.push(line),
      }).redrive()
      return { ...ofDeliveries, said }
    },
    run: async (...args: string[]) => {
      const said: string[] = []
      const deadLetters = createDeadLetters(client, 'local', { sleep, say: (line) => said.push(line) })
      // The cast is safe because these commands use no other field of Admin.
      const connect = async () => ({ deadLetters }) as Admin
      const printed = await runCommandLine(args, connect).catch((error: unknown) => `Error: ${describeFailure(error)}`)
      return [...said, printed].flat().join('\n')
    },
  }
})

const bodiesOf = (messages: readonly { Body?: string | undefined }[]) =>
  messages.map(({ Body = '' }) => JSON.parse(Body))

describe('sendMessages', () => {
  test('sends ten messages per request, and all messages arrive', async ({ sqs: { queues, send, receive } }) => {
    const messages = Array.from({ length: 23 }, (_, i) => ({ i }))
    await send(messages)
    expect(queues.requests).toEqual({ SendMessageBatch: 3 })
    expect([...(await receive()), ...(await receive()), ...(await receive())]).toHaveLength(23)
    expect(bodiesOf(await receive())).toEqual([])
  })

  test('sends no request without messages', async ({ sqs: { queues, send } }) => {
    await send([])
    expect(queues.requests).toEqual({})
  })

  test('delays messages by the given time', async ({ sqs: { send, receive, pass, queues } }) => {
    await send([{ i: 1 }], 900)
    expect(queues.count('deliveryQueue')).toEqual({ visible: 0, delayed: 1, hidden: 0 })
    pass(899)
    expect(await receive()).toEqual([])
    pass(1)
    expect(bodiesOf(await receive())).toEqual([{ i: 1 }])
    await expect(send([{ i: 1 }], 901)).rejects.toThrow()
  })

  test('sends again only those messages of a batch that SQS refused', async ({ sqs: { queues, send, draw } }) => {
    queues.faults.refused = 0.3
    draw(0.9, 0.1, 0.9, 0.1)
    await send([{ i: 1 }, { i: 2 }, { i: 3 }])
    expect(queues.requests).toEqual({ SendMessageBatch: 3 })
    expect(queues.list('deliveryQueue')).toEqual([{ i: 1 }, { i: 3 }, { i: 2 }])
  })

  test('throws if SQS refuses a message three times', async ({ sqs: { queues, send } }) => {
    queues.faults.refused = 1
    await expect(send([{ i: 1 }, { i: 2 }])).rejects.toThrow('SQS refuses 2 of 2 messages.')
    expect(queues.requests).toEqual({ SendMessageBatch: 3 })
  })

  test('throws if SQS is unreachable', async ({ sqs: { queues, send } }) => {
    queues.faults.down = true
    await expect(send([{ i: 1 }])).rejects.toThrow()
  })
})

describe('A message', () => {
  test('is hidden while a receiver works on it, and delivered again if it is not deleted', async ({ sqs }) => {
    const { send, receive, pass, client, QueueUrl, queues } = sqs
    await send([{ i: 1 }])
    const [first] = await receive()
    expect(await receive()).toEqual([])
    expect(queues.count('deliveryQueue')).toEqual({ visible: 0, delayed: 0, hidden: 1 })
    pass(179)
    expect(await receive()).toEqual([])
    pass(1)
    const [again] = await receive()
    expect(again?.MessageId).toBe(first?.MessageId)
    // The first receipt became invalid when the message was received again.
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: first?.ReceiptHandle }))
    expect(queues.list('deliveryQueue')).toHaveLength(1)
    const { ReceiptHandle } = again ?? {}
    await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 5 }))
    pass(5)
    const [last] = await receive()
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: last?.ReceiptHandle }))
    expect(queues.list('deliveryQueue')).toEqual([])
  })

  test('goes to the dead letters after its queue’s maximum of receipts', async ({ sqs }) => {
    const { send, receive, pass, queues } = sqs
    await send([{ i: 1 }])
    for (let times = 1; times <= QUEUES.deliveryQueue.maxReceives; times += 1) {
      expect(await receive()).toHaveLength(1)
      pass(180)
    }
    expect(await receive()).toEqual([])
    expect(queues.list('deliveryQueue')).toEqual([])
    expect(queues.listDeadLetters('deliveryQueue')).toEqual([{ i: 1 }])
  })

  test('is deleted by a purge of its queue, even while a receiver works on it', async ({ sqs }) => {
    const { send, receive, pass, client, queues, QueueUrl } = sqs
    await send([{ i: 1 }, { i: 2 }])
    expect(await receive()).toHaveLength(2)
    await send([{ i: 3 }])
    await client.send(new PurgeQueueCommand({ QueueUrl }))
    pass(60)
    expect(queues.list('deliveryQueue')).toEqual([])
  })

  test('can still arrive for a minute after a purge, which also deletes messages sent meanwhile', async ({ sqs }) => {
    const { send, receive, pass, client, queues, QueueUrl } = sqs
    await send([{ i: 1 }])
    await client.send(new PurgeQueueCommand({ QueueUrl }))
    pass(59)
    expect(bodiesOf(await receive())).toEqual([{ i: 1 }])
    await send([{ i: 2 }])
    pass(1)
    await send([{ i: 3 }])
    expect(queues.list('deliveryQueue')).toEqual([{ i: 3 }])
  })

  test('cannot be purged with its queue twice within a minute', async ({ sqs: { pass, client, QueueUrl } }) => {
    const purge = () => client.send(new PurgeQueueCommand({ QueueUrl }))
    await purge()
    pass(59)
    await expect(purge()).rejects.toMatchObject({
      name: 'PurgeQueueInProgress',
      message: 'Only one PurgeQueue operation on vaultline-local-deliveries is allowed every 60 seconds.',
      $metadata: { httpStatusCode: 403 },
    })
    pass(1)
    await purge()
  })

  test('is delivered twice by a faulty queue, to others while a receiver works on it', async ({ sqs }) => {
    const { send, receive, queues, client, QueueUrl, draw } = sqs
    queues.faults.twice = 0.3
    await send([{ i: 1 }])
    draw(0.1)
    const [first] = await receive()
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: first?.ReceiptHandle }))
    expect(await receive()).toMatchObject([{ MessageId: first?.MessageId, Body: '{"i":1}' }])
    expect(await receive()).toEqual([])
  })

  test('can be missed by a receiver that does not wait', async ({ sqs: { send, queues, receive } }) => {
    queues.faults.missedShare = 1
    await send([{ i: 1 }])
    expect(await receive()).toEqual([])
    expect(await receive({ waitSeconds: 1 })).toHaveLength(1)
  })

  test('has only the requested attributes', async ({ sqs }) => {
    await sqs.send([{ i: 1 }])
    expect((await sqs.receive())[0]?.Attributes).toBeUndefined()
    const { QueueUrl } = sqs
    expect((await sqs.client.send(new GetQueueAttributesCommand({ QueueUrl }))).Attributes).toBeUndefined()
  })

  test('is not deleted by an invalid receipt', async ({ sqs: { client, QueueUrl } }) => {
    const unknown = new DeleteMessageCommand({ QueueUrl, ReceiptHandle: 'unknown' })
    await expect(client.send(unknown)).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' })
  })

  test('is not visible immediately in a faulty queue', async ({ sqs: { send, queues, pass, receive } }) => {
    queues.faults.invisibleMs = 2000
    await send([{ i: 1 }])
    expect(await receive()).toEqual([])
    pass(2)
    expect(await receive()).toHaveLength(1)
  })

  test('arrives out of order from a faulty queue', async ({ sqs: { send, queues, receive, draw } }) => {
    await send([{ i: 1 }, { i: 2 }, { i: 3 }])
    queues.faults.disorder = true
    draw(0.7, 0.1, 0.4)
    expect(bodiesOf(await receive())).toEqual([{ i: 2 }, { i: 3 }, { i: 1 }])
  })

  test('is kept for its queue’s retention period', async ({ sqs: { send, pass, receive, queues } }) => {
    await send([{ i: 1 }])
    pass(QUEUES.deliveryQueue.retentionDays * 86_400 - 1)
    expect(await receive()).toHaveLength(1)
    pass(2)
    expect(await receive()).toEqual([])
    expect(queues.list('deliveryQueue')).toEqual([])
  })
})

describe('A message whose visibility timeout is extended', () => {
  test('is visible again after at most twelve hours from its receipt', async ({
    sqs: { send, receive, pass, hide },
  }) => {
    await send([{ i: 1 }])
    const [message = {}] = await receive()
    pass(60)
    await expect(hide(message, 12 * 3600)).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      message: expect.stringContaining('Total VisibilityTimeout for the message is beyond the limit [43200 seconds]'),
    })
    await hide(message, 12 * 3600 - 60)
    pass(12 * 3600 - 61)
    expect(await receive()).toEqual([])
    pass(1)
    expect(await receive()).toHaveLength(1)
  })

  test('may be hidden for another twelve hours after another receipt', async ({
    sqs: { send, receive, pass, hide },
  }) => {
    await send([{ i: 1 }])
    for (let times = 1; times <= 3; times += 1) {
      const [message = {}] = await receive({ attributes: ['ApproximateReceiveCount'] })
      expect(message.Attributes).toEqual({ ApproximateReceiveCount: String(times) })
      await hide(message, 12 * 3600)
      pass(12 * 3600)
    }
  })

  test('cannot be hidden with an old receipt', async ({ sqs: { send, receive, pass, hide } }) => {
    await send([{ i: 1 }])
    const [message = {}] = await receive()
    pass(180)
    await expect(hide(message, 60)).rejects.toMatchObject({ name: 'MessageNotInflight' })
  })
})

describe('A queue with SQS’s maximum of messages in flight', () => {
  test('allows 120,000', ({ sqs: { queues } }) => {
    expect(queues.faults.maxInFlight).toBe(120_000)
  })

  test('refuses a receiver that does not wait and gives no message to one that waits', async ({ sqs }) => {
    sqs.queues.faults.maxInFlight = 3
    await sqs.send([{ i: 1 }, { i: 2 }, { i: 3 }, { i: 4 }])
    const [message = {}] = await sqs.receive({ most: 3 })
    await expect(sqs.receive()).rejects.toMatchObject({ name: 'OverLimit' })
    expect(await sqs.receive({ waitSeconds: 1 })).toEqual([])
    const { QueueUrl } = sqs
    await sqs.client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }))
    expect(await sqs.receive({ waitSeconds: 1, most: 1 })).toHaveLength(1)
  })

  test('counts messages whose visibility is delayed', async ({ sqs: { queues, send, receive, hide, pass } }) => {
    queues.faults.maxInFlight = 1
    await send([{ i: 1 }, { i: 2 }])
    const [message = {}] = await receive({ most: 1 })
    await hide(message, 3600)
    pass(3599)
    await expect(receive()).rejects.toMatchObject({ name: 'OverLimit' })
    pass(1)
    expect(await receive({ most: 1 })).toHaveLength(1)
  })
})

describe('A tenant', () => {
  const tenantsOf = (messages: readonly Message[]) => bodiesOf(messages).map(({ tenant }) => tenant)

  test('is returned with a message on request', async ({ sqs: { sendOf, receive } }) => {
    await sendOf({ a: 2 })
    expect((await receive({ most: 1, attributes: ['MessageGroupId'] }))[0]?.Attributes).toEqual({ MessageGroupId: 'a' })
    expect((await receive())[0]?.Attributes).toBeUndefined()
  })

  test('with thirty messages in flight, more than a tenth of all, comes after others', async ({ sqs }) => {
    await sqs.sendOf({ noisy: 40 })
    await sqs.receive({ most: 30 })
    sqs.pass(1)
    await sqs.sendOf({ quiet: 2 })
    expect(tenantsOf(await sqs.receive({ most: 4 }))).toEqual(['quiet', 'quiet', 'noisy', 'noisy'])
  })

  test('with fewer messages in flight keeps its turn', async ({ sqs }) => {
    await sqs.sendOf({ loud: 40 })
    await sqs.receive({ most: 29 })
    sqs.pass(1)
    await sqs.sendOf({ quiet: 2 })
    expect(tenantsOf(await sqs.receive({ most: 1 }))).toEqual(['loud'])
  })

  test('with a tenth of all messages in flight keeps its turn', async ({ sqs }) => {
    await sqs.send(Array.from({ length: 270 }, () => ({})))
    await sqs.receive({ most: 270 })
    await sqs.sendOf({ loud: 40 })
    await sqs.receive({ most: 30 })
    sqs.pass(1)
    await sqs.sendOf({ quiet: 2 })
    expect(tenantsOf(await sqs.receive({ most: 1 }))).toEqual(['loud'])
  })

  test('that is noisier comes after one that is less noisy', async ({ sqs }) => {
    await sqs.sendOf({ noisier: 32 })
    await sqs.receive({ most: 31 })
    await sqs.sendOf({ noisy: 31 })
    // The tenant `noisier` has one message left and more messages in flight. So the queue first delivers 30 messages of
    // the tenant `noisy`.
    await sqs.receive({ most: 30 })
    expect(tenantsOf(await sqs.receive())).toEqual(['noisy', 'noisier'])
  })

  test('is separate for each message without a group', async ({ sqs }) => {
    await sqs.send(Array.from({ length: 40 }, () => ({ tenant: 'none' })))
    await sqs.receive({ most: 30 })
    sqs.pass(1)
    await sqs.sendOf({ quiet: 1 })
    expect(tenantsOf(await sqs.receive({ most: 1 }))).toEqual(['none'])
  })
})

describe('A move of dead letters', () => {
  const SourceArn = 'arn:aws:sqs:eu-west-1:000000000000:vaultline-local-deliveries-dead'
  const DestinationArn = 'arn:aws:sqs:eu-west-1:000000000000:vaultline-local-deliveries'
  const move = (input: Partial<StartMessageMoveTaskCommandInput> = {}) =>
    new StartMessageMoveTaskCommand({ SourceArn, DestinationArn, ...input })

  test('delivers them again, takes time and reports its progress', async ({ sqs }) => {
    await sqs.giveUp(600)
    const { said, ...redriven } = await sqs.redrive()
    expect(redriven).toEqual({ queue: 'vaultline-local-deliveries', moved: 600, left: 0 })
    expect(said).toContain('vaultline-local-deliveries: about 500 of 600 moved.')
    expect(sqs.queues.count('deliveryQueue').visible).toBe(600)
  })

  test('leaves messages that a receiver currently reads', async ({ sqs }) => {
    await sqs.giveUp(3)
    await sqs.client.send(new ReceiveMessageCommand({ QueueUrl: `${sqs.QueueUrl}-dead` }))
    expect(await sqs.redrive()).toMatchObject({ moved: 2, left: 1 })
  })

  test('runs once at a time, and a second request waits for the first', async ({ sqs }) => {
    await sqs.giveUp(2)
    await sqs.client.send(move())
    await expect(sqs.client.send(move())).rejects.toThrow('There is already a task running.')
    const { said, ...redriven } = await sqs.redrive()
    expect(redriven).toMatchObject({ moved: 2, left: 0 })
    expect(said).toContain('vaultline-local-deliveries: dead letters are being moved already.')
  })

  test('keeps the operator waiting at most a minute', async ({ sqs }) => {
    await sqs.giveUp(70)
    sqs.queues.faults.movedPerSecond = 1
    expect(await sqs.redrive()).toMatchObject({ left: 70 - 60, problem: 'SQS goes on by itself' })
  })

  test('works only from dead letters and between existing queues', async ({ sqs: { client } }) => {
    const [notDead, noSource, noDestination] = [
      move({ SourceArn: DestinationArn }),
      move({ SourceArn: `${SourceArn}-x` }),
      move({ DestinationArn: `${DestinationArn}-x` }),
    ]
    await expect(client.send(notDead)).rejects.toThrow('must be configured as a Dead Letter Queue')
    await expect(client.send(noSource)).rejects.toThrow("SourceArn parameter doesn't exist")
    await expect(client.send(noDestination)).rejects.toThrow("DestinationArn parameter doesn't exist")
  })
})

describe('An operator', () => {
  test('lists a hundred dead letters in SQS’s small batches and sees their total', async ({ sqs }) => {
    await sqs.giveUp(130)
    sqs.queues.faults.shortBatches = true
    const lines = (await sqs.run('list-dead-letters')).split('\n')
    expect(lines.filter((line) => line.includes('{"i":'))).toHaveLength(100)
    expect(lines.slice(-2)).toEqual([
      'Listed of vaultline-local-deliveries: 100, of about 130.',
      'Listed of vaultline-local-shards: 0, of about 0.',
    ])
  })

  test('deletes dead letters and waits the minute that SQS needs', async ({ sqs }) => {
    await sqs.giveUp(2)
    const drop = (...options: string[]) =>
      sqs.run('drop-dead-letters', '--queue', 'vaultline-local-deliveries', ...options)
    expect(await drop()).toMatch(/^Error: This deletes about 2 dead letters of vaultline-local-deliveries .* Add --yes/)
    expect(await drop('--yes')).toBe(
      [
        'SQS takes a minute, and may delete what is given up meanwhile too.',
        'Dead letters of vaultline-local-deliveries: deleted; left: about 0.',
      ].join('\n'),
    )
    // Messages that SQS is still deleting must not be moved back to the queue.
    expect(await sqs.redrive()).toMatchObject({ moved: 0, left: 0 })
  })

  test('deletes only the dead letters of the named queue', async ({ sqs }) => {
    await sqs.giveUp(2)
    expect(await sqs.run('drop-dead-letters', '--queue', 'vaultline-local-shards', '--yes')).toMatch(/left: about 0\.$/)
    expect(sqs.queues.listDeadLetters('deliveryQueue')).toHaveLength(2)
  })

  test('sees SQS’s refusal and the existing queues', async ({ sqs }) => {
    const QueueUrl = sqs.QueueUrl.replace('deliveries', 'shards-dead')
    await sqs.client.send(new PurgeQueueCommand({ QueueUrl }))
    expect(await sqs.run('drop-dead-letters', '--queue', 'vaultline-local-shards', '--yes')).toBe(
      'Error: PurgeQueueInProgress: Only one PurgeQueue operation on vaultline-local-shards-dead is allowed every 60 seconds.',
    )
    expect(await sqs.run('drop-dead-letters', '--queue', 'shards', '--yes')).toBe(
      'Error: There is no queue shards, but vaultline-local-deliveries, vaultline-local-shards.',
    )
  })
})

describe('A function that consumes a queue', () => {
  test('gets the messages again that its response names, or all if it names an unknown one', async ({ sqs }) => {
    for (const [name, value] of Object.entries(sqs.queues.variables)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    let answer = (ids: string[]) => ids
    const consumers = createConsumers(localMappings(), async (_, { Records }) => ({
      batchItemFailures: answer(Records.map(({ messageId }) => messageId)).map((itemIdentifier) => ({
        itemIdentifier,
      })),
    }))
    await sqs.send([{ i: 1 }, { i: 2 }])
    answer = () => ['unknown']
    expect(await consumers.consume()).toBe(2)
    expect(sqs.queues.count('deliveryQueue')).toEqual({ visible: 0, delayed: 0, hidden: 2 })
    sqs.pass(180)
    answer = ([first = '']) => [first]
    expect(await consumers.consume()).toBe(2)
    expect(sqs.queues.list('deliveryQueue')).toEqual([{ i: 1 }])
  })
})
