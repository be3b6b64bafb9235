import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListMessageMoveTasksCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  type SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { deadLettersName, QUEUE_KEYS, queueName } from '../infra/queues.ts'

type Surroundings = {
  /** Milliseconds. */
  readonly sleep: (ms: number) => Promise<unknown>
  /** Shows how far it is, before the end. */
  readonly say: (line: string) => void
}

/** What became of the dead letters of one queue; SQS counts them about, and some seconds late. */
type Redriven = {
  readonly queue: string
  /** Those that are tried again. */
  readonly moved: number
  /** Those that are still there: somebody reads them now, or they were given up since. */
  readonly left: number
  /** Why not all were moved; undefined where SQS is done. */
  readonly problem?: string
}

/** A message that a function could not work on, with when it was sent. */
type DeadLetter = { readonly queue: string; readonly sentAt: Date; readonly body: string }

/** What SQS hands out in a request, and how many requests are made for the messages of one queue. */
const BATCH = 10
const MOST_REQUESTS = 10
/** SQS shows no message without handing it out: for so long those that were listed are neither listed nor moved. */
export const HIDDEN_SECONDS = 30

const POLL_MS = 500
/** SQS goes on when this has given up to wait for it. */
const MOST_POLLS = 120

/** What could not be done of a stage's queues. */
export function deadLettersOf(client: SQSClient, stage: string, { sleep, say }: Surroundings) {
  const describe = async (name: string) => {
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }))
    const AttributeNames = [
      'QueueArn' as const,
      'ApproximateNumberOfMessages' as const,
      'ApproximateNumberOfMessagesNotVisible' as const,
    ]
    const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))
    const count = Number(Attributes.ApproximateNumberOfMessages)
    return {
      QueueUrl,
      arn: Attributes.QueueArn,
      count: count + Number(Attributes.ApproximateNumberOfMessagesNotVisible),
    }
  }
  const getLastMove = async (SourceArn: string | undefined) => {
    const { Results: [last] = [] } = await client.send(new ListMessageMoveTasksCommand({ SourceArn }))
    return last
  }

  async function redriveQueue(queue: string, deadName: string): Promise<Redriven> {
    const [source, dead] = await Promise.all([describe(queue), describe(deadName)])
    const before = await getLastMove(dead.arn)
    const isUnderWay = before?.Status === 'RUNNING'
    if (isUnderWay) say(`${queue}: dead letters are being moved already.`)
    else {
      await client.send(new StartMessageMoveTaskCommand({ SourceArn: dead.arn, DestinationArn: source.arn }))
    }
    let moved = 0
    for (let polls = 0; polls < MOST_POLLS; polls += 1) {
      const task = await getLastMove(dead.arn)
      // The one that was just started may not be listed yet.
      const isListed = isUnderWay || task?.StartedTimestamp !== before?.StartedTimestamp
      moved = isListed ? (task?.ApproximateNumberOfMessagesMoved ?? 0) : 0
      const toMove = task?.ApproximateNumberOfMessagesToMove ?? 0
      if (isListed && task?.Status === 'COMPLETED')
        return { queue, moved: Math.max(moved, toMove), left: (await describe(deadName)).count }
      if (isListed && task?.Status !== 'RUNNING')
        return { queue, moved, left: (await describe(deadName)).count, problem: task?.FailureReason ?? 'cancelled' }
      if (polls > 0 && isListed) say(`${queue}: about ${moved} of ${toMove} moved.`)
      await sleep(POLL_MS)
    }
    return { queue, moved, left: (await describe(deadName)).count, problem: 'SQS goes on by itself' }
  }

  async function listQueue(queue: string, deadName: string): Promise<DeadLetter[]> {
    const { QueueUrl } = await describe(deadName)
    const letters = new Map<string | undefined, DeadLetter>()
    for (let requests = 0; requests < MOST_REQUESTS; requests += 1) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          // It waits, so that all of SQS's servers are asked.
          ...{ QueueUrl, MaxNumberOfMessages: BATCH, VisibilityTimeout: HIDDEN_SECONDS, WaitTimeSeconds: 1 },
          MessageSystemAttributeNames: ['SentTimestamp'],
        }),
      )
      if (Messages.length === 0) break
      for (const { MessageId, Body = '', Attributes } of Messages) {
        letters.set(MessageId, { queue, sentAt: new Date(Number(Attributes?.SentTimestamp)), body: Body })
      }
    }
    return [...letters.values()]
  }

  const ofEach = <T>(work: (queue: string, deadName: string) => Promise<T>) =>
    Promise.all(QUEUE_KEYS.map((key) => work(queueName(stage, key), deadLettersName(stage, key))))

  return {
    /** About the first hundred of each queue. */
    list: async (): Promise<DeadLetter[]> => (await ofEach(listQueue)).flat(),

    /** About how many there are of each queue. */
    count: () => ofEach(async (queue, deadName) => ({ queue, count: (await describe(deadName)).count })),

    /** Deletes all of them, within a minute. */
    async drop(): Promise<void> {
      await ofEach(async (_, deadName) => {
        const { QueueUrl } = await describe(deadName)
        await client.send(new PurgeQueueCommand({ QueueUrl }))
      })
    },

    /**
     * Has all of it done again, and waits a minute at most until SQS has moved it. Where somebody has had it moved just now,
     * it waits for that.
     */
    redrive: (): Promise<Redriven[]> => ofEach(redriveQueue),
  }
}
export type DeadLetters = ReturnType<typeof deadLettersOf>
