import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListMessageMoveTasksCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  type SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { deadLetterQueueName, QUEUE_KEYS, queueName } from '../infra/queues.ts'

type Surroundings = {
  readonly sleep: (ms: number) => Promise<unknown>
  readonly say: (line: string) => void
}

/** Result of moving one queue's dead letters back to the queue. SQS's counts are approximate and some seconds late. */
type RedriveResult = {
  readonly queue: string
  /** Number of messages that were moved back to the queue. */
  readonly moved: number
  /** Number of messages that remain in the dead-letter queue, either hidden or new. */
  readonly left: number
  /** Reason why dead letters remain; undefined if SQS completed the move. */
  readonly problem?: string
}

/** Dead letters of one queue with their send times, and their approximate number. */
type DeadLetterList = {
  readonly queue: string
  readonly count: number
  readonly letters: readonly { readonly sentAt: Date; readonly body: string }[]
}

/** Maximum number of messages that SQS returns in one request. */
const BATCH = 10
/** Maximum number of listed dead letters of one queue. */
export const MAX_LISTED = 100
/**
 * Seconds for which listed messages are hidden, because SQS shows a message only by receiving it. Hidden messages are neither listed again
 * nor moved back to their queue.
 */
export const HIDDEN_SECONDS = 30

/** Maximum duration of a purge according to SQS, which does not report its end. */
const PURGE_MS = 60_000

const POLL_MS = 500
/**
 * Maximum number of polls, one every half second, while SQS moves dead letters back to their queue. SQS continues the
 * move after the last poll.
 */
const MAX_POLLS = 120

/** Returns operations on the dead letters of a stage's queues. */
export function createDeadLetters(client: SQSClient, stage: string, { sleep, say }: Surroundings) {
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

  async function redriveQueue(queue: string, deadName: string): Promise<RedriveResult> {
    const [source, dead] = await Promise.all([describe(queue), describe(deadName)])
    const before = await getLastMove(dead.arn)
    const isUnderWay = before?.Status === 'RUNNING'
    if (isUnderWay) say(`${queue}: dead letters are being moved already.`)
    else {
      await client.send(new StartMessageMoveTaskCommand({ SourceArn: dead.arn, DestinationArn: source.arn }))
    }
    let moved = 0
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      const task = await getLastMove(dead.arn)
      // SQS may not yet list a move that just started. Until the listed start time changes, the listed count belongs to an earlier move.
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

  /** Lists a queue's dead letters. Receives until no new message comes, because SQS may return fewer messages than there are. */
  async function listQueue(queue: string, deadName: string): Promise<DeadLetterList> {
    const { QueueUrl, count } = await describe(deadName)
    const letters = new Map<string | undefined, DeadLetterList['letters'][number]>()
    for (let isMore = true; isMore && letters.size < MAX_LISTED; ) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          // A positive wait (long polling) makes SQS query all of its servers; without it some messages would be missed.
          ...{ QueueUrl, VisibilityTimeout: HIDDEN_SECONDS, WaitTimeSeconds: 1 },
          MaxNumberOfMessages: Math.min(BATCH, MAX_LISTED - letters.size),
          MessageSystemAttributeNames: ['SentTimestamp'],
        }),
      )
      isMore = Messages.some(({ MessageId }) => !letters.has(MessageId))
      for (const { MessageId, Body = '', Attributes } of Messages) {
        letters.set(MessageId, { sentAt: new Date(Number(Attributes?.SentTimestamp)), body: Body })
      }
    }
    return { queue, count, letters: [...letters.values()] }
  }

  const deadNames = new Map(QUEUE_KEYS.map((key) => [queueName(stage, key), deadLetterQueueName(stage, key)]))
  const ofEach = <T>(work: (queue: string, deadName: string) => Promise<T>) =>
    Promise.all([...deadNames].map(([queue, deadName]) => work(queue, deadName)))
  const describeDead = (queue: string) => {
    const deadName = deadNames.get(queue)
    if (!deadName) throw new Error(`There is no queue ${queue}`)
    return describe(deadName)
  }

  return {
    queues: [...deadNames.keys()],

    /** Lists up to a hundred dead letters of each queue. */
    list: () => ofEach(listQueue),

    async count(queue: string): Promise<number> {
      return (await describeDead(queue)).count
    },

    /**
     * Deletes the dead letters of this queue, and those that arrive during the deletion. Waits a minute, because SQS does not report the
     * end of a deletion. Returns the approximate number left. Throws if SQS refuses, for example a second deletion within a minute.
     */
    async drop(queue: string): Promise<number> {
      const { QueueUrl } = await describeDead(queue)
      await client.send(new PurgeQueueCommand({ QueueUrl }))
      say('SQS takes a minute, and may delete what is given up meanwhile too.')
      await sleep(PURGE_MS)
      return (await describeDead(queue)).count
    },

    /** Moves all dead letters back to their queues, and waits at most a minute for SQS. Starts no second move while one is under way. */
    redrive: (): Promise<RedriveResult[]> => ofEach(redriveQueue),
  }
}
export type DeadLetters = ReturnType<typeof createDeadLetters>
