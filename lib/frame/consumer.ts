import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import type * as z from 'zod'
import { parseJson } from '../json.ts'
import { logger } from '../logger.ts'
import { once } from '../once.ts'
import { type Built, container, type Providers, readEnv, readSecretVersions } from './container.ts'
import type { EnvOf, QueueContract } from './contract.ts'

/** The work of one message; it is told how many milliseconds it has until it is killed. */
type Work<C extends QueueContract> = (
  message: z.output<C['message']>,
  time: { readonly remainingMs: () => number },
) => Promise<z.output<C['report']>>

/** The contract of a function that is built with no secret. */
type PlainContract = QueueContract & { readonly uses: { readonly config?: never; readonly webhookKey?: never } }

/**
 * Turns a contract and its work into a Lambda handler for the messages of an SQS queue. The messages of a batch are worked on
 * side by side; the report of each is logged. Those that failed, or are not what the contract says, are logged with the
 * reason and named in the answer: they are taken again, and end in the dead-letter queue when they fail too often. Their
 * bodies are not logged.
 */
export function consumer<const C extends QueueContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: (services: Built<P>) => Work<C>,
) {
  return createHandler(contract, services, work, readSecretVersions)
}

/** The same for a function that is built with no secret; its bundle has no client of Secrets Manager. */
export function plainConsumer<const C extends PlainContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: (services: Built<P>) => Work<C>,
) {
  return createHandler(contract, services, work, async () => undefined)
}

function createHandler<const C extends QueueContract, P extends Providers<C>>(
  contract: C,
  services: P,
  work: (services: Built<P>) => Work<C>,
  readVersion: (env: EnvOf<C>) => Promise<unknown>,
) {
  const start = container(
    once(() => readEnv(contract, process.env)),
    services,
    work,
    readVersion,
  )
  return middy<SQSEvent, SQSBatchResponse>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .onError(({ error }) => logger.error('batch failed', { error }))
    .handler(async ({ Records }, context) => {
      const run = await start()
      const take = async ({ messageId, body, attributes }: SQSRecord) => {
        try {
          // What a contract's own schema parsed.
          const message = contract.message.parse(parseJson(body)) as z.output<C['message']>
          const report = contract.report.encode(
            await run(message, { remainingMs: () => context.getRemainingTimeInMillis() }),
          )
          logger.info('report', { messageId, report })
          return []
        } catch (error) {
          logger.error('message failed', { messageId, receives: Number(attributes.ApproximateReceiveCount), error })
          return [{ itemIdentifier: messageId }]
        }
      }
      return { batchItemFailures: (await Promise.all(Records.map(take))).flat() }
    })
}
