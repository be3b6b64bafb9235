import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { Duration, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { CONSUMERS } from './functions.ts'
import { GradualDeploys } from './gradual-deploys.ts'
import { ServiceFunction } from './service-function.ts'
import type { SharedStack } from './shared-stack.ts'

type Settings = StackProps & { readonly shared: SharedStack }

/** Default number of messages per batch: the maximum that SQS delivers without a batching window. */
const BATCH = 10

/** Functions that consume queues, with the alarms of the functions and the queues. */
export class QueuesStack extends Stack {
  constructor(scope: Construct, { shared, ...props }: Settings) {
    super(scope, 'queues', props)
    const { alarms } = shared
    const deploys = shared.isGradual ? new GradualDeploys(this, shared.name) : undefined
    for (const [name, contract] of CONSUMERS) {
      const {
        queue,
        timeoutSeconds,
        maxConcurrency,
        batchSize = BATCH,
        enqueuesItself = false,
        needsAgreement,
        impact,
      } = contract
      const consumer = new ServiceFunction(this, name, {
        ...shared.settingsFor(name, contract),
        // A third of a vCPU is enough: the function waits for tables and third-party servers, and no caller waits for it.
        memoryMiB: 512,
        timeout: Duration.seconds(timeoutSeconds),
        enqueuesItself,
      })
      consumer.live.addEventSource(
        new SqsEventSource(Queue.fromQueueArn(this, queue, shared.queueArn(queue)), {
          batchSize,
          // The function reports each failed message by its id. Otherwise one failure would return the whole batch to the queue.
          reportBatchItemFailures: true,
          // The limit leaves concurrent executions for the API, because a new AWS account has only ten. Reserved
          // concurrency is unsuitable: messages that Lambda throttles would count as received and become dead letters.
          maxConcurrency: maxConcurrency,
        }),
      )
      deploys?.add(name, consumer)
      alarms.onConsumer(name, consumer, { impact, queue })
      if (needsAgreement) {
        alarms.countChains(consumer)
        alarms.countDisagreements(consumer)
      }
      if (queue === 'deliveryQueue') alarms.onDeliveries(this, consumer)
    }
    alarms.onLateWebhooks(this, shared.queueNames('deliveryQueue'))
    alarms.onShards(this, shared.queueNames('shardQueue'))
  }
}
