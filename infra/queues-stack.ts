import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
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
    const deploys = new GradualDeploys(this, shared)
    const deployed = CONSUMERS.map(([name, contract]) => {
      const {
        queue,
        timeoutSeconds,
        mostAtATime,
        batchSize = BATCH,
        wakesItself = false,
        needsAgreement,
        measuredAs,
        impact,
      } = contract
      const consumer = new ServiceFunction(this, name, {
        ...shared.settingsFor(contract),
        measuredAs: measuredAs && shared.metricsName(measuredAs),
        // It waits for tables and for others' servers, and nobody waits for it.
        memoryMiB: 512,
        timeout: Duration.seconds(timeoutSeconds),
        wakesItself,
      })
      const { queue: source, deadLetters } = shared.queues[queue]
      consumer.live.addEventSource(
        new SqsEventSource(source, {
          batchSize,
          // Else one failure has the whole batch come again.
          reportBatchItemFailures: true,
          // Those of webhooks together half of the ten that a new account may run at a time, which the API needs too; reserved
          // concurrency would have messages that are throttled count as handed out, and end in the dead letters.
          maxConcurrency: mostAtATime,
        }),
      )
      deploys.add(consumer, shared.alarms.onConsumer(name, consumer, { impact, of: queue }))
      shared.alarms.onBacklog(this, name, source, { impact, of: queue })
      shared.alarms.onUndone(this, name, deadLetters, { impact, of: queue })
      if (needsAgreement) shared.alarms.count('nodes disagree on what is recorded', [consumer])
      return consumer
    })
    shared.alarms.onDeliveries(this, deployed)
  }
}
