import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { deadLettersName, QUEUE_KEYS, queueName } from '../infra/queues.ts'

/** What could not be done of a stage's queues. */
export function deadLettersOf(client: SQSClient, stage: string) {
  const describe = async (name: string) => {
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }))
    const AttributeNames = ['QueueArn' as const, 'ApproximateNumberOfMessages' as const]
    const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))
    return { arn: Attributes.QueueArn, count: Number(Attributes.ApproximateNumberOfMessages) }
  }
  return {
    /** Has all of it done again, and gives about how many messages of each queue that are; SQS moves them in its own time. */
    async redrive(): Promise<{ readonly queue: string; readonly count: number }[]> {
      return await Promise.all(
        QUEUE_KEYS.map(async (key) => {
          const queue = queueName(stage, key)
          const [source, dead] = await Promise.all([describe(queue), describe(deadLettersName(stage, key))])
          // Named: SQS does not know where what a function has put among the dead letters came from.
          const move = new StartMessageMoveTaskCommand({ SourceArn: dead.arn, DestinationArn: source.arn })
          if (dead.count > 0) await client.send(move)
          return { queue, count: dead.count }
        }),
      )
    },
  }
}
