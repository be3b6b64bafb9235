import { GetQueueUrlCommand, SendMessageBatchCommand, SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import { inBatches } from '../batches.ts'
import { sideBySide } from '../side-by-side.ts'
import { CLIENT_DEFAULTS } from './client-defaults.ts'

let shared: SQSClient | undefined

function sqs(): SQSClient {
  shared ??= sqsClient()
  return shared
}

/** A new SQS client with our time-outs. */
export function sqsClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient({ ...CLIENT_DEFAULTS, ...config })
}

/** What SQS takes in one batch. */
const BATCH = 10
/** How often what SQS refused of a batch is sent again. */
const TRIES = 3

type Options = {
  /** For so long nobody is given them: whole seconds, 900 at most. */
  readonly delaySeconds?: number
  readonly client?: SQSClient
}

/**
 * Sends each message, as JSON, to the queue with this URL: one request for ten, eight at a time. Each is handed out at least
 * once, in any order. Throws when one could not be sent; others may have been.
 */
export function sendMessages(
  queueUrl: string,
  messages: readonly object[],
  { delaySeconds: DelaySeconds = 0, client = sqs() }: Options = {},
): Promise<void> {
  const entries = messages.map((message, index) => ({
    Id: String(index),
    MessageBody: JSON.stringify(message),
    DelaySeconds,
  }))
  return sideBySide(inBatches(entries, BATCH), async (batch) => {
    let unsent = batch
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: unsent }))
      unsent = unsent.filter(({ Id }) => Failed.some((failed) => failed.Id === Id))
      if (unsent.length === 0) return
    }
    throw new Error(`SQS refuses ${unsent.length} of ${batch.length} messages.`)
  })
}

/** The URL of the queue with this name. Throws when there is none. */
export async function findQueueUrl(name: string, client = sqs()): Promise<string> {
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }))
  if (QueueUrl === undefined) throw new Error(`SQS does not tell where the queue ${name} is.`)
  return QueueUrl
}
