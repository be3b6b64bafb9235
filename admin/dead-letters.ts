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

/** Messages of one queue that a function could not work on, with when they were sent, and about how many there are. */
type Listed = {
  readonly queue: string
  readonly count: number
  readonly letters: readonly { readonly sentAt: Date; readonly body: string }[]
}

/** What SQS hands out in a request at most, and how many messages of one queue are listed. */
const BATCH = 10
export const MAX_LISTED = 100
/** SQS shows no message without handing it out: for so long those that were listed are neither listed nor moved. */
export const HIDDEN_SECONDS = 30

/** What a purge takes at most, by SQS's own word: it does not say when it has ended. */
const PURGE_MS = 60_000

const POLL_MS = 500
/** SQS goes on when this has given up to wait for it. */
const MAX_POLLS = 120

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
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
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

  /** Asks until nothing new comes: SQS gives fewer messages than there are whenever it likes. */
  async function listQueue(queue: string, deadName: string): Promise<Listed> {
    const { QueueUrl, count } = await describe(deadName)
    const letters = new Map<string | undefined, Listed['letters'][number]>()
    for (let isMore = true; isMore && letters.size < MAX_LISTED; ) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          // It waits, so that all of SQS's servers are asked.
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

  const deadNames = new Map(QUEUE_KEYS.map((key) => [queueName(stage, key), deadLettersName(stage, key)]))
  const ofEach = <T>(work: (queue: string, deadName: string) => Promise<T>) =>
    Promise.all([...deadNames].map(([queue, deadName]) => work(queue, deadName)))
  const describeDead = (queue: string) => {
    const deadName = deadNames.get(queue)
    if (!deadName) throw new Error(`There is no queue ${queue}`)
    return describe(deadName)
  }

  return {
    /** The names of the stage's queues. */
    queues: [...deadNames.keys()],

    /** About the first hundred of each queue. */
    list: () => ofEach(listQueue),

    /** About how many dead letters this queue has. */
    async count(queue: string): Promise<number> {
      return (await describeDead(queue)).count
    },

    /**
     * Deletes those of this queue, and what is given up meanwhile too, and waits for the minute that this takes: what is moved
     * within it is tried again. About how many there are then. Throws where SQS refuses, as a second time within a minute.
     */
    async drop(queue: string): Promise<number> {
      const { QueueUrl } = await describeDead(queue)
      await client.send(new PurgeQueueCommand({ QueueUrl }))
      say('SQS takes a minute, and may delete what is given up meanwhile too.')
      await sleep(PURGE_MS)
      return (await describeDead(queue)).count
    },

    /**
     * Has all of it done again, and waits a minute at most until SQS has moved it. Where somebody has had it moved just now,
     * it waits for that.
     */
    redrive: (): Promise<Redriven[]> => ofEach(redriveQueue),
  }
}
export type DeadLetters = ReturnType<typeof deadLettersOf>
