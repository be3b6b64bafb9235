import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { Duration, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { CONSUMERS } from './functions.ts'
import { GradualDeploys } from './gradual-deploys.ts'
import { ServiceFunction } from './service-function.ts'
import type { SharedStack } from './shared-stack.ts'

type Settings = StackProps & { readonly shared: SharedStack }

/** What SQS hands out at a time without waiting for more, unless a contract says less. */
const BATCH = 10

/** The functions that take the messages of queues, and what is alarmed of these. */
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
        // It waits for tables and for others' servers, and nobody waits for it.
        memoryMiB: 512,
        timeout: Duration.seconds(timeoutSeconds),
        enqueuesItself,
      })
      consumer.live.addEventSource(
        new SqsEventSource(Queue.fromQueueArn(this, queue, shared.queueArn(queue)), {
          batchSize,
          // Else one failure has the whole batch come again.
          reportBatchItemFailures: true,
          // Those of webhooks together half of the ten that a new account may run at a time, which the API needs too; reserved
          // concurrency would have messages that are throttled count as handed out, and end in the dead letters.
          maxConcurrency,
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
