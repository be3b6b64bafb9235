import {
  ChangeMessageVisibilityCommand,
  GetQueueUrlCommand,
  SendMessageBatchCommand,
  SQSClient,
  type SQSClientConfig,
} from '@aws-sdk/client-sqs'
import { inBatches } from '../core/batches.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import { CLIENT_DEFAULTS } from './client-defaults.ts'

let shared: SQSClient | undefined

function sqs(): SQSClient {
  shared ??= sqsClient()
  return shared
}

/** Creates an SQS client with our time-outs. */
export function sqsClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient({ ...CLIENT_DEFAULTS, ...config })
}

const BATCH = 10
const TRIES = 3

/** A received message, its id, the number of its receives, and the receipt of this one. */
export type Received<Message> = {
  readonly message: Message
  readonly messageId: string
  readonly receives: number
  readonly receipt: string
}

/** Options for sent messages. */
export type SendOptions<Message> = {
  /** Whole seconds before they can be received, at most 900. */
  readonly delaySeconds?: number | undefined
  /**
   * Tenant of a message. While one tenant keeps the consumers busy, a standard queue delivers others' messages first.
   * Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
   */
  readonly groupOf?: (message: Message) => string
  readonly client?: SQSClient
}

/**
 * Sends each message as JSON to the queue with this URL: ten per request, eight requests concurrently. SQS delivers
 * each message at least once, in any order. Throws if one was not sent; others may have been.
 */
export function sendMessages<Message extends object>(
  queueUrl: string,
  messages: readonly Message[],
  { delaySeconds: DelaySeconds = 0, groupOf, client = sqs() }: SendOptions<Message> = {},
): Promise<void> {
  const entries = messages.map((message, index) => ({
    Id: String(index),
    MessageBody: JSON.stringify(message),
    DelaySeconds,
    ...(groupOf && { MessageGroupId: groupOf(message) }),
  }))
  return runConcurrently(inBatches(entries, BATCH), async (batch) => {
    let unsent = batch
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: unsent }))
      unsent = unsent.filter(({ Id }) => Failed.some((failed) => failed.Id === Id))
      if (unsent.length === 0) return
    }
    throw new Error(`SQS refuses ${unsent.length} of ${batch.length} messages.`)
  })
}

/**
 * Hides a received message for whole seconds from now, at most 12 hours after its receipt. SQS then delivers it again.
 * Throws if SQS cannot be reached, or the message is no longer hidden.
 */
export async function hideMessage(queueUrl: string, receipt: string, seconds: number, client = sqs()): Promise<void> {
  await client.send(
    new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl, ReceiptHandle: receipt, VisibilityTimeout: seconds }),
  )
}

/** Returns the URL of the queue with this name. Throws if there is none. */
export async function findQueueUrl(name: string, client = sqs()): Promise<string> {
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }))
  if (QueueUrl === undefined) throw new Error(`SQS returns no URL for the queue ${name}.`)
  return QueueUrl
}
