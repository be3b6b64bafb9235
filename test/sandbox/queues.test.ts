import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { test as base, describe, expect } from 'vitest'
import { sendMessages, sqsClient } from '../../lib/aws/queue.ts'
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
  return {
    queues,
    client,
    QueueUrl,
    deadLettersUrl: queues.variables['DELIVERY_DEAD_LETTERS_URL'] ?? '',
    pass: (seconds: number) => {
      time += seconds * 1000
    },
    /** What chance brings next; after that it is even. */
    draw: (...next: number[]) => {
      random = next
    },
    send: (messages: readonly object[], delaySeconds = 0) => sendMessages(QueueUrl, messages, { delaySeconds, client }),
    receive: async (url = QueueUrl) => {
      const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }))
      return Messages
    },
  }
})

const bodiesOf = (messages: readonly { Body?: string | undefined }[]) =>
  messages.map(({ Body = '' }) => JSON.parse(Body))

describe('sendMessages', () => {
  test('sends ten in a request, and each of any number arrives', async ({ sqs: { queues, send, receive } }) => {
    const messages = Array.from({ length: 23 }, (_, i) => ({ i }))
    await send(messages)
    expect(queues.requests).toEqual({ SendMessageBatch: 3 })
    expect([...(await receive()), ...(await receive()), ...(await receive())]).toHaveLength(23)
    expect(bodiesOf(await receive())).toEqual([])
  })

  test('asks nothing for nothing', async ({ sqs: { queues, send } }) => {
    await send([])
    expect(queues.requests).toEqual({})
  })

  test('holds messages back for as long as it is told', async ({ sqs: { send, receive, pass, queues } }) => {
    await send([{ i: 1 }], 900)
    expect(queues.count('deliveryQueue')).toEqual({ visible: 0, delayed: 1, hidden: 0 })
    pass(899)
    expect(await receive()).toEqual([])
    pass(1)
    expect(bodiesOf(await receive())).toEqual([{ i: 1 }])
    await expect(send([{ i: 1 }], 901)).rejects.toThrow()
  })

  test('sends again what SQS refused of a batch, and that alone', async ({ sqs: { queues, send, draw } }) => {
    queues.lies.refused = 0.3
    draw(0.9, 0.1, 0.9, 0.1)
    await send([{ i: 1 }, { i: 2 }, { i: 3 }])
    expect(queues.requests).toEqual({ SendMessageBatch: 3 })
    expect(queues.list('deliveryQueue')).toEqual([{ i: 1 }, { i: 3 }, { i: 2 }])
  })

  test('throws where SQS refuses a message three times', async ({ sqs: { queues, send } }) => {
    queues.lies.refused = 1
    await expect(send([{ i: 1 }, { i: 2 }])).rejects.toThrow('SQS refuses 2 of 2 messages.')
    expect(queues.requests).toEqual({ SendMessageBatch: 3 })
  })

  test('throws when SQS is not there', async ({ sqs: { queues, send } }) => {
    queues.lies.down = true
    await expect(send([{ i: 1 }])).rejects.toThrow()
  })
})

describe('A message', () => {
  test('is hidden while it is worked on, and handed out again when it was not deleted', async ({ sqs }) => {
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
    // Whoever had it before has lost it.
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: first?.ReceiptHandle }))
    expect(queues.list('deliveryQueue')).toHaveLength(1)
    const { ReceiptHandle } = again ?? {}
    await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 5 }))
    pass(5)
    const [last] = await receive()
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: last?.ReceiptHandle }))
    expect(queues.list('deliveryQueue')).toEqual([])
  })

  test('that was handed out five times goes to the dead letters, and back when it is moved', async ({ sqs }) => {
    const { send, receive, pass, client, queues, deadLettersUrl, QueueUrl } = sqs
    await send([{ i: 1 }])
    for (let times = 1; times <= 5; times += 1) {
      expect(await receive()).toHaveLength(1)
      pass(180)
    }
    expect(await receive()).toEqual([])
    expect(queues.list('deliveryQueue')).toEqual([])
    expect(queues.listDeadLetters('deliveryQueue')).toEqual([{ i: 1 }])
    // One that was sent there at once, by us.
    await client.send(new SendMessageCommand({ QueueUrl: deadLettersUrl, MessageBody: '{"i":2}' }))

    const arnOf = async (name: string) => {
      const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }))
      const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
      return (await client.send(asked)).Attributes?.QueueArn
    }
    const SourceArn = await arnOf('vaultline-local-deliveries-dead')
    const DestinationArn = await arnOf('vaultline-local-deliveries')
    await expect(
      client.send(new StartMessageMoveTaskCommand({ SourceArn: DestinationArn, DestinationArn })),
    ).rejects.toThrow()
    await client.send(new StartMessageMoveTaskCommand({ SourceArn, DestinationArn }))
    expect((await client.send(new ListMessageMoveTasksCommand({ SourceArn }))).Results).toMatchObject([
      { Status: 'COMPLETED', ApproximateNumberOfMessagesMoved: 2 },
    ])
    expect(queues.listDeadLetters('deliveryQueue')).toEqual([])
    expect(bodiesOf(await receive(QueueUrl))).toEqual([{ i: 1 }, { i: 2 }])
  })

  test('is handed out twice when the queue lies, to others while it is worked on', async ({ sqs }) => {
    const { send, receive, queues, client, QueueUrl, draw } = sqs
    queues.lies.twice = 0.3
    await send([{ i: 1 }])
    draw(0.1)
    const [first] = await receive()
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: first?.ReceiptHandle }))
    expect(await receive()).toMatchObject([{ MessageId: first?.MessageId, Body: '{"i":1}' }])
    expect(await receive()).toEqual([])
  })

  test('is not seen at once when the queue lies', async ({ sqs: { send, queues, pass, receive } }) => {
    queues.lies.heldBackMs = 2000
    await send([{ i: 1 }])
    expect(await receive()).toEqual([])
    pass(2)
    expect(await receive()).toHaveLength(1)
  })

  test('comes in another order than it was sent in when the queue lies', async ({
    sqs: { send, queues, receive, draw },
  }) => {
    await send([{ i: 1 }, { i: 2 }, { i: 3 }])
    queues.lies.disorder = true
    draw(0.7, 0.1, 0.4)
    expect(bodiesOf(await receive())).toEqual([{ i: 2 }, { i: 3 }, { i: 1 }])
  })

  test('is kept for four days', async ({ sqs: { send, pass, receive } }) => {
    await send([{ i: 1 }])
    pass(4 * 86_400 + 1)
    expect(await receive()).toEqual([])
  })
})
