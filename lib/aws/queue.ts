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

/** Creates an SQS client with the time-outs of CLIENT_DEFAULTS. */
export function sqsClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient({ ...CLIENT_DEFAULTS, ...config })
}

const BATCH = 10
const TRIES = 3

/** Received SQS message with its id. `receives` counts how often SQS delivered it; `receipt` identifies this delivery. */
export type ReceivedMessage<Message> = {
  readonly message: Message
  readonly messageId: string
  readonly receives: number
  readonly receipt: string
}

/** Options for sending messages to an SQS queue. */
export type SendOptions<Message> = {
  /** Whole seconds for which SQS delays the messages, at most 900. */
  readonly delaySeconds?: number | undefined
  /**
   * Returns the tenant of a message. While one tenant's messages keep the consumers busy, a standard queue delivers
   * messages of other tenants first. Source:
   * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
   */
  readonly groupOf?: (message: Message) => string
  readonly client?: SQSClient
}

/**
 * Sends each message as JSON to an SQS queue, with ten messages per request and eight concurrent requests. SQS delivers
 * each message at least once, in any order. Throws if a message was not sent. Other messages may have been sent then.
 */
export async function sendMessages<Message extends object>(
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
  await runConcurrently(inBatches(entries, BATCH), async (batch) => {
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
 * Hides a received message for `seconds` from now. SQS then delivers the message again. SQS allows at most 12 hours
 * since the message was received. Throws if SQS cannot be reached, or if the message is no longer hidden.
 */
export async function hideMessage(queueUrl: string, receipt: string, seconds: number, client = sqs()): Promise<void> {
  await client.send(
    new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl, ReceiptHandle: receipt, VisibilityTimeout: seconds }),
  )
}

/** Returns the URL of an SQS queue by its name. Throws if the queue does not exist. */
export async function findQueueUrl(name: string, client = sqs()): Promise<string> {
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }))
  if (QueueUrl === undefined) throw new Error(`SQS returns no URL for the queue ${name}.`)
  return QueueUrl
}
