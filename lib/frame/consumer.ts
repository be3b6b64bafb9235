import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import type * as z from 'zod'
import type { ReceivedMessage } from '../aws/queue.ts'
import { parseJson } from '../core/json.ts'
import { logger } from '../core/logger.ts'
import { once } from '../core/once.ts'
import { type BuiltServices, createServiceContainer, type Providers, readEnv, readSecretVersions } from './container.ts'
import type { QueueContract } from './contract.ts'

type Time = { readonly remainingMs: () => number }

type BatchWork<Message, Report> = (
  batch: readonly ReceivedMessage<Message>[],
  time: Time,
) => Promise<{ readonly reports: readonly Report[]; readonly again: readonly ReceivedMessage<Message>[] }>

type Work<C extends QueueContract> = BatchWork<z.output<C['message']>, z.output<C['report']>>

/**
 * Builds a Lambda handler for the messages of an SQS queue from a contract. `buildWork` gets the services and returns
 * the work. Logs each report of the work, but no message bodies. SQS delivers a message again if it does not parse, if the work throws, or if it
 * returns it in `again`. A message that fails too often goes to the dead-letter queue.
 */
export function consumer<const C extends QueueContract, P extends Providers<C>>(
  contract: C,
  providers: P,
  buildWork: (services: BuiltServices<P>) => Work<C>,
) {
  const getWork = createServiceContainer(
    once(() => readEnv(contract, process.env)),
    providers,
    buildWork,
    readSecretVersions,
  )
  return middy<SQSEvent, SQSBatchResponse>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .before(({ context }) => logger.appendKeys({ version: context.functionVersion }))
    .onError(({ error }) => logger.error('batch failed', { error }))
    .handler(async ({ Records }, context) => {
      const work = await getWork()
      const parsed = Records.map((record) => parse(contract, record))
      const { reports, again } = await work(
        parsed.flatMap((one) => one ?? []),
        { remainingMs: () => context.getRemainingTimeInMillis() },
      )
      for (const report of reports) logger.info('report', { report: contract.report.encode(report) })
      const undone = Records.filter((_, index) => {
        const one = parsed[index]
        return !one || again.includes(one)
      })
      return { batchItemFailures: undone.map(({ messageId }) => ({ itemIdentifier: messageId })) }
    })
}

/**
 * Builds the function that processes a batch of messages. It calls `work` for all messages concurrently. If one message
 * fails, the others are still processed. Logs each failure.
 */
export function handleEach<Message, Report>(
  work: (message: Message, time: Time) => Promise<Report>,
): BatchWork<Message, Report> {
  return async (batch, time) => {
    const reports: Report[] = []
    const again: ReceivedMessage<Message>[] = []
    const take = async (one: ReceivedMessage<Message>) => {
      try {
        reports.push(await work(one.message, time))
      } catch (error) {
        const { messageId, receives } = one
        logger.error('message failed', { messageId, receives, error })
        again.push(one)
      }
    }
    await Promise.all(batch.map(take))
    return { reports, again }
  }
}

function parse<C extends QueueContract>(
  contract: C,
  { messageId, body, receiptHandle, attributes }: SQSRecord,
): ReceivedMessage<z.output<C['message']>> | undefined {
  const receives = Number(attributes.ApproximateReceiveCount)
  try {
    // The cast is safe: the schema of the same contract parses the message.
    const message = contract.message.parse(parseJson(body)) as z.output<C['message']>
    return { message, messageId, receives, receipt: receiptHandle }
  } catch (error) {
    logger.error('message failed', { messageId, receives, error })
    return undefined
  }
}
