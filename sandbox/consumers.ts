import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { consumers } from '../functions/contracts.ts'
import type { QueueContract } from '../lib/frame/contract.ts'
import { RESOURCES } from '../lib/frame/resources.ts'
import { localConfig } from './dynamo.ts'

type Invoke = (
  name: string,
  event: SQSEvent,
  options: { readonly timeoutSeconds: number; readonly trace: string },
) => Promise<SQSBatchResponse>

/** Imitated Lambda event source mapping from a queue to a function. */
export type Mapping = Pick<QueueContract, 'timeoutSeconds' | 'maxConcurrency'> & {
  readonly name: string
  /** True if Lambda's detection of recursive loops is off for this function. */
  readonly enqueuesItself: boolean
  readonly place: () => { readonly QueueUrl: string; readonly client: SQSClient }
  readonly queueArn: string
  readonly batchSize: number
  /** True if the function reports failed messages one by one. Otherwise any response acknowledges the whole batch. */
  readonly reportsFailures: boolean
}

const BATCH = 10
const WAIT_SECONDS = 5
const PAUSE_MS = 1000

/** Maximum invocations of one function in a chain of messages that cause each other. Lambda treats one more as a recursive loop. */
const MAX_IN_CHAIN = 16
const traces = new AsyncLocalStorage<string>()
// The AWS SDK reads the trace id from the global object `awslambda.InvokeStore`. If the SDK has already created it, its
// content stays.
const lambda: (typeof awslambda & { InvokeStore?: object }) | undefined = globalThis.awslambda
const InvokeStore = Object.assign(lambda?.InvokeStore ?? {}, { getXRayTraceId: () => traces.getStore() })
Object.assign(globalThis, { awslambda: { ...lambda, InvokeStore } })
process.env['AWS_LAMBDA_FUNCTION_NAME'] ??= 'local'

/**
 * Returns an event source mapping for each queue consumer in functions/contracts.ts. Environment variables of this process contain the
 * queues' URLs.
 */
export function localMappings(): Mapping[] {
  const clients = new Map<string, SQSClient>()
  const findQueue = ({ queue }: QueueContract) => {
    const QueueUrl = process.env[RESOURCES[queue]]
    if (!QueueUrl) throw new Error(`The environment lacks ${RESOURCES[queue]}.`)
    const { origin } = new URL(QueueUrl)
    const client = clients.get(origin) ?? new SQSClient(localConfig(origin))
    clients.set(origin, client)
    return { QueueUrl, client }
  }
  return Object.entries<QueueContract>(consumers).map(([name, contract]) => ({
    ...{ enqueuesItself: false, ...contract },
    ...{ name, batchSize: contract.batchSize ?? BATCH, reportsFailures: true, place: () => findQueue(contract) },
    queueArn: `arn:aws:sqs:eu-west-1:000000000000:${contract.queue}`,
  }))
}

/**
 * Imitates Lambda's event source mappings: invokes functions with batches of messages, and deletes processed messages. Also deletes
 * messages that belong to a recursive loop.
 */
export function createConsumers(mappings: readonly Mapping[], invoke: Invoke) {
  /**
   * Receives a batch, invokes the function and returns the batch's size. If the function fails, its messages stay in the queue. SQS
   * delivers them again after their visibility timeout.
   */
  async function takeBatch(mapping: Mapping, waitSeconds: number): Promise<number> {
    const { name, timeoutSeconds, batchSize, reportsFailures, enqueuesItself, queueArn } = mapping
    const { QueueUrl, client } = mapping.place()
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        ...{ QueueUrl, MaxNumberOfMessages: batchSize, WaitTimeSeconds: waitSeconds },
        MessageSystemAttributeNames: ['All'],
      }),
    )
    if (Messages.length === 0) return 0
    const isLoop = (message: Message) => !enqueuesItself && (parseLineage([message])[name] ?? 0) >= MAX_IN_CHAIN
    const taken = Messages.filter((message) => !isLoop(message))
    const event = { Records: taken.map((message) => toRecord(message, queueArn)) }
    const lineage = parseLineage(taken)
    const trace = formatLineage({ ...lineage, [name]: (lineage[name] ?? 0) + 1 })
    const ask = () => invoke(name, event, { timeoutSeconds, trace }).catch(() => undefined)
    const answer = taken.length > 0 ? await traces.run(trace, ask) : undefined
    const failures = reportsFailures ? (answer?.batchItemFailures ?? []) : []
    const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier))
    // A response that names a message outside the batch is invalid, so no message counts as processed.
    const isAnswered = answer && failed.isSubsetOf(new Set(taken.map(({ MessageId }) => MessageId)))
    const done = Messages.filter((message) => isLoop(message) || (isAnswered && !failed.has(message.MessageId ?? '')))
    const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
    if (Entries.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
    return Messages.length
  }

  return {
    /**
     * Processes all available messages, and messages that the functions send meanwhile. Runs as many invocations at once as AWS. Returns
     * the number of processed messages.
     */
    async consume(): Promise<number> {
      const counts = mappings.flatMap((mapping) =>
        Array.from({ length: mapping.maxConcurrency }, () => takeBatch(mapping, 0)),
      )
      const taken = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
      return taken > 0 ? taken + (await this.consume()) : 0
    },
    /** Polls the queues and processes their messages, until the caller calls the returned function. */
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
        for (let i = 0; i < mapping.maxConcurrency; i += 1) void work(mapping)
      }
      return () => {
        stopping.abort()
        for (const { place } of mappings) place().client.destroy()
      }
    },
  }
}

/**
 * Reads from each message's trace header the number of times that each function ran in the chain of messages before it.
 * Returns the highest number over these messages, by the function's name.
 */
function parseLineage(messages: readonly Message[]): Readonly<Record<string, number>> {
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
