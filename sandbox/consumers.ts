import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { consumers } from '../functions/contracts.ts'
import type { QueueContract } from '../lib/frame/contract.ts'
import { RESOURCES } from '../lib/frame/resources.ts'
import { localConfig } from './dynamo.ts'

/** Invokes the function of this name with these messages. */
type Invoke = (name: string, event: SQSEvent, timeoutSeconds: number) => Promise<SQSBatchResponse>

const CONSUMERS: readonly (readonly [string, QueueContract])[] = Object.entries<QueueContract>(consumers)
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

/**
 * What stands between queues and functions in AWS, by this process's environment: it takes messages in batches, has the
 * function of their queue work on them, and deletes those that it has done, and those that it takes for a loop.
 */
export function createConsumers(invoke: Invoke) {
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

  /** Takes one batch, and says how many messages it had. Those of a function that crashed are hidden for a while. */
  async function takeBatch(name: string, contract: QueueContract, waitSeconds: number): Promise<number> {
    const { QueueUrl, client } = place(contract)
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        ...{ QueueUrl, MaxNumberOfMessages: BATCH, WaitTimeSeconds: waitSeconds },
        MessageSystemAttributeNames: ['All'],
      }),
    )
    if (Messages.length === 0) return 0
    const isLoop = (message: Message) => !contract.wakesItself && (lineageOf([message])[name] ?? 0) >= MOST_IN_CHAIN
    const taken = Messages.filter((message) => !isLoop(message))
    const event = { Records: taken.map((message) => toRecord(message, contract)) }
    const lineage = lineageOf(taken)
    const trace = formatLineage({ ...lineage, [name]: (lineage[name] ?? 0) + 1 })
    const ask = () => invoke(name, event, contract.timeoutSeconds).catch(() => undefined)
    const answer = taken.length > 0 ? await traces.run(trace, ask) : undefined
    const failed = new Set(answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
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
      const counts = CONSUMERS.flatMap(([name, contract]) =>
        Array.from({ length: contract.mostAtATime }, () => takeBatch(name, contract, 0)),
      )
      const taken = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
      return taken > 0 ? taken + (await this.consume()) : 0
    },
    /** Works on everything that comes from now on; gives what ends it. */
    poll(): () => void {
      const stopping = new AbortController()
      const { signal } = stopping
      const work = async (name: string, contract: QueueContract) => {
        while (!signal.aborted) {
          const taken = await takeBatch(name, contract, WAIT_SECONDS).catch(() => undefined)
          if (taken === undefined) await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
        }
      }
      for (const [name, contract] of CONSUMERS) {
        for (let i = 0; i < contract.mostAtATime; i += 1) void work(name, contract)
      }
      return () => {
        stopping.abort()
        for (const client of clients.values()) client.destroy()
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
  { queue }: QueueContract,
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
    ...{
      eventSource: 'aws:sqs',
      eventSourceARN: `arn:aws:sqs:eu-west-1:000000000000:${queue}`,
      awsRegion: 'eu-west-1',
    },
  }
}
