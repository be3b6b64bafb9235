import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { deadLetterQueueName, QUEUE_KEYS, QUEUES, type QueueKey, queueName } from '../infra/queues.ts'
import { buildVariables, type QueueResource } from '../lib/frame/resources.ts'
import { listen } from './listen.ts'
import { ACCOUNT_ID, createBroker, type Queue, type QueueCounts, type QueueFaults, split } from './queues/broker.ts'

/** Local imitation of SQS with the service's queues. */
export type LocalQueues = {
  readonly endpoint: string
  readonly urls: Readonly<Record<QueueResource, string>>
  readonly variables: Readonly<Record<string, string>>
  readonly faults: QueueFaults
  /** Number of requests since the start, by SQS action. */
  readonly requests: Readonly<Record<string, number>>
  count(queue: QueueKey): QueueCounts
  /** Lists the bodies of all messages, including invisible messages. */
  list(queue: QueueKey): unknown[]
  listDeadLetters(queue: QueueKey): unknown[]
  clear(): void
  stop(): Promise<void>
}

type RequestContext = { readonly trace: string | undefined; readonly host: string | undefined }

/** Error of SQS. `queryCode` is the error's name in the older query API. */
class SqsError extends Error {
  readonly code: string
  readonly queryCode: string
  readonly status: number

  constructor(code: string, queryCode = code, status = 400, message = code) {
    super(message)
    this.code = code
    this.queryCode = queryCode
    this.status = status
  }
}

/** Maximum messages that SQS accepts or returns in one batch. */
const MAX_IN_BATCH = 10
/** Maximum bytes of a batch in SQS. */
const MAX_BYTES = 1024 * 1024
/** Maximum seconds by which SQS delays a message's delivery. */
const MAX_DELAY = 900
/** Maximum seconds for which a receive request waits for messages (long polling). */
const MAX_WAIT = 20
/** Maximum seconds for which a received message stays invisible to other receivers. */
const MAX_INVISIBILITY = 43_200
const POLL_MS = 50
const DEAD_DAYS = 14

const Id = z.string().regex(/^[\w-]{1,80}$/)
const Body = z.string().min(1)
const Delay = z.number().int().min(0).max(MAX_DELAY).default(0)
/** Schema of a message group id: the tenant (client) to which a message belongs. */
const Group = z
  .string()
  .regex(/^[!-~]{1,128}$/)
  .optional()
const Invisibility = z.number().int().min(0).max(MAX_INVISIBILITY)
const Names = z.array(z.string()).default([])
const OfQueue = z.object({ QueueUrl: z.url() })
const Attributes = z.object({
  VisibilityTimeout: z.coerce.number().pipe(Invisibility).default(30),
  RedrivePolicy: z
    .string()
    .transform((text) => JSON.parse(text))
    .pipe(z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number().int().min(1).max(1000) }))
    .optional(),
})
const Sent = z.object({ MessageBody: Body, DelaySeconds: Delay, MessageGroupId: Group })
const Deleted = z.object({ Id, ReceiptHandle: z.string() })

/** Starts the imitation of SQS on a free port. `now` is in epoch milliseconds; `random` decides when faults occur. */
export async function startQueues({ now = () => Date.now(), random = Math.random } = {}): Promise<LocalQueues> {
  const faults: QueueFaults = {
    ...{ twice: 0, disorder: false, invisibleMs: 0, missedShare: 0, shortBatches: false },
    ...{ refused: 0, movedPerSecond: 500, maxInFlight: 120_000, down: false },
  }
  const requests: Record<string, number> = {}
  const broker = createBroker({ faults, now, random })

  const { url: endpoint, stop } = await listen((request, response) => {
    void answer(request)
      .then(
        (body) => ({ status: 200, headers: {}, body }),
        (error: unknown) => {
          const { code, queryCode, status, message } =
            error instanceof SqsError ? error : new SqsError('InternalError', undefined, 500)
          return {
            status,
            headers: { 'x-amzn-query-error': `${queryCode};${status < 500 ? 'Sender' : 'Receiver'}` },
            body: { __type: `com.amazonaws.sqs#${code}`, message },
          }
        },
      )
      .then(({ status, headers, body }) =>
        response
          .writeHead(status, { ...headers, 'content-type': 'application/x-amz-json-1.0' })
          .end(JSON.stringify(body)),
      )
  })
  let stopped = false

  const urlOf = ({ name }: Queue, host = new URL(endpoint).host) => `http://${host}/${ACCOUNT_ID}/${name}`
  const all = new Map(
    QUEUE_KEYS.map((key) => {
      const { visibilitySeconds, maxReceives: mostReceives, retentionDays } = QUEUES[key]
      const deadLetters = broker.create(deadLetterQueueName('local', key), visibilitySeconds, {
        retentionDays: DEAD_DAYS,
      })
      return [
        key,
        broker.create(queueName('local', key), visibilitySeconds, { deadLetters, mostReceives, retentionDays }),
      ]
    }),
  )
  const queueOf = (key: QueueKey): Queue => {
    const queue = all.get(key)
    if (!queue) throw new Error(`There is no queue ${key}.`)
    return queue
  }

  async function answer(request: IncomingMessage): Promise<object> {
    const input = await json(request)
    const action = String(request.headers['x-amz-target']).replace('AmazonSQS.', '')
    requests[action] = (requests[action] ?? 0) + 1
    broker.catchUp()
    if (faults.down) throw new SqsError('ServiceUnavailable', undefined, 503)
    const act = ACTIONS[action]
    if (!act) throw new SqsError('UnsupportedOperation', 'AWS.SimpleQueueService.UnsupportedOperation')
    const trace = request.headers['x-amzn-trace-id']?.toString()
    return await act(input, { trace, host: request.headers.host })
  }

  function find(url: string): Queue {
    const queue = broker.find(url.slice(url.lastIndexOf('/') + 1))
    if (!queue) throw new SqsError('QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue')
    return queue
  }

  function findByArn(arn: string, parameter: string): Queue {
    const queue = broker.list().find((candidate) => candidate.arn === arn)
    const reason = `The resource that you specified for the ${parameter} parameter doesn't exist.`
    if (!queue) throw new SqsError('ResourceNotFoundException', undefined, 404, reason)
    return queue
  }

  const ACTIONS: Readonly<Record<string, (input: unknown, context: RequestContext) => object | Promise<object>>> = {
    CreateQueue(input) {
      const { QueueName, Attributes: of } = parse(
        z.object({
          QueueName: z.string().regex(/^[\w-]{1,80}$/),
          Attributes: Attributes.default(Attributes.parse({})),
        }),
        input,
      )
      const { deadLetterTargetArn, maxReceiveCount: mostReceives } = of.RedrivePolicy ?? {}
      const deadLetters = broker.list().find(({ arn }) => arn === deadLetterTargetArn)
      if (deadLetterTargetArn && !deadLetters) throw new SqsError('InvalidParameterValue')
      const there = broker.find(QueueName)
      return { QueueUrl: urlOf(there ?? broker.create(QueueName, of.VisibilityTimeout, { deadLetters, mostReceives })) }
    },
    SendMessage(input, { trace }) {
      const {
        QueueUrl,
        MessageBody,
        DelaySeconds: delaySeconds,
        MessageGroupId: group,
      } = parse(OfQueue.extend(Sent.shape), input)
      const { id } = broker.add(find(QueueUrl), MessageBody, { delaySeconds, trace, group })
      return { MessageId: id, MD5OfMessageBody: md5(MessageBody) }
    },
    SendMessageBatch(input, { trace }) {
      const queue = find(parse(OfQueue, input).QueueUrl)
      const entries = parseEntries(Sent.extend({ Id }), input)
      const bytes = entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0)
      if (bytes > MAX_BYTES) throw new SqsError('BatchRequestTooLong', 'AWS.SimpleQueueService.BatchRequestTooLong')
      const [taken, refused] = split(entries, () => random() >= faults.refused)
      return {
        Successful: taken.map(({ Id, MessageBody, DelaySeconds: delaySeconds, MessageGroupId: group }) => ({
          Id,
          MessageId: broker.add(queue, MessageBody, { delaySeconds, trace, group }).id,
          MD5OfMessageBody: md5(MessageBody),
        })),
        Failed: refused.map((entry) => ({ Id: entry.Id, Code: 'InternalError', SenderFault: false })),
      }
    },
    async ReceiveMessage(input) {
      const wait = z.number().int().min(0).max(MAX_WAIT).default(0)
      const { QueueUrl, MaxNumberOfMessages, VisibilityTimeout, WaitTimeSeconds, MessageSystemAttributeNames } = parse(
        OfQueue.extend({
          MaxNumberOfMessages: z.number().int().min(1).max(MAX_IN_BATCH).default(1),
          VisibilityTimeout: Invisibility.optional(),
          WaitTimeSeconds: wait,
          MessageSystemAttributeNames: Names,
        }),
        input,
      )
      const queue = find(QueueUrl)
      if (WaitTimeSeconds === 0 && broker.isFull(queue)) throw new SqsError('OverLimit')
      const { visibilitySeconds } = queue
      const missedShare = WaitTimeSeconds === 0 ? faults.missedShare : 0
      const poll = () => broker.receive(queue, MaxNumberOfMessages, VisibilityTimeout ?? visibilitySeconds, missedShare)
      let received = poll()
      for (
        const until = Date.now() + WaitTimeSeconds * 1000;
        received.length === 0 && Date.now() < until && !stopped;
      ) {
        await sleep(POLL_MS)
        received = poll()
      }
      // SQS omits the property `Messages` if no message was received.
      if (received.length === 0) return {}
      return {
        Messages: received.map(({ id, body, sentAt, trace, group, receives, firstReceivedAt, receipt }) => ({
          MessageId: id,
          ReceiptHandle: receipt,
          Body: body,
          MD5OfBody: md5(body),
          ...attributesOf(MessageSystemAttributeNames, {
            SenderId: 'local',
            SentTimestamp: String(sentAt),
            ApproximateReceiveCount: String(receives),
            ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
            ...(trace && { AWSTraceHeader: trace }),
            ...(group && { MessageGroupId: group }),
          }),
        })),
      }
    },
    DeleteMessage(input) {
      const { QueueUrl, ReceiptHandle } = parse(OfQueue.extend({ ReceiptHandle: z.string() }), input)
      if (!isReceipt(ReceiptHandle)) throw new SqsError('ReceiptHandleIsInvalid')
      broker.remove(find(QueueUrl), ReceiptHandle)
      return {}
    },
    DeleteMessageBatch(input) {
      const queue = find(parse(OfQueue, input).QueueUrl)
      const [validEntries, unknown] = split(parseEntries(Deleted, input), ({ ReceiptHandle }) =>
        isReceipt(ReceiptHandle),
      )
      const [taken, refused] = split(validEntries, () => random() >= faults.refused)
      for (const { ReceiptHandle } of taken) broker.remove(queue, ReceiptHandle)
      return {
        Successful: taken.map((entry) => ({ Id: entry.Id })),
        Failed: [
          ...unknown.map((entry) => ({ Id: entry.Id, Code: 'ReceiptHandleIsInvalid', SenderFault: true })),
          ...refused.map((entry) => ({ Id: entry.Id, Code: 'InternalError', SenderFault: false })),
        ],
      }
    },
    PurgeQueue(input) {
      const queue = find(parse(OfQueue, input).QueueUrl)
      if (!broker.purge(queue)) {
        const reason = `Only one PurgeQueue operation on ${queue.name} is allowed every 60 seconds.`
        throw new SqsError('PurgeQueueInProgress', 'AWS.SimpleQueueService.PurgeQueueInProgress', 403, reason)
      }
      return {}
    },
    ChangeMessageVisibility(input) {
      const { QueueUrl, ReceiptHandle, VisibilityTimeout } = parse(
        OfQueue.extend({ ReceiptHandle: z.string(), VisibilityTimeout: Invisibility }),
        input,
      )
      const outcome = broker.hide(find(QueueUrl), ReceiptHandle, VisibilityTimeout)
      if (outcome === 'not in flight')
        throw new SqsError('MessageNotInflight', 'AWS.SimpleQueueService.MessageNotInflight')
      const limit = 'Total VisibilityTimeout for the message is beyond the limit [43200 seconds]'
      const reason = `Value ${VisibilityTimeout} for parameter VisibilityTimeout is invalid. Reason: ${limit}.`
      if (outcome === 'too long') throw new SqsError('InvalidParameterValue', undefined, 400, reason)
      return {}
    },
    GetQueueUrl(input, { host }) {
      const { QueueName } = parse(z.object({ QueueName: z.string() }), input)
      return { QueueUrl: urlOf(find(QueueName), host) }
    },
    GetQueueAttributes(input) {
      const { QueueUrl, AttributeNames } = parse(OfQueue.extend({ AttributeNames: Names }), input)
      const queue = find(QueueUrl)
      const { visible, delayed, hidden } = broker.count(queue)
      return {
        ...attributesOf(AttributeNames, {
          QueueArn: queue.arn,
          ApproximateNumberOfMessages: String(visible),
          ApproximateNumberOfMessagesDelayed: String(delayed),
          ApproximateNumberOfMessagesNotVisible: String(hidden),
          VisibilityTimeout: String(queue.visibilitySeconds),
        }),
      }
    },
    StartMessageMoveTask(input) {
      const { SourceArn, DestinationArn } = parse(
        z.strictObject({ SourceArn: z.string(), DestinationArn: z.string() }),
        input,
      )
      const source = findByArn(SourceArn, 'SourceArn')
      const destination = findByArn(DestinationArn, 'DestinationArn')
      const refuse = (reason: string) => new SqsError('InvalidParameterValue', undefined, 400, reason)
      if (!broker.list().some(({ deadLetters }) => deadLetters === source))
        throw refuse('Source queue must be configured as a Dead Letter Queue.')
      const handle = broker.startMove(source, destination)
      if (handle === undefined)
        throw refuse(
          'There is already a task running. Only one active task is allowed for a source queue arn at a given time.',
        )
      return { TaskHandle: handle }
    },
    ListMessageMoveTasks(input) {
      const { SourceArn, MaxResults } = parse(
        z.object({ SourceArn: z.string(), MaxResults: z.number().int().min(1).max(10).default(1) }),
        input,
      )
      const source = findByArn(SourceArn, 'SourceArn')
      return {
        Results: broker
          .listMoves(source)
          .slice(0, MaxResults)
          .map(({ handle, destination, moved, toMove, startedAt, status }) => ({
            ...(status === 'RUNNING' && { TaskHandle: handle }),
            Status: status,
            SourceArn,
            DestinationArn: destination.arn,
            ApproximateNumberOfMessagesMoved: moved,
            ApproximateNumberOfMessagesToMove: toMove,
            StartedTimestamp: startedAt,
          })),
      }
    },
  }

  const deadLettersOf = (key: QueueKey): Queue => {
    const { deadLetters } = queueOf(key)
    if (!deadLetters) throw new Error(`The queue ${key} has no dead letters.`)
    return deadLetters
  }
  const bodiesOf = (queue: Queue): unknown[] => {
    broker.catchUp()
    return queue.messages.map(({ body }) => JSON.parse(body))
  }
  const urls: Record<QueueResource, string> = {
    deliveryQueue: urlOf(queueOf('deliveryQueue')),
    shardQueue: urlOf(queueOf('shardQueue')),
  }
  return {
    endpoint,
    urls,
    variables: { AWS_ENDPOINT_URL_SQS: endpoint, ...buildVariables(urls) },
    faults,
    requests,
    count(key) {
      broker.catchUp()
      return broker.count(queueOf(key))
    },
    list: (key) => bodiesOf(queueOf(key)),
    listDeadLetters: (key) => bodiesOf(deadLettersOf(key)),
    clear() {
      for (const queue of broker.list()) Object.assign(queue, { messages: [], emptyAt: undefined })
    },
    async stop() {
      stopped = true
      await stop()
    },
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input)
  if (!parsed.success) throw new SqsError('InvalidParameterValue')
  return parsed.data
}

function parseEntries<Schema extends z.ZodType<{ Id: string }>>(schema: Schema, input: unknown): z.output<Schema>[] {
  const { Entries } = parse(z.object({ Entries: z.array(schema) }), input)
  if (Entries.length === 0) throw new SqsError('EmptyBatchRequest', 'AWS.SimpleQueueService.EmptyBatchRequest')
  if (Entries.length > MAX_IN_BATCH)
    throw new SqsError('TooManyEntriesInBatchRequest', 'AWS.SimpleQueueService.TooManyEntriesInBatchRequest')
  if (new Set(Entries.map((entry) => entry.Id)).size < Entries.length)
    throw new SqsError('BatchEntryIdsNotDistinct', 'AWS.SimpleQueueService.BatchEntryIdsNotDistinct')
  return Entries
}

/** Returns the property `Attributes` with the requested attributes. Returns false, which a spread ignores, if there are none. */
function attributesOf(names: readonly string[], attributes: Readonly<Record<string, string>>) {
  const selected = Object.entries(attributes).filter(([name]) => names.includes('All') || names.includes(name))
  return selected.length > 0 && { Attributes: Object.fromEntries(selected) }
}

function isReceipt(handle: string): boolean {
  return z.uuid().safeParse(handle).success
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
