import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { consumers } from '../functions/contracts.ts'
import type { QueueContract } from '../lib/frame/contract.ts'
import { RESOURCES } from '../lib/frame/resources.ts'
import { localConfig } from './dynamo.ts'

/** Invokes the function of this name with these messages, as what follows from an invocation that this trace tells. */
type Invoke = (
  name: string,
  event: SQSEvent,
  options: { readonly timeoutSeconds: number; readonly trace: string },
) => Promise<SQSBatchResponse>

/** That a function takes the messages of a queue, as an event source mapping of Lambda's says. */
export type Mapping = Pick<QueueContract, 'timeoutSeconds' | 'mostAtATime'> & {
  readonly name: string
  /** Whether messages that it sends itself are handed to it however many follow from each other. */
  readonly wakesItself: boolean
  /** Where the queue is, and who asks there. */
  readonly place: () => { readonly QueueUrl: string; readonly client: SQSClient }
  readonly queueArn: string
  readonly batchSize: number
  /** Whether the function names the messages that it has not done; otherwise all are done that it does not fail at. */
  readonly reportsFailures: boolean
}

const BATCH = 10
const WAIT_SECONDS = 5
const PAUSE_MS = 1000

/** Of messages that follow from each other, so many reach the same function; Lambda takes the next one for a loop. */
const MOST_IN_CHAIN = 16
const traces = new AsyncLocalStorage<string>()
// Where the SDK finds the trace that it sends along, as Lambda tells it; the store may be one that it has made itself.
const lambda: (typeof awslambda & { InvokeStore?: object }) | undefined = globalThis.awslambda
const InvokeStore = Object.assign(lambda?.InvokeStore ?? {}, { getXRayTraceId: () => traces.getStore() })
Object.assign(globalThis, { awslambda: { ...lambda, InvokeStore } })
process.env['AWS_LAMBDA_FUNCTION_NAME'] ??= 'local'

/** The mappings of the contracts, with the queues that this process's environment tells. */
export function localMappings(): Mapping[] {
  const clients = new Map<string, SQSClient>()
  const place = ({ queue }: QueueContract) => {
    // The functions of this process find their queues there too.
    const QueueUrl = process.env[RESOURCES[queue]]
    if (!QueueUrl) throw new Error(`The environment lacks ${RESOURCES[queue]}.`)
    const { origin } = new URL(QueueUrl)
    const client = clients.get(origin) ?? new SQSClient(localConfig(origin))
    clients.set(origin, client)
    return { QueueUrl, client }
  }
  return Object.entries<QueueContract>(consumers).map(([name, contract]) => ({
    ...{ wakesItself: false, ...contract },
    ...{ name, batchSize: contract.batchSize ?? BATCH, reportsFailures: true, place: () => place(contract) },
    queueArn: `arn:aws:sqs:eu-west-1:000000000000:${contract.queue}`,
  }))
}

/**
 * What stands between queues and functions in AWS: it takes messages in batches, has the function of their queue work on
 * them, and deletes those that it has done, and those that it takes for a loop.
 */
export function createConsumers(mappings: readonly Mapping[], invoke: Invoke) {
  /** Takes one batch, and says how many messages it had. Those of a function that crashed are hidden for a while. */
  async function takeBatch(mapping: Mapping, waitSeconds: number): Promise<number> {
    const { name, timeoutSeconds, batchSize, reportsFailures, wakesItself, queueArn } = mapping
    const { QueueUrl, client } = mapping.place()
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        ...{ QueueUrl, MaxNumberOfMessages: batchSize, WaitTimeSeconds: waitSeconds },
        MessageSystemAttributeNames: ['All'],
      }),
    )
    if (Messages.length === 0) return 0
    const isLoop = (message: Message) => !wakesItself && (lineageOf([message])[name] ?? 0) >= MOST_IN_CHAIN
    const taken = Messages.filter((message) => !isLoop(message))
    const event = { Records: taken.map((message) => toRecord(message, queueArn)) }
    const lineage = lineageOf(taken)
    const trace = formatLineage({ ...lineage, [name]: (lineage[name] ?? 0) + 1 })
    const ask = () => invoke(name, event, { timeoutSeconds, trace }).catch(() => undefined)
    const answer = taken.length > 0 ? await traces.run(trace, ask) : undefined
    const failures = reportsFailures ? (answer?.batchItemFailures ?? []) : []
    const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier))
    // An answer that names a message which is none of the batch says nothing of any.
    const isAnswered = answer && failed.isSubsetOf(new Set(taken.map(({ MessageId }) => MessageId)))
    const done = Messages.filter((message) => isLoop(message) || (isAnswered && !failed.has(message.MessageId ?? '')))
    const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
    if (Entries.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
    return Messages.length
  }

  return {
    /**
     * Has everything worked on that can be had now, and what comes of it, as many batches at a time as in AWS; how many
     * messages that were.
     */
    async consume(): Promise<number> {
      const counts = mappings.flatMap((mapping) =>
        Array.from({ length: mapping.mostAtATime }, () => takeBatch(mapping, 0)),
      )
      const taken = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
      return taken > 0 ? taken + (await this.consume()) : 0
    },
    /** Works on everything that comes from now on; gives what ends it. */
    poll(): () => void {
      const stopping = new AbortController()
      const { signal } = stopping
      const work = async (mapping: Mapping) => {
        while (!signal.aborted) {
          const taken = await takeBatch(mapping, WAIT_SECONDS).catch(() => undefined)
          if (taken === undefined) await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
        }
      }
      for (const mapping of mappings) {
        for (let i = 0; i < mapping.mostAtATime; i += 1) void work(mapping)
      }
      return () => {
        stopping.abort()
        for (const { place } of mappings) place().client.destroy()
      }
    },
  }
}

/** How often each function was invoked in the chain of messages that led to these; the longest one counts. */
function lineageOf(messages: readonly Message[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { Attributes = {} } of messages) {
    const [, text = ''] = /Lineage=([^;]+)/.exec(Attributes.AWSTraceHeader ?? '') ?? []
    for (const part of text.split('|').filter(Boolean)) {
      const [name = '', count] = part.split(':')
      counts[name] = Math.max(counts[name] ?? 0, Number(count))
    }
  }
  return counts
}

function formatLineage(counts: Readonly<Record<string, number>>): string {
  const lineage = Object.entries(counts).map(([name, count]) => `${name}:${count}`)
  return `Root=1-00000000-000000000000000000000000;Lineage=${lineage.join('|')}`
}

function toRecord(
  { MessageId = '', ReceiptHandle = '', Body = '', MD5OfBody = '', Attributes = {} }: Message,
  eventSourceARN: string,
): SQSEvent['Records'][number] {
  return {
    ...{ messageId: MessageId, receiptHandle: ReceiptHandle, body: Body, md5OfBody: MD5OfBody },
    attributes: {
      ApproximateReceiveCount: Attributes.ApproximateReceiveCount ?? '',
      SentTimestamp: Attributes.SentTimestamp ?? '',
      SenderId: Attributes.SenderId ?? '',
      ApproximateFirstReceiveTimestamp: Attributes.ApproximateFirstReceiveTimestamp ?? '',
    },
    messageAttributes: {},
    ...{ eventSource: 'aws:sqs', eventSourceARN, awsRegion: 'eu-west-1' },
  }
}
